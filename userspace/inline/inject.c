// SPDX-License-Identifier: GPL-2.0
/*
 * System calls by a thread of another process: see inject.h.
 *
 * A thread that sleeps in a system call is stopped with ptrace, and made to run a stub in code that
 * the program never runs again (runtime.rt0_go): a system call instruction, and instructions that
 * load the registers of the thread and return to where it was (inject_stub_x86.c). The stub is complete
 * before the thread's registers change, and is removed after they have been restored. So the thread
 * recovers by itself if this process is killed: it makes one more system call at most, or the rest of
 * a batch, and then its own again.
 *
 * Each stop takes two switches between processes, which dominate the time for which the thread is
 * held. So calls are made in batches, where they can be: see injection__use_table().
 */
#include "inline/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/inject_impl.h"
#include "target/process/process.h"

#define LEFTOVER_TRIES	 100
#define LEFTOVER_WAIT_US 5000

struct injection {
	struct inject_target target;
	struct tracee *tracee;
	pid_t tid;
	struct user_regs_struct home; /* what the thread goes on with after the stub */
	uint64_t table;		      /* for a batch of calls; 0: none */
	int failed;		      /* -ESRCH, -ETIMEDOUT: no more calls */
	bool changed;		      /* the stub is in place */
};

static int all_of(ssize_t (*op)(int, void *, size_t, off_t), int fd, uint64_t addr, void *buf,
		  size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n;

		INJECT_STEP();
		n = op(fd, (char *)buf + done, size - done, (off_t)(addr + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		done += (size_t)n;
	}
	return 0;
}

static ssize_t write_at(int fd, void *buf, size_t size, off_t at)
{
	return pwrite(fd, buf, size, at);
}

int inject__open(pid_t pid, int mode, struct error *error)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, mode | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return error__set(error, -errno, "cannot open the memory of process %d: %s", pid,
			  strerror(errno));
}

int inject__read(int mem_fd, uint64_t addr, void *buf, size_t size)
{
	return all_of(pread, mem_fd, addr, buf, size);
}

int inject__write(int mem_fd, uint64_t addr, const void *buf, size_t size)
{
	return all_of(write_at, mem_fd, addr, (void *)buf, size);
}

/* ---- the stub of a run that was killed ---- */

/*
 * Whether the thread may run the stub still. A thread that has ended does not. One that cannot be held
 * may: a late job of ours traces it until it has left the stub (inject_tracee.c).
 */
static bool is_in_stub(struct injection *inj, pid_t tid)
{
	uint64_t stub = inj->target.stub;
	struct user_regs_struct regs;
	char name[64], text[192], *pc;

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	if (process__read_file(inj->target.pid, name, text, sizeof(text)) <= 0)
		return false;
	pc = strrchr(text, ' '); /* NULL: "running" */
	if (pc)
		return strtoull(pc, NULL, 16) - stub < INJECT_STUB;
	if (tracee__hold(inj->tracee, tid, false, &regs))
		return !syscall(SYS_tgkill, inj->target.pid, tid, 0);
	tracee__release(inj->tracee);
	return regs__at(&regs) - stub < INJECT_STUB;
}

/*
 * Waits until the stub that another run has left is not in use. First gives the thread time to
 * return from a signal handler, to which the death of its tracer may have let it go.
 */
static int await_leftover(struct injection *inj, struct error *error)
{
	int tid = stub__leftover(&inj->target);

	if (tid == -EPROTO)
		return error__set(error, tid,
				  "the start-up code of process %d in memory differs from the "
				  "file; record with --probes=uprobe",
				  inj->target.pid);
	if (tid == -EIO)
		return error__set(error, -ESRCH, "process %d ended", inj->target.pid);
	for (int i = 0; tid > 0 && i < LEFTOVER_TRIES; i++) {
		usleep(LEFTOVER_WAIT_US);
		if (!is_in_stub(inj, tid))
			return 0;
	}
	return tid ? error__set(error, -EBUSY, "thread %d of process %d is busy", tid,
				inj->target.pid) :
		     0;
}

/* ---- begin and end ---- */

static int write_stub(struct injection *inj, struct error *error)
{
	uint64_t stub = inj->target.stub, word = 0;
	int err;

	inj->changed = true;
	if (stub__write(&inj->target, &inj->home, inj->tid))
		return error__set(error, -EIO,
				  "cannot write to the code of process %d: it has ended, or the "
				  "kernel forbids it (proc_mem.force_override)",
				  inj->target.pid);
	/* The descriptor's address space is not the thread's if the process called execve(). */
	err = tracee__peek(inj->tracee, stub, &word);
	if (err || !stub__is_start(word))
		return error__set(error, -ESRCH, "process %d executed another program",
				  inj->target.pid);
	return 0;
}

static int begin(struct injection *inj, struct error *error)
{
	struct user_regs_struct regs;
	int err = tracee__create(&inj->tracee, inj->target.pid);

	if (err)
		return error__set(error, err, "cannot create a thread: %s", strerror(-err));
	err = await_leftover(inj, error);
	if (!err)
		err = choose_thread(inj->tracee, &inj->target, &inj->tid, &regs, error);
	if (err)
		return err;
	inj->home = stub__home(&regs);
	return write_stub(inj, error);
}

int injection__begin(struct injection **ret, const struct inject_target *target,
		     struct error *error)
{
	struct injection *inj;
	int err;

	if (target->stub_size < INJECT_STUB)
		return error__set(error, -EPROTO, "the start-up code of process %d is too small",
				  target->pid);
	inj = calloc(1, sizeof(*inj));
	if (!inj)
		return -ENOMEM;
	inj->target = *target;
	err = begin(inj, error);
	if (err)
		injection__end(inj, NULL, NULL);
	else
		*ret = inj;
	return err;
}

uint64_t injection__string(struct injection *inj, const char *text)
{
	uint64_t at = inj->target.stub + INJECT_STRING_AT;
	size_t size = strlen(text) + 1;

	if (size > INJECT_STUB - INJECT_STRING_AT ||
	    inject__write(inj->target.mem_fd, at, text, size))
		return 0;
	return at;
}

bool injection__uses(const struct injection *inj, uint64_t addr, uint64_t size)
{
	uint64_t stub = inj->target.stub;

	return addr < stub + INJECT_STUB && stub < addr + size;
}

void injection__use_table(struct injection *inj, uint64_t table)
{
	inj->table = tracee__can_batch(inj->tracee) ? table : 0;
}

/* After these no more calls are made. */
static long note_failure(struct injection *inj, long result)
{
	if (result == -ETIMEDOUT || result == -ESRCH)
		inj->failed = (int)result;
	return result;
}

static long call_by_table(struct injection *inj, const struct inject_call *call, size_t n,
			  size_t *ret_done)
{
	*ret_done = 0;
	if (inject__write(inj->target.mem_fd, inj->table, call, n * sizeof(*call)))
		return -EFAULT;
	return note_failure(inj, tracee__batch(inj->tracee, inj->target.stub, &inj->home,
					       inj->table, n, ret_done));
}

long injection__call(struct injection *inj, long number, const uint64_t arg[6])
{
	struct inject_call call = { .number = (uint64_t)number };
	size_t done;

	if (inj->failed)
		return inj->failed;
	memcpy(call.arg, arg, sizeof(call.arg));
	if (inj->table)
		return call_by_table(inj, &call, 1, &done);
	return note_failure(inj,
			    tracee__call(inj->tracee, inj->target.stub, &inj->home, number, arg));
}

/* One by one, without a table. */
static long call_each(struct injection *inj, const struct inject_call *call, size_t n,
		      size_t *ret_done)
{
	for (*ret_done = 0; *ret_done < n; ++*ret_done, call++) {
		long result = injection__call(inj, (long)call->number, call->arg);

		if (result != (long)call->expect)
			return result;
	}
	return 0;
}

long injection__calls(struct injection *inj, const struct inject_call *call, size_t n,
		      size_t *ret_done)
{
	*ret_done = 0;
	while (n) {
		size_t part = n < INJECT_BATCH ? n : INJECT_BATCH, done;
		long result = inj->failed ? inj->failed :
			      inj->table  ? call_by_table(inj, call, part, &done) :
					    call_each(inj, call, part, &done);

		if (inj->failed)
			return inj->failed;
		*ret_done += done;
		if (done < part)
			return result;
		call += part;
		n -= part;
	}
	return 0;
}

static int explain_end(const struct injection *inj, int err, struct error *error)
{
	if (err == -ETIMEDOUT)
		return error__set(error, err,
				  "a system call in process %d has not returned within 3 s",
				  inj->target.pid);
	return error__set(error, -ESRCH, "process %d ended", inj->target.pid);
}

int injection__end(struct injection *inj, struct error *error, uint64_t *ret_held)
{
	int err = inj->failed;

	if (inj->changed && !err)
		err = tracee__restore(inj->tracee);
	if (inj->changed && err != -ETIMEDOUT && stub__remove(&inj->target) && !err)
		err = -ESRCH;
	if (inj->changed && err != -ETIMEDOUT) {
		int released = tracee__release(inj->tracee);

		err = err ? err : released;
	}
	if (ret_held)
		*ret_held = tracee__held_ns(inj->tracee);
	tracee__destroy(inj->tracee);
	if (err)
		err = explain_end(inj, err, error);
	free(inj);
	return err;
}

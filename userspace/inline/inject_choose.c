// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the thread of a process that makes system calls for us.
 *
 * Only threads inside the system calls of table sleeps[] qualify: behind their system call
 * instruction neither the flags nor RCX and R11 are in use, and the kernel can restart them.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/inject_impl.h"
#include "lib/clock.h"
#include "target/process/proc.h"
#include "target/process/process.h"

#define PATIENCE (2000 * MS) /* until a thread sleeps */

/*
 * In order of preference. runtime.sysmon sleeps in nanosleep() and never has a P, so no goroutine
 * waits for it. An epoll_wait() that ptrace interrupts fails with EINTR if it has a timeout
 * (signal(7)), which all others do not.
 */
static const struct sleep {
	long number;
	unsigned int turn;
} sleeps[] = {
	{ SYS_nanosleep, 0 },	    { SYS_clock_nanosleep, 0 }, { SYS_futex, 1 },
	{ SYS_restart_syscall, 1 }, { SYS_epoll_wait, 2 },	{ SYS_epoll_pwait, 2 },
};

#define TURNS 3

static bool is_sleep(long number, unsigned int last_turn)
{
	for (size_t i = 0; i < sizeof(sleeps) / sizeof(*sleeps); i++)
		if (sleeps[i].number == number && sleeps[i].turn <= last_turn)
			return true;
	return false;
}

/*
 * Whether the kernel may restart the call with restart_syscall(), which it does for those that have
 * a timeout. A seccomp filter that does not know it kills the process then.
 */
static bool may_restart_otherwise(long number, uint64_t timeout)
{
	return number == SYS_futex ? timeout != 0 :
				     number != SYS_epoll_wait && number != SYS_epoll_pwait;
}

static bool status(pid_t pid, pid_t tid, const char *key, char *ret, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/status", tid);
	return process__status(pid, name, key, ret, size);
}

static bool has_filter(pid_t pid, pid_t tid)
{
	char text[16];

	return status(pid, tid, "Seccomp", text, sizeof(text)) && atoi(text);
}

static bool sleeps_now(pid_t pid, pid_t tid, unsigned int turn)
{
	char name[64], text[192];
	uint64_t timeout;
	long number;

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	if (process__read_file(pid, name, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%ld %*x %*x %*x %" SCNx64, &number, &timeout) != 2) /* "running" */
		return false;
	return is_sleep(number, turn) &&
	       !(may_restart_otherwise(number, timeout) && has_filter(pid, tid));
}

/* -EPERM of PTRACE_SEIZE has several causes. */
static int explain_eperm(pid_t pid, pid_t tid, bool seccomp, struct error *error)
{
	char text[64];
	int tracer;

	if (!status(pid, tid, "State", text, sizeof(text)) || text[0] == 'Z' || text[0] == 'X')
		return -EAGAIN; /* it is exiting */
	tracer = status(pid, tid, "TracerPid", text, sizeof(text)) ? atoi(text) : 0;
	if (tracer > 0 && process__runs_this_program(tracer))
		return -EAGAIN; /* one of ours, which is about to detach */
	if (tracer > 0)
		return error__set(error, -EBUSY,
				  "process %d is traced by process %d: detach that debugger, or "
				  "record with --probes=uprobe",
				  pid, tracer);
	if (seccomp)
		return error__set(error, -ENOTSUP,
				  "cannot suspend the seccomp filter of process %d, which needs "
				  "CAP_SYS_ADMIN and no filter on the recorder; record with "
				  "--probes=uprobe",
				  pid);
	return error__set(error, -EPERM,
			  "ptrace of process %d is not permitted; record with --probes=uprobe",
			  pid);
}

static int refuse(pid_t pid, const char *what, struct error *error)
{
	return error__set(error, -ENOTSUP,
			  "process %d %s, which inline probes do not support; record with "
			  "--probes=uprobe",
			  pid, what);
}

/* arch/x86/kernel/cpu/proc.c: x86_Thread_features (Linux 6.6) lists "shstk" and "wrss". */
static bool has_shadow_stack(pid_t pid, pid_t tid)
{
	char text[64];

	return status(pid, tid, "x86_Thread_features", text, sizeof(text)) && strstr(text, "shstk");
}

static int explain(const struct inject_target *target, pid_t tid, int err, bool seccomp,
		   struct error *error)
{
	switch (err) {
	case -ESRCH:
		return -EAGAIN;
	case -EPERM:
	case -EINVAL: /* PTRACE_O_SUSPEND_SECCOMP without CONFIG_CHECKPOINT_RESTORE */
		return explain_eperm(target->pid, tid, seccomp, error);
	case -EBUSY:
		return error__set(error, err,
				  "process %d is stopped by a signal: continue it with SIGCONT",
				  target->pid);
	case -ENOTSUP:
		return refuse(target->pid, "uses syscall user dispatch", error);
	case -ETIMEDOUT:
		return error__set(error, -EBUSY,
				  "thread %d of process %d did not stop within 3 s: it may be "
				  "frozen",
				  tid, target->pid);
	}
	return error__set(error, err, "cannot trace thread %d of process %d: %s", tid, target->pid,
			  strerror(-err));
}

/* 0: it is held, inside of a sleep. -EAGAIN: not this one. */
static int try_thread(struct tracee *t, const struct inject_target *target, pid_t tid,
		      struct user_regs_struct *ret, struct error *error)
{
	bool seccomp = has_filter(target->pid, tid);
	int err;

	if (has_shadow_stack(target->pid, tid))
		return refuse(target->pid, "uses shadow stacks", error);
	err = tracee__hold(t, tid, seccomp, ret);
	if (err)
		return explain(target, tid, err, seccomp, error);
	if (regs__are_64_bit(ret) && is_sleep((long)ret->orig_rax, TURNS) &&
	    regs__at(ret) - target->stub >= INJECT_STUB)
		return 0;
	if (!tracee__release(t) && !regs__are_64_bit(ret))
		return refuse(target->pid, "runs 32-bit code", error);
	return -EAGAIN;
}

static int try_threads(struct tracee *t, const struct inject_target *target, unsigned int turn,
		       pid_t *ret_tid, struct user_regs_struct *ret, struct error *error)
{
	char path[32];
	struct dirent *entry;
	int err = -EAGAIN;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", target->pid);
	dir = proc__opendir(path);
	if (!dir)
		return error__set(error, -ESRCH, "process %d ended", target->pid);
	while (err == -EAGAIN && (entry = readdir(dir))) {
		*ret_tid = atoi(entry->d_name);
		if (*ret_tid > 0 && sleeps_now(target->pid, *ret_tid, turn))
			err = try_thread(t, target, *ret_tid, ret, error);
	}
	closedir(dir);
	return err;
}

/* A zombie has threads in /proc, none of which sleeps. */
static bool has_ended(const struct inject_target *t)
{
	unsigned char byte;

	return inject__read(t->mem_fd, t->stub, &byte, sizeof(byte)) != 0;
}

int choose_thread(struct tracee *t, const struct inject_target *target, pid_t *ret_tid,
		  struct user_regs_struct *ret, struct error *error)
{
	uint64_t deadline = clock__now() + PATIENCE;
	int err = -EAGAIN;

	for (;;) {
		for (unsigned int turn = 0; turn < TURNS && err == -EAGAIN; turn++)
			err = try_threads(t, target, turn, ret_tid, ret, error);
		if (err != -EAGAIN)
			return err;
		if (has_ended(target))
			return error__set(error, -ESRCH, "process %d ended", target->pid);
		if (clock__now() > deadline)
			return error__set(error, -EBUSY,
					  "no thread of process %d sleeps; record with "
					  "--probes=uprobe",
					  target->pid);
		usleep(500);
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes system calls in another process, by one of its threads that sleeps.
 *
 * Upstream: install.c and pages.c. Downstream: inject_tracee.c. The other threads run on. If this
 * process is killed at any point, the thread returns to its own system call by itself.
 */
#ifndef INLINE_INJECT_H
#define INLINE_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

#define INJECT_STUB	 328 /* bytes of start-up code that are needed */
#define INJECT_STRING_AT 264 /* offset in it of a string for system calls, up to 64 bytes */
#define INJECT_BATCH	 64  /* calls at most in one table */

/* A call of a table, as the stub reads it. */
struct inject_call {
	uint64_t number, arg[6];
	uint64_t expect; /* the result; another one ends the batch */
};
_Static_assert(sizeof(struct inject_call) == 64, "read by the stub");

struct inject_target {
	pid_t pid;
	int mem_fd;			/* /proc/PID/mem, for reading and writing */
	uint64_t stub;			/* address of code that is never run again */
	uint64_t stub_size;		/* bytes of it */
	const unsigned char *stub_file; /* what the file has there */
};

struct injection;

/*
 * Holds a thread. Negative errno with a reason; then nothing has been changed:
 * -EBUSY: no thread sleeps, or the process is stopped, frozen or traced
 * -ESRCH: the process has ended or executed another program
 * -EPERM: ptrace is not permitted
 * -ENOTSUP: 32-bit code, user-space shadow stacks, syscall user dispatch, or a seccomp filter that
 * ptrace cannot suspend
 * -EPROTO: its start-up code is not that of the file
 * -EIO: its code cannot be written to
 */
int injection__begin(struct injection **ret, const struct inject_target *target,
		     struct error *error);

/*
 * The result of the system call, or its negative errno. -ESRCH: the process has ended. -ETIMEDOUT:
 * the call has not returned within 3 s; it may still be executed, and each later call of this
 * injection fails. -EFAULT, -EBUSY: it was not executed.
 */
long injection__call(struct injection *inj, long number, const uint64_t arg[6]);

/* The same with the arguments one by one; those not given are 0. */
#define INJECT_CALL(inj, number, ...)                                                              \
	injection__call(inj, number, (const uint64_t[6]){ __VA_ARGS__ })

/*
 * From now on the thread makes several calls without a stop in between, from a table at `table`,
 * memory of INJECT_BATCH calls that the process cannot write. Has no effect if the thread has a
 * seccomp filter, which would apply to all these calls if this process were killed, or if it blocks
 * the signal that ends a batch: each call is then made alone.
 */
void injection__use_table(struct injection *inj, uint64_t table);

/*
 * Makes calls, up to the first with another result than expected. Returns 0, that result, or as
 * injection__call(). *ret_done: how many had the expected result; if the result is -ESRCH, -ETIMEDOUT,
 * -EFAULT or -EBUSY, at least so many.
 */
long injection__calls(struct injection *inj, const struct inject_call *call, size_t n,
		      size_t *ret_done);

/* Puts a string where system calls can read it, and returns its address; 0: no. */
uint64_t injection__string(struct injection *inj, const char *text);

/* Whether a page in this range contains the stub; it must not be replaced. */
bool injection__uses(const struct injection *inj, uint64_t addr, uint64_t size);

/*
 * Releases the thread as it was, and frees. *ret_held (or NULL): how long it was held, ns. -ESRCH:
 * the process has ended. -ETIMEDOUT: a call has not returned; the thread is released as soon as it
 * does, and the stub remains for the next injection to remove.
 */
int injection__end(struct injection *inj, struct error *error, uint64_t *ret_held);

/*
 * Starts the process that traces threads of process `pid`, unless there is one. Before this process gets
 * a filter of system calls, which that one would have, too. Returns a descriptor, which hangs up when that
 * process has ended, or a negative errno.
 */
int tracer__start(pid_t pid);

/* Opens /proc/PID/mem; a negative errno with a reason. */
int inject__open(pid_t pid, int mode, struct error *error);
/* All `size` bytes; 0 or -EIO. */
int inject__read(int mem_fd, uint64_t addr, void *buf, size_t size);
int inject__write(int mem_fd, uint64_t addr, const void *buf, size_t size);

#endif

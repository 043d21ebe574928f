/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of inject.h: one traced thread, and the code that it is made to run. */
#ifndef INLINE_INJECT_IMPL_H
#define INLINE_INJECT_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "inline/inject.h"
#include "inline/inject_x86.h"

/* Tests define this to kill the process between any two of its system calls. */
#ifndef INJECT_STEP
#define INJECT_STEP()                                                                              \
	do {                                                                                       \
	} while (0)
#endif

/* ---- inject_tracee.c: one traced thread ---- */

struct tracee;

/* Starts the thread of this process that makes all ptrace requests. */
int tracee__create(struct tracee **ret, pid_t pid);
/* Releases the traced thread if it is held. NULL is allowed. */
void tracee__destroy(struct tracee *t);

/*
 * Stops thread `tid`: *ret has its registers. -ESRCH: it has ended. -EBUSY: its process is stopped
 * by a signal. -ENOTSUP: its system calls are dispatched to user space. -ETIMEDOUT: it has not
 * stopped within 3 s; destroy. Otherwise the errno of PTRACE_SEIZE. `has_filter`: the thread has a
 * seccomp filter, which is suspended during each call of tracee__call(), and only then.
 */
int tracee__hold(struct tracee *t, pid_t tid, bool has_filter, struct user_regs_struct *ret);
/* Reads a word with the thread's own address space, which need not be the process's any more. */
int tracee__peek(struct tracee *t, uint64_t addr, uint64_t *ret);
/*
 * Runs the stub, which has been written, with the registers `home` for what the call does not use.
 * Results as injection__call().
 */
long tracee__call(struct tracee *t, uint64_t stub, const struct user_regs_struct *home, long number,
		  const uint64_t arg[6]);
/* Whether the thread can make a batch of calls, which ends with a signal to itself. */
bool tracee__can_batch(const struct tracee *t);
/*
 * Runs the batch of the stub with a table of `n` calls: *ret_done and the result as
 * injection__calls(), but the last result even if it is the expected one.
 */
long tracee__batch(struct tracee *t, uint64_t stub, const struct user_regs_struct *home,
		   uint64_t table, size_t n, size_t *ret_done);
/* Sets the registers that tracee__hold() has returned: the thread no longer needs the stub. */
int tracee__restore(struct tracee *t);
/* Sends kept signals, and detaches. */
int tracee__release(struct tracee *t);
/* How long a thread was held that was released; 0: there is none. NULL is allowed. */
uint64_t tracee__held_ns(const struct tracee *t);

/* ---- inject_stub_x86.c: the stub ---- */

/* What the thread goes on with when the stub ends, from the registers at a stop in a sleep. */
struct user_regs_struct stub__home(const struct user_regs_struct *regs);
/*
 * The thread that an earlier run has made to run a stub which is still there; 0: the memory is as
 * in the file. -EPROTO: it is neither. -EIO: it cannot be read.
 */
int stub__leftover(const struct inject_target *t);
/* Each leaves a stub that is recognized, if this process is killed meanwhile. 0 or -EIO. */
int stub__write(const struct inject_target *t, const struct user_regs_struct *home, pid_t tid);
int stub__remove(const struct inject_target *t);
/* The registers at the begin of a batch, and where it stops: behind the call that sends the signal. */
void stub__begin_batch(struct user_regs_struct *regs, uint64_t stub, uint64_t table, size_t n);
uint64_t stub__batch_end(uint64_t stub);
/* How many calls of the table have had the expected result, and the last result. */
size_t stub__batch_done(const struct user_regs_struct *regs, uint64_t table);
long stub__batch_result(const struct user_regs_struct *regs);
/* Its first bytes, which do not depend on the registers. */
bool stub__is_start(uint64_t word);

/* ---- inject_choose.c: which thread ---- */

/*
 * Holds a thread that sleeps: *ret_tid, and its registers. Tries for about 2 s. Errors as
 * injection__begin(), with a reason.
 */
int choose_thread(struct tracee *t, const struct inject_target *target, pid_t *ret_tid,
		  struct user_regs_struct *ret, struct error *error);

#endif

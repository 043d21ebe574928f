// SPDX-License-Identifier: GPL-2.0
/*
 * The ptrace requests for one traced thread, which a thread of the tracing process makes: see
 * inject_tracer.c.
 *
 * Each wait is without a limit here. A job ends with -ETIMEDOUT once its connection is closed.
 *
 * waitid(WSTOPPED) leaves the exit status of a child to those parts of this process that wait for
 * it.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/ptrace.h>

#include "inline/inject_tracee.h"
#include "lib/clock.h"

#define STOPS_MAX      1000 /* per system call */
#define RESTARTS_MAX   16
#define SYSCALL_SIZE   2
#define SYSCALL_STOP   (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */
#define OPTIONS	       PTRACE_O_TRACESYSGOOD
#define REALTIME       32  /* first real-time signal of the kernel */
#define ERESTARTSYS    512 /* include/linux/errno.h */
#define ERESTARTNOHAND 514
#define ERESTART_LAST  516

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG /* Linux 6.4 */
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

static long trace(const struct traced *t, enum __ptrace_request request, uintptr_t addr,
		  uintptr_t data)
{
	INJECT_STEP();
	return ptrace(request, t->tid, (void *)addr, (void *)data) ? -errno : 0;
}

/* Waits for the next stop: signal | event << 8. -ESRCH: the thread has ended. */
static int wait_for_stop(struct traced *t)
{
	siginfo_t info = {};

	INJECT_STEP();
	while (waitid(P_PID, (id_t)t->tid, &info, WSTOPPED | __WALL))
		if (errno != EINTR) {
			t->held = false;
			return -ESRCH; /* ECHILD: a zombie, or another thread has called execve() */
		}
	t->held = true;
	return info.si_status;
}

static int resume(struct traced *t, enum __ptrace_request request, int signal)
{
	long err = trace(t, request, 0, (uintptr_t)signal);

	t->held = false;
	return err ? -ESRCH : 0;
}

/* Only the sender itself may claim a code >= 0 or SI_TKILL: do_rt_tgsigqueueinfo(). */
static void send_signal(const struct traced *t, siginfo_t *info)
{
	INJECT_STEP();
	if (syscall(SYS_rt_tgsigqueueinfo, t->pid, t->tid, info->si_signo, info))
		syscall(SYS_tgkill, t->pid, t->tid, info->si_signo);
}

static void send_signals(struct traced *t)
{
	for (unsigned int i = 0; i < t->signals; i++)
		send_signal(t, &t->signal[i]);
	t->signals = 0;
}

/*
 * Suppresses the signal of a signal-delivery-stop. Like the kernel, keeps one of each standard
 * signal, and each real-time signal. -EBUSY: there are too many; this one is pending again.
 */
static int keep_signal(struct traced *t, siginfo_t *info)
{
	for (unsigned int i = 0; i < t->signals && info->si_signo < REALTIME; i++)
		if (t->signal[i].si_signo == info->si_signo)
			return 0;
	if (t->signals == TRACEE_SIGNALS) {
		send_signal(t, info);
		return -EBUSY;
	}
	t->signal[t->signals++] = *info;
	return 0;
}

static bool is_fault(const siginfo_t *info)
{
	int sig = info->si_signo;

	return info->si_code > 0 && (sig == SIGSEGV || sig == SIGILL || sig == SIGBUS ||
				     sig == SIGFPE || sig == SIGTRAP || sig == SIGSYS);
}

/*
 * Handles a signal-delivery-stop: which signal to continue with. SIGSTOP has no handler, and must
 * not be kept, because a SIGCONT that follows would come too early.
 */
static int take_signal(struct traced *t, int signal)
{
	siginfo_t info;

	if (signal == SIGSTOP)
		return SIGSTOP;
	if (trace(t, PTRACE_GETSIGINFO, 0, (uintptr_t)&info))
		return -ESRCH;
	if (is_fault(&info))
		return -EFAULT;
	return keep_signal(t, &info);
}

static int detach(struct traced *t, int signal)
{
	long err;

	t->time = clock__now();
	err = t->held ? trace(t, PTRACE_DETACH, 0, (uintptr_t)signal) : -ESRCH;
	t->held = false;
	return (int)err;
}

long job__release(struct traced *t)
{
	send_signals(t);
	return detach(t, 0);
}

/* Until the stop of PTRACE_INTERRUPT. */
static int wait_for_interrupt(struct traced *t)
{
	for (unsigned int stops = 0; stops < STOPS_MAX; stops++) {
		int stop = wait_for_stop(t), signal;

		if (stop < 0)
			return stop;
		if (stop >> 8 == PTRACE_EVENT_STOP)
			return (stop & 0xff) == SIGTRAP ? 0 : -EBUSY; /* a group-stop */
		if (tracer__is_abandoned(t))
			return -ETIMEDOUT;
		signal = stop >> 8 ? 0 : take_signal(t, stop);
		if (signal < 0) {
			detach(t, signal == -EFAULT ? stop : 0); /* it is for the thread itself */
			return -EAGAIN;
		}
		if (resume(t, PTRACE_CONT, signal))
			return -ESRCH;
	}
	return -EAGAIN;
}

/* Before Linux 6.4 the first call fails with SIGSYS instead. */
static bool dispatches(struct traced *t)
{
	struct {
		uint64_t mode, selector, offset, len;
	} config = {};

	return !trace(t, PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, sizeof(config),
		      (uintptr_t)&config) &&
	       config.mode;
}

static bool blocks_batch_end(struct traced *t)
{
	uint64_t mask;

	return trace(t, PTRACE_GETSIGMASK, sizeof(mask), (uintptr_t)&mask) ||
	       mask >> (SIGWINCH - 1) & 1;
}

/*
 * Only in a stop: a thread that ran with the option would run without its filter. The kernel clears it
 * if this process ends.
 */
static long suspend_seccomp(const struct traced *t, bool suspend)
{
	if (!t->has_filter)
		return 0;
	return trace(t, PTRACE_SETOPTIONS, 0, OPTIONS | (suspend ? PTRACE_O_SUSPEND_SECCOMP : 0));
}

long job__hold(struct traced *t)
{
	long err = trace(t, PTRACE_SEIZE, 0, OPTIONS);

	if (err)
		return err;
	trace(t, PTRACE_INTERRUPT, 0, 0);
	err = wait_for_interrupt(t);
	t->time = clock__now();
	if (!err)
		err = suspend_seccomp(t, true); /* whether that is permitted */
	if (!err)
		err = suspend_seccomp(t, false);
	if (!err)
		err = trace(t, PTRACE_GETREGS, 0, (uintptr_t)&t->regs);
	if (!err && dispatches(t))
		err = -ENOTSUP;
	if (!err)
		t->can_batch = !t->has_filter && !blocks_batch_end(t);
	if (err)
		job__release(t);
	return err;
}

/* PTRACE_PEEKTEXT as the kernel has it, which stores the word. */
long job__peek(struct traced *t)
{
	INJECT_STEP();
	return syscall(SYS_ptrace, PTRACE_PEEKTEXT, t->tid, t->addr, &t->word) ? -errno : 0;
}

/* Runs to the next stop at a system call. */
static int run_to_syscall(struct traced *t)
{
	int signal = 0;

	for (unsigned int stops = 0; stops < STOPS_MAX; stops++) {
		int stop;

		if (resume(t, PTRACE_SYSCALL, signal))
			return -ESRCH;
		stop = wait_for_stop(t);
		if (stop < 0)
			return stop;
		if (tracer__is_abandoned(t))
			return -ETIMEDOUT;
		if (stop == SYSCALL_STOP)
			return 0;
		signal = stop >> 8 ? 0 : take_signal(t, stop);
		if (signal < 0)
			return signal;
	}
	return -EBUSY;
}

/*
 * At an entry stop: whether the system call is that of the stub, as it was made to be. Another thread
 * of the process can change the instruction.
 */
static bool is_our_call(struct traced *t)
{
	const struct user_regs_struct *c = &t->call;
	const uint64_t arg[] = { c->rdi, c->rsi, c->rdx, c->r10, c->r8, c->r9 };
	struct ptrace_syscall_info info;

	INJECT_STEP();
	return syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY && info.arch == AUDIT_ARCH_X86_64 &&
	       info.instruction_pointer == t->stub + SYSCALL_SIZE && info.entry.nr == c->rax &&
	       !memcmp(info.entry.args, arg, sizeof(arg));
}

/*
 * At the entry stop of a sched_yield(): makes it the call that is wanted. The kernel looks at the
 * thread's seccomp filter after that stop, and the thread runs no code of its own before the exit stop.
 */
static long replace_call(struct traced *t)
{
	long err = suspend_seccomp(t, true), cleared;

	if (!err)
		err = trace(t, PTRACE_POKEUSER, offsetof(struct user_regs_struct, orig_rax),
			    (uintptr_t)t->number);
	if (!err)
		err = run_to_syscall(t);
	cleared = t->held ? suspend_seccomp(t, false) : 0;
	return err ? err : cleared;
}

/*
 * The thread enters sched_yield(), which each Go program calls, and the number is replaced at the
 * system call's entry stop: if this process is killed before that, nothing happens.
 */
static long do_call_once(struct traced *t)
{
	struct user_regs_struct regs = t->call;
	long err = trace(t, PTRACE_SETREGS, 0, (uintptr_t)&regs);

	if (!err)
		err = run_to_syscall(t);
	if (!err && !is_our_call(t)) {
		err = run_to_syscall(t); /* the process's own, with its filter */
		return err ? err : -EFAULT;
	}
	if (!err)
		err = replace_call(t);
	if (!err)
		err = trace(t, PTRACE_GETREGS, 0, (uintptr_t)&regs);
	if (err)
		return err;
	return regs.rip == t->stub + SYSCALL_SIZE ? (long)regs.rax : -EFAULT;
}

/* Whether the thread is at the signal that ends a batch. */
static bool is_at_end(const struct traced *t, int stop)
{
	struct user_regs_struct regs;
	siginfo_t info;

	return stop == SIGWINCH && !trace(t, PTRACE_GETSIGINFO, 0, (uintptr_t)&info) &&
	       info.si_code == SI_TKILL && !trace(t, PTRACE_GETREGS, 0, (uintptr_t)&regs) &&
	       regs.rip == stub__batch_end(t->stub);
}

/* Other signals that come meanwhile are kept. The kernel restarts the calls that they interrupt. */
long job__batch(struct traced *t)
{
	long err = trace(t, PTRACE_SETREGS, 0, (uintptr_t)&t->call);
	int signal = 0;

	for (unsigned int stops = 0; stops < STOPS_MAX && !err; stops++) {
		int stop;

		if (resume(t, PTRACE_CONT, signal))
			return -ESRCH;
		stop = wait_for_stop(t);
		if (stop < 0)
			return stop;
		if (is_at_end(t, stop))
			return trace(t, PTRACE_GETREGS, 0, (uintptr_t)&t->call);
		if (tracer__is_abandoned(t))
			return -ETIMEDOUT;
		signal = stop >> 8 ? 0 : take_signal(t, stop);
		if (signal < 0)
			return signal;
	}
	return err ? err : -EBUSY;
}

static bool is_restart(long result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_LAST;
}

long job__call(struct traced *t)
{
	long result = -EINTR;

	for (int i = 0; i < RESTARTS_MAX; i++) {
		result = do_call_once(t);
		if (!is_restart(result))
			return result;
	}
	return -EINTR;
}

/*
 * The registers of the stop, with the number and the result of the interrupted system call. At the
 * detach, the kernel restarts it or not as for any other interruption: __ptrace_unlink() of
 * kernel/ptrace.c makes a stopped thread look for signals, also if this process is killed.
 *
 * epoll_wait() does not use that (fs/eventpoll.c). If it has no timeout, the only part of it that
 * restarting would extend, let it restart unless a signal handler runs.
 */
long job__restore(struct traced *t)
{
	struct user_regs_struct regs = t->regs;

	if ((regs.orig_rax == SYS_epoll_wait || regs.orig_rax == SYS_epoll_pwait) &&
	    (long)regs.rax == -EINTR && (int)regs.r10 == -1)
		regs.rax = (unsigned long long)-ERESTARTNOHAND;
	return trace(t, PTRACE_SETREGS, 0, (uintptr_t)&regs);
}

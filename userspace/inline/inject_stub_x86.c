// SPDX-License-Identifier: GPL-2.0
/*
 * The code that a thread is made to run: a system call instruction, then loads of all registers
 * that a system call uses or changes, and a jump to where the thread was.
 *
 * It needs no stack and changes no flags (the system call instruction restores them from R11), so
 * the thread recovers from any point of it by running on. It replaces start-up code that the
 * program does not run again. A mark behind the code contains the thread's ID; it is written first
 * and removed last, so that the next run recognizes what a killed one has left.
 */
#include <errno.h>
#include <string.h>

#include "inline/inject_impl.h"

#define MARK_AT		      128
#define SYSCALL_SIZE	      2
#define RESTART_SYSCALL	      219

/* Results of interrupted system calls that user space never sees: include/linux/errno.h. */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516

static const char text[16] = "gotrace-bpf stub";

struct mark {
	char text[16];
	int32_t tid;
};

struct code {
	unsigned char bytes[MARK_AT];
	size_t n;
};

/*
 * What the kernel does when the thread continues without a signal handler:
 * arch_do_signal_or_restart() of arch/x86/kernel/signal.c. Only used if this process is killed;
 * tracee__restore() leaves it to the kernel.
 */
struct user_regs_struct stub__home(const struct user_regs_struct *regs)
{
	struct user_regs_struct home = *regs;

	switch (-(long)regs->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
		home.rax = regs->orig_rax;
		home.rip -= SYSCALL_SIZE;
		break;
	case ERESTART_RESTARTBLOCK:
		home.rax = RESTART_SYSCALL;
		home.rip -= SYSCALL_SIZE;
		break;
	}
	home.orig_rax = (unsigned long long)-1; /* not in a system call: nothing to restart */
	return home;
}

static void put(struct code *c, const void *bytes, size_t n)
{
	memcpy(c->bytes + c->n, bytes, n);
	c->n += n;
}

/* mov register, value */
static void load(struct code *c, unsigned char rex, unsigned char opcode, uint64_t value)
{
	put(c, &rex, 1);
	put(c, &opcode, 1);
	put(c, &value, sizeof(value));
}

static void make_code(struct code *c, const struct user_regs_struct *home)
{
	memset(c, 0, sizeof(*c));
	put(c, "\x0f\x05", SYSCALL_SIZE);
	load(c, 0x48, 0xb8, home->rax);
	load(c, 0x48, 0xbf, home->rdi);
	load(c, 0x48, 0xbe, home->rsi);
	load(c, 0x48, 0xba, home->rdx);
	load(c, 0x49, 0xba, home->r10);
	load(c, 0x49, 0xb8, home->r8);
	load(c, 0x49, 0xb9, home->r9);
	load(c, 0x48, 0xb9, home->rcx);
	load(c, 0x49, 0xbb, home->r11);
	put(c, "\xff\x25\0\0\0\0", 6); /* jmp to the address behind it */
	put(c, &home->rip, sizeof(home->rip));
}

bool stub__is_start(uint64_t word)
{
	return (word & 0xffffffff) == 0xb848050f; /* syscall; mov rax, ... */
}

int stub__leftover(const struct inject_target *t)
{
	unsigned char now[INJECT_STUB];
	struct mark mark;

	if (inject__read(t->mem_fd, t->stub, now, sizeof(now)))
		return -EIO;
	if (!memcmp(now, t->stub_file, sizeof(now)))
		return 0;
	memcpy(&mark, now + MARK_AT, sizeof(mark));
	return memcmp(mark.text, text, sizeof(text)) || mark.tid <= 0 ? -EPROTO : mark.tid;
}

int stub__write(const struct inject_target *t, const struct user_regs_struct *home, pid_t tid)
{
	struct mark mark = { .tid = tid };
	struct code code;

	memcpy(mark.text, text, sizeof(text));
	make_code(&code, home);
	if (inject__write(t->mem_fd, t->stub + MARK_AT, &mark, sizeof(mark)))
		return -EIO;
	return inject__write(t->mem_fd, t->stub, code.bytes, sizeof(code.bytes));
}

int stub__remove(const struct inject_target *t)
{
	const size_t after = MARK_AT + sizeof(struct mark);
	const unsigned char *file = t->stub_file;

	if (inject__write(t->mem_fd, t->stub, file, MARK_AT) ||
	    inject__write(t->mem_fd, t->stub + after, file + after, INJECT_STUB - after))
		return -EIO;
	return inject__write(t->mem_fd, t->stub + MARK_AT, file + MARK_AT, sizeof(struct mark));
}

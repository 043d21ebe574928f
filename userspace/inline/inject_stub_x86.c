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
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "inline/inject_impl.h"

#define MARK_AT		      128
#define BATCH_AT	      152
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
 * RBP is the call in the table, RBX the table's end. Then a signal to itself, at which the tracer
 * stops the thread; without a tracer it is ignored (SIGWINCH), and the thread goes home by itself.
 */
static const unsigned char batch[] = {
	0x48, 0x8b,	  0x45, 0x00,	 /* 0: mov rax, [rbp] */
	0x48, 0x8b,	  0x7d, 0x08,	 /* mov rdi, [rbp + 8] */
	0x48, 0x8b,	  0x75, 0x10,	 /* mov rsi, [rbp + 16] */
	0x48, 0x8b,	  0x55, 0x18,	 /* mov rdx, [rbp + 24] */
	0x4c, 0x8b,	  0x55, 0x20,	 /* mov r10, [rbp + 32] */
	0x4c, 0x8b,	  0x45, 0x28,	 /* mov r8, [rbp + 40] */
	0x4c, 0x8b,	  0x4d, 0x30,	 /* mov r9, [rbp + 48] */
	0x0f, 0x05,			 /* syscall */
	0x49, 0x89,	  0xc4,		 /* mov r12, rax */
	0x48, 0x3b,	  0x45, 0x38,	 /* cmp rax, [rbp + 56] */
	0x75, 0x09,			 /* jne 48 */
	0x48, 0x83,	  0xc5, 0x40,	 /* add rbp, 64 */
	0x48, 0x39,	  0xdd,		 /* cmp rbp, rbx */
	0x75, 0xd0,			 /* jne 0 */
	0xb8, SYS_gettid, 0,	0,    0, /* 48: mov eax, SYS_gettid */
	0x0f, 0x05,			 /* syscall */
	0x89, 0xc7,			 /* mov edi, eax */
	0xbe, SIGWINCH,	  0,	0,    0, /* mov esi, SIGWINCH */
	0xb8, SYS_tkill,  0,	0,    0, /* mov eax, SYS_tkill */
	0x0f, 0x05,			 /* syscall */
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

/* Behind the batch: loads what it has changed, and goes on behind the system call of the stub. */
static size_t make_batch(unsigned char *ret, const struct user_regs_struct *home)
{
	struct code c = {};
	int32_t back;

	put(&c, batch, sizeof(batch));
	load(&c, 0x48, 0xbd, home->rbp);
	load(&c, 0x48, 0xbb, home->rbx);
	load(&c, 0x49, 0xbc, home->r12);
	put(&c, "\xe9", 1); /* jmp */
	back = (int32_t)(SYSCALL_SIZE - (BATCH_AT + c.n + sizeof(back)));
	put(&c, &back, sizeof(back));
	memcpy(ret, c.bytes, c.n);
	return c.n;
}

void stub__begin_batch(struct user_regs_struct *regs, uint64_t stub, uint64_t table, size_t n)
{
	regs->rip = stub + BATCH_AT;
	regs->rbp = table;
	regs->rbx = table + n * sizeof(struct inject_call);
}

uint64_t stub__batch_end(uint64_t stub)
{
	return stub + BATCH_AT + sizeof(batch);
}

size_t stub__batch_done(const struct user_regs_struct *regs, uint64_t table)
{
	return (regs->rbp - table) / sizeof(struct inject_call);
}

long stub__batch_result(const struct user_regs_struct *regs)
{
	return (long)regs->r12;
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
	unsigned char bytes[MARK_AT];
	struct code code;
	size_t n;

	_Static_assert(MARK_AT + sizeof(mark) <= BATCH_AT, "the batch is behind the mark");
	memcpy(mark.text, text, sizeof(text));
	make_code(&code, home);
	n = make_batch(bytes, home);
	if (inject__write(t->mem_fd, t->stub + MARK_AT, &mark, sizeof(mark)) ||
	    inject__write(t->mem_fd, t->stub + BATCH_AT, bytes, n))
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

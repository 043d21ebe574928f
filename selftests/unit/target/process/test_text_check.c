// SPDX-License-Identifier: GPL-2.0
/* Tests of target/process/text.c: child processes write breakpoints to their own code. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/process/text.h"

#define INT3 0xcc
#define NOP  0x90

/* Its first byte is neither of those. */
__attribute__((noinline, noclone)) static int probed(int x)
{
	return x * 3 + 1;
}

static void write_code(unsigned char byte)
{
	unsigned char *code = (void *)(uintptr_t)probed;
	uintptr_t page = (uintptr_t)code & ~4095ul;

	if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		_exit(1);
	*code = byte;
}

/*
 * Checks a child with this byte in its code, traced by its parent or not; signals `to` when ready.
 */
static pid_t start(unsigned char byte, bool traced, int to)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (byte)
		write_code(byte);
	child = getpid();
	if (traced)
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	if (write(to, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	raise(SIGSTOP);
	_exit(0);
}

static int check(pid_t pid, struct error *err)
{
	struct site site = { .func = "main.probed" };
	struct site_list sites = { .site = &site, .n = 1 };
	struct elf_image *elf;
	struct process p;
	int code;

	err->text[0] = 0;
	assert_int_equal(process__open(&p, pid, NULL), 0);
	assert_int_equal(elf_image__open(&elf, p.exe_fd, p.exe, NULL), 0);
	assert_int_equal(process__find_bias(&p, elf, NULL), 0);
	site.addr = (uintptr_t)probed - p.bias;
	code = text__check(&p, elf, &sites, err);
	elf_image__destroy(elf);
	process__deinit(&p);
	return code;
}

TEST(no_debugger)
{
	static const struct {
		unsigned char byte;
		bool traced; /* by us */
		int want;
	} cases[] = {
		{ 0, false, 0 },   { INT3, false, 0 },	   { NOP, false, -EPROTO },
		{ INT3, true, 0 }, { NOP, true, -EPROTO },
	};
	struct error err;
	int ready[2];
	pid_t child;

	assert_int_equal(probed(1), 4);
	assert_int_equal(pipe(ready), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(cases[i].byte, cases[i].traced, ready[1]);
		assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
		assert_int_equal(check(child, &err), cases[i].want);
		if (cases[i].want)
			assert_non_null(strstr(err.text, "the code of main.probed in memory"));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(ready[0]);
	close(ready[1]);
}

/* Another process traces it: the breakpoint may be that one's. */
TEST(a_debugger)
{
	struct error err;
	char want[64];
	int ready[2];
	pid_t debugger, child;

	assert_int_equal(pipe(ready), 0);
	debugger = fork();
	if (!debugger) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a\tdebugger");
		start(INT3, true, ready[1]);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(check(child, &err), -EBUSY);
	snprintf(want, sizeof(want), "process %d (a) is debugging it", debugger);
	assert_non_null(strstr(err.text,
			       want)); /* its name ends where a terminal would do something else */
	assert_non_null(strstr(err.text, "a breakpoint in main.probed"));
	kill(debugger, SIGKILL);
	waitpid(debugger, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

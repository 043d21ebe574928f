// SPDX-License-Identifier: GPL-2.0
/*
 * What a debugger and strace do to a process, for selftests/check/company.sh.
 *
 *	debugger PID ADDRESS	traces PID's main thread and puts a breakpoint (int3) at ADDRESS
 *	debugger PID syscalls	traces all threads, new ones too, and stops each at every system call
 *
 * Prints "ready", and lets go at SIGTERM: the breakpoint's byte is put back.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "debugger: %s: %s\n", what, strerror(errno));
	return 1;
}

static volatile sig_atomic_t over;

static void on_term(int signal)
{
	over = 1;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Stops the thread, changes a byte of its code, lets it run. The byte that was there, or -1. */
static int change_byte(pid_t tid, uint64_t addr, int byte)
{
	uint64_t at = addr & ~7ull, shift = (addr & 7) * 8;
	long word;
	int old;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, NULL, __WALL) != tid)
		return -1;
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, at, 0);
	if (errno)
		return -1;
	old = (int)((uint64_t)word >> shift & 0xff);
	word = (long)(((uint64_t)word & ~(0xffull << shift)) | (uint64_t)byte << shift);
	if (ptrace(PTRACE_POKETEXT, tid, at, word) || ptrace(PTRACE_CONT, tid, 0, 0))
		return -1;
	return old;
}

static int breakpoint(pid_t pid, uint64_t addr)
{
	int old;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return fail("PTRACE_SEIZE");
	old = change_byte(pid, addr, 0xcc);
	if (old < 0)
		return fail("cannot set the breakpoint");
	printf("was %02x\n", (unsigned int)old);
	ready();
	while (!over) {
		int status;

		/* signals for the traced thread are passed on to it */
		if (waitpid(pid, &status, __WALL | WNOHANG) == pid && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
		usleep(1000);
	}
	return change_byte(pid, addr, old) < 0 ? fail("cannot remove the breakpoint") : 0;
}

static void seize_all(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid &&
		    !ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE))
			ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	if (dir)
		closedir(dir);
}

/* As strace -f: the threads go on by themselves when this process ends. */
static int syscalls(pid_t pid)
{
	unsigned long stops = 0;
	int status;
	pid_t tid;

	seize_all(pid);
	ready();
	while (!over) {
		tid = waitpid(-1, &status, __WALL | WNOHANG);
		if (tid < 0)
			break;
		if (!tid) {
			usleep(100);
		} else if (WIFSTOPPED(status)) {
			int signal = WSTOPSIG(status);

			stops += signal == (SIGTRAP | 0x80);
			if (signal == (SIGTRAP | 0x80) || status >> 16)
				signal = 0; /* its own stops */
			ptrace(PTRACE_SYSCALL, tid, 0, signal);
		}
	}
	fprintf(stderr, "debugger: %lu system call stops\n", stops);
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGTERM, on_term);
	if (argc != 3) {
		fputs("usage: debugger PID ADDRESS|syscalls\n", stderr);
		return 2;
	}
	if (!strcmp(argv[2], "syscalls"))
		return syscalls(atoi(argv[1]));
	return breakpoint(atoi(argv[1]), strtoull(argv[2], NULL, 0));
}

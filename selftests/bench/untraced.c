// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a system call and of a context switch in a process that is not traced: CPU
 * time, the minimum of many rounds, since other processes run, too. selftests/bench/run starts it with
 * and without a recorder that traces another process.
 *
 *	untraced [ROUNDS]
 */
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS	 200000
#define SWITCHES 20000 /* each there and back */

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double syscall_ns(void)
{
	double begin = cpu_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (cpu_ns() - begin) / CALLS;
}

static void pass(int in, int out, int n)
{
	char token = 0;

	while (n-- > 0)
		if (read(in, &token, 1) != 1 || write(out, &token, 1) != 1)
			_exit(1);
}

/* The other side of a pipe; its CPU time is reported by a third. */
struct player {
	pid_t pid;
	int to, from, report;
};

static void start(struct player *p)
{
	int to[2], from[2], report[2];
	double ns;

	if (pipe(to) || pipe(from) || pipe(report))
		err(1, "pipe");
	p->pid = fork();
	if (p->pid < 0)
		err(1, "fork");
	if (!p->pid) {
		close(to[1]);
		for (;;) {
			ns = cpu_ns();
			pass(to[0], from[1], SWITCHES);
			ns = cpu_ns() - ns;
			if (write(report[1], &ns, sizeof(ns)) != sizeof(ns))
				_exit(1);
		}
	}
	p->to = to[1];
	p->from = from[0];
	p->report = report[0];
}

/* Of a switch: with it a read, a write and a wake-up. */
static double switch_ns(struct player *p)
{
	char token = 0;
	double ns = cpu_ns(), other;

	if (write(p->to, &token, 1) != 1)
		err(1, "write");
	pass(p->from, p->to, SWITCHES - 1);
	if (read(p->from, &token, 1) != 1)
		err(1, "read");
	ns = cpu_ns() - ns;
	if (read(p->report, &other, sizeof(other)) != sizeof(other))
		err(1, "read");
	return (ns + other) / (2.0 * SWITCHES);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60;
	double call = 1e9, change = 1e9, ns;
	struct player player;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
	start(&player);
	for (int i = 0; i < rounds; i++) {
		ns = syscall_ns();
		call = ns < call ? ns : call;
		ns = switch_ns(&player);
		change = ns < change ? ns : change;
	}
	close(player.to);
	waitpid(player.pid, NULL, 0);
	printf("%.1f %.1f\n", call, change);
	return 0;
}

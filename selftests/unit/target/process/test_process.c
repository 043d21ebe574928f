// SPDX-License-Identifier: GPL-2.0
/* Tests of target/process/process.c on this process and on Go programs. */
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/process/process.h"
#include "target/process/snapshot.h"

#include "unit/programs.h"

int a_symbol_of_ours = 42;

TEST(no_such_process)
{
	struct error err = { "" };
	struct process p;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT);
	assert_int_equal(process__open(&p, child, &err), -ESRCH);
	assert_non_null(strstr(err.text, "zombie"));
	waitpid(child, NULL, 0);
	err.text[0] = 0;
	assert_int_equal(process__open(&p, child, &err), -ESRCH);
	assert_non_null(strstr(err.text, "no process with PID"));
	err.text[0] = 0;
	assert_int_equal(process__open(&p, 0, &err), -EINVAL);
	assert_true(err.text[0]);
}

TEST(our_own_memory)
{
	uint64_t words[3] = { 11, 22, 33 }, read[3] = { 0 };
	uint64_t addr[] = { (uintptr_t)&words[0], 8, (uintptr_t)&words[1], 16, 24,
			    (uintptr_t)&words[2] };
	struct elf_image *elf;
	uint64_t many[6] = { 0 };
	bool ok[6];
	struct process p;

	assert_int_equal(process__open(&p, getpid(), NULL), 0);
	assert_true(process__alive(&p));
	assert_non_null(strstr(p.exe, "test_process"));
	assert_int_equal(elf_image__open(&elf, p.exe_fd, p.exe, NULL), 0);
	assert_int_equal(process__find_bias(&p, elf, NULL), 0);
	assert_int_equal(elf_image__symbol(elf, "a_symbol_of_ours") + p.bias,
			 (uintptr_t)&a_symbol_of_ours);
	assert_int_equal(process__read(&p, (uintptr_t)words, read, sizeof(read)), 0);
	assert_memory_equal(read, words, sizeof(read));
	assert_int_equal(process__read(&p, 8, read, sizeof(read)), -EFAULT);
	assert_int_equal(process__read_many(&p, addr, 6, many, 8, ok), 0);
	assert_true(ok[0] && !ok[1] && ok[2] && !ok[3] && !ok[4] && ok[5]);
	assert_true(many[0] == 11 && many[2] == 22 && many[5] == 33);
	assert_int_equal(process__host_tid(&p, (uint64_t)gettid()), gettid());
	assert_int_equal(process__host_tid(&p, 1ull << 40), 0);
	assert_int_equal(process__host_tid(&p, 0), 0);
	elf_image__destroy(elf);
	process__deinit(&p);
}

#define THREADS 100
#define BOGUS	131072

struct sleeper {
	pthread_t thread;
	sem_t up, end;
	pid_t tid;
};

static void *sleep_until_end(void *argument)
{
	struct sleeper *s = argument;

	s->tid = gettid();
	sem_post(&s->up);
	sem_wait(&s->end);
	return NULL;
}

static void begin_sleeper(struct sleeper *s)
{
	sem_init(&s->up, 0, 0);
	sem_init(&s->end, 0, 0);
	assert_int_equal(pthread_create(&s->thread, NULL, sleep_until_end, s), 0);
	sem_wait(&s->up);
}

/*
 * A target in a PID namespace of its own may name any number of threads that do not exist: its
 * threads are listed a few times nevertheless, not once for each.
 */
TEST(bogus_threads_of_a_namespace)
{
	static struct sleeper sleeper[THREADS], late;
	struct process p;
	int i;

	for (i = 0; i < THREADS; i++)
		begin_sleeper(&sleeper[i]);
	assert_int_equal(process__open(&p, getpid(), NULL), 0);
	p.own_pid_ns = true; /* of which the names are the same as outside */
	process__begin_reading(&p);
	for (i = 0; i < BOGUS; i++)
		assert_int_equal(process__host_tid(&p, (uint64_t)INT_MAX - (uint64_t)i), 0);
	assert_int_equal(p.listings, PROCESS_LISTINGS);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(process__host_tid(&p, (uint64_t)sleeper[i].tid), sleeper[i].tid);
	begin_sleeper(&late);
	assert_int_equal(process__host_tid(&p, (uint64_t)late.tid), 0);
	process__begin_reading(&p);
	assert_int_equal(process__host_tid(&p, (uint64_t)late.tid), late.tid);
	assert_int_equal(p.listings, 1);
	assert_int_equal(process__host_tid(&p, (uint64_t)late.tid), late.tid); /* it is known now */
	assert_int_equal(p.listings, 1);
	process__deinit(&p);
	sem_post(&late.end);
	pthread_join(late.thread, NULL);
	for (i = 0; i < THREADS; i++) {
		sem_post(&sleeper[i].end);
		pthread_join(sleeper[i].thread, NULL);
	}
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

/* Another program, or none any more: not the process that was opened. */
TEST(an_exec_is_noticed)
{
	char exe[64], now[256] = "";
	struct process p;
	int in[2];
	pid_t child;

	assert_int_equal(pipe(in), 0);
	child = fork();
	if (!child) {
		dup2(in[0], 0);
		close(in[1]);
		execl("/bin/sh", "sh", "-c", "read x; exec cat", NULL);
		_exit(127);
	}
	close(in[0]);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", child);
	while (!strstr(now, "sh"))
		assert_true(readlink(exe, now, sizeof(now) - 1) > 0);
	pause_ms(100); /* the link changes before the stack's address does */
	assert_int_equal(process__open(&p, child, NULL), 0);
	assert_true(process__is_same(&p));
	assert_false(process__was_replaced(&p));
	assert_int_equal(write(in[1], "\n", 1), 1);
	while (!strstr(now, "/cat"))
		assert_true(readlink(exe, now, sizeof(now) - 1) > 0);
	assert_true(process__alive(&p));
	assert_false(process__is_same(&p));
	assert_true(process__was_replaced(&p));
	close(in[1]);
	waitpid(child, NULL, 0);
	assert_false(process__is_same(&p) || process__was_replaced(&p));
	process__deinit(&p);
}

static void *pause_in_thread(void *argument)
{
	(void)argument;
	pause();
	return NULL;
}

/* Before its end is visible, a process has no program any more: here, since its first thread has ended. */
TEST(a_process_that_is_ending)
{
	char exe[64], to[256];
	pthread_t thread;
	struct process p;
	int in[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(in), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
		if (pthread_create(&thread, NULL, pause_in_thread, NULL) ||
		    read(in[0], &byte, 1) != 1)
			_exit(1);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(process__open(&p, child, NULL), 0);
	assert_true(process__is_same(&p));
	assert_int_equal(write(in[1], "x", 1), 1);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", child);
	while (readlink(exe, to, sizeof(to)) > 0)
		pause_ms(1);
	assert_true(process__alive(&p));
	assert_false(process__is_same(&p) || process__was_replaced(&p));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(in[0]);
	close(in[1]);
	process__deinit(&p);
}

static pid_t pausing(struct clone_args *args)
{
	pid_t pid = (pid_t)syscall(SYS_clone3, args, sizeof(*args));

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Another process with the PID of one that was chosen is not that one: its descriptor shows that, and so
 * does the start time.
 */
TEST(its_pid_is_reused)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	struct process p;
	pid_t first, second = -1;

	for (int tries = 0; second < 0 && tries < 10; tries++) { /* another process may get it */
		args.set_tid_size = 0;
		first = pausing(&args);
		assert_int_equal(process__open(&p, first, NULL), 0);
		assert_true(process__alive(&p) && process__is_same(&p));
		end(first);
		assert_false(process__alive(&p) || process__is_same(&p));
		pause_ms(30); /* more than a tick of the start time */
		args.set_tid = (uintptr_t)&first;
		args.set_tid_size = 1;
		second = pausing(&args);
		if (second < 0)
			process__deinit(&p);
		if (geteuid()) /* who may not choose a PID */
			return;
	}
	assert_int_equal(second, first);
	assert_false(process__alive(&p) || process__is_same(&p));
	close(p.pidfd);
	p.pidfd = (int)syscall(SYS_pidfd_open, second, 0);
	assert_true(process__alive(&p));
	assert_false(process__is_same(&p));
	process__deinit(&p);
	end(second);
}

/* Runs until its standard input ends, or for some seconds by itself; both are long enough. */
static pid_t start(const char *path, int *ret_input)
{
	int in[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t child;

	assert_int_equal(pipe(in), 0);
	child = fork();
	if (!child) {
		dup2(in[0], 0);
		dup2(null, 1);
		dup2(null, 2);
		close(in[0]);
		close(in[1]);
		execl(path, path, NULL);
		_exit(127);
	}
	close(in[0]);
	close(null);
	*ret_input = in[1];
	return child;
}

static int count_call(void *ctx)
{
	return ++*(int *)ctx > 1000 ? -EINTR : 0;
}

/* Contains only changes: none, if the first one is recent and nothing runs. */
static void check_second_snapshot(const struct process *p, const struct layout *l,
				  const struct snapshot *first)
{
	int calls = 0;
	struct snapshot_reading how = { .before = first, .between = count_call, .ctx = &calls };
	struct snapshot second;

	assert_int_equal(snapshot__read(p, l, &how, &second), 0);
	assert_true(second.ng <= 2 && first->ng > second.ng);
	assert_true(second.np == first->np && second.nm >= 1 && second.time > first->time_end);
	for (size_t i = 0; i < second.ng; i++)
		for (size_t j = 0; j < first->ng; j++)
			assert_memory_not_equal(&second.g[i], &first->g[j], sizeof(first->g[j]));
	snapshot__deinit(&second);
}

static void check_snapshot(const struct process *p, const struct layout *l)
{
	struct snapshot snap;
	bool main_seen = false;

	assert_int_equal(snapshot__read(p, l, NULL, &snap), 0);
	assert_true(snap.time && snap.time_end >= snap.time);
	assert_in_range(snap.procs, 1, 4096);
	assert_int_equal(snap.np, snap.procs);
	assert_true(snap.ng >= 2 && snap.nm >= 1);
	for (size_t i = 0; i < snap.ng; i++) {
		assert_true(snap.g[i].goid && snap.g[i].status && snap.g[i].status != GS_DEAD);
		main_seen |= snap.g[i].goid == 1;
	}
	for (size_t i = 0; i < snap.np; i++)
		assert_int_equal(snap.p[i].id, i);
	for (size_t i = 0; i < snap.nm; i++)
		assert_true(snap.m[i].tid);
	assert_true(main_seen);
	check_second_snapshot(p, l, &snap);
	snapshot__deinit(&snap);
}

/* Offsets that the live checks detect if they are wrong by this amount. */
static const struct {
	const char *name;
	size_t place;
	uint32_t by;
} members[] = {
#define WRONG(field, by) { #field, offsetof(struct layout, field), by }
	WRONG(m_procid, 8),
	WRONG(m_procid, -8u),
	WRONG(m_g0, 8),
	WRONG(config.m_oldp, 8),
	WRONG(m_alllink, -8u),
	WRONG(g_stack_lo, 16),
	WRONG(g_stack_hi, 8),
	WRONG(config.g_m, 8),
	WRONG(config.g_m, -8u),
	WRONG(config.g_goid, 8),
	WRONG(config.g_goid, -8u),
	WRONG(config.g_sched, 8),
	WRONG(config.g_startpc, -8u),
	WRONG(config.gobuf_sp, 8),
	WRONG(config.p_id, 8),
	WRONG(p_status, 4),
	WRONG(p_m, 8),
#undef WRONG
};

static void look_at(const char *path)
{
	struct error err = { "" };
	struct go_buildinfo info;
	struct elf_image *elf;
	struct layout l, wrong;
	struct snapshot snap;
	struct process p;
	int input;
	pid_t child = start(path, &input);

	pause_ms(300);
	assert_int_equal(process__open(&p, child, NULL), 0);
	assert_int_equal(elf_image__open(&elf, p.exe_fd, p.exe, NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	assert_int_equal(layout__read(elf, NULL, &info.version, NULL, &l, NULL), 0);
	assert_int_equal(process__find_bias(&p, elf, NULL), 0);
	if (process__check_layout(&p, &l, &err))
		fail_msg("%s", err.text);
	check_snapshot(&p, &l);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		wrong = l;
		*(uint32_t *)((char *)&wrong + members[i].place) += members[i].by;
		err.text[0] = 0;
		if (process__check_layout(&p, &wrong, &err) != -EPROTO)
			fail_msg("%s is wrong by %u, and not found", members[i].name,
				 members[i].by);
		if (!strstr(err.text, "structures are not at the expected offsets"))
			fail_msg("%s is wrong by %u: %s", members[i].name, members[i].by, err.text);
	}
	wrong = l;
	wrong.config.g_status = l.config.g_startpc;
	assert_int_equal(process__check_layout(&p, &wrong, NULL), -EPROTO);
	wrong = l;
	wrong.allm = wrong.allp;
	assert_int_equal(process__check_layout(&p, &wrong, NULL), -EPROTO);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(input);
	assert_false(process__alive(&p));
	assert_int_equal(snapshot__read(&p, &l, NULL, &snap), -ESRCH);
	assert_int_equal(process__check_layout(&p, &l, NULL), -ESRCH);
	elf_image__destroy(elf);
	process__deinit(&p);
}

TEST(running_programs)
{
	for_each_program(look_at);
}

// SPDX-License-Identifier: GPL-2.0
/* Commands that are started and held at each exec. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "capture/launch.h"

static struct launch_signals signals;

static int setup(void **state)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &blocked, &signals.mask);
}

GROUP(setup, NULL)

static int begin(struct launch *l, struct error *err, const char *const *argv)
{
	return launch__fork(l, (char *const *)argv, &signals, err);
}

#define BEGIN(l, err, ...) begin(l, err, (const char *const[]){ __VA_ARGS__, NULL })

/* What a launched process runs now. */
static void assert_runs(const struct launch *l, const char *name)
{
	char path[64], exe[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", l->pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	assert_true(n > 0);
	exe[n] = 0;
	assert_non_null(strstr(exe, name));
}

TEST(each_exec_holds)
{
	struct error err = { "" };
	struct launch l;

	assert_int_equal(BEGIN(&l, &err, "sh", "-c", "exec env A=1 sh -c 'sleep 0.1; exit 7'"), 0);
	assert_int_equal(launch__next_exec(&l, &err), 0);
	assert_true(l.held && l.execs == 1);
	assert_int_equal(launch__next_exec(&l, &err), 0);
	assert_runs(&l, "env");
	assert_int_equal(launch__next_exec(&l, &err), 0);
	assert_int_equal(l.execs, 3);
	assert_int_equal(launch__next_exec(&l, &err), -ECHILD);
	assert_string_equal(err.text, "");
	assert_true(l.reaped && WIFEXITED(l.status) && WEXITSTATUS(l.status) == 7);
	launch__wait(&l);
}

TEST(what_cannot_be_executed)
{
	static const struct {
		const char *name, *why;
		int code;
	} cases[] = {
		{ "no-such-program-here", "no-such-program-here: no such program", -ECHILD },
		{ "/no/such/program", "/no/such/program: no such program", -ECHILD },
		{ "/etc/passwd", "/etc/passwd: not an executable program", -ECHILD },
		{ "/", "/: not an executable program", -ECHILD },
	};
	struct launch l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error err = { "" };

		assert_int_equal(BEGIN(&l, &err, cases[i].name), 0);
		assert_int_equal(launch__next_exec(&l, &err), cases[i].code);
		assert_string_equal(err.text, cases[i].why);
		assert_int_equal(l.execs, 0);
	}
}

TEST(released_it_goes_on)
{
	struct error err = { "" };
	struct launch l;

	assert_int_equal(BEGIN(&l, &err, "sh", "-c", "kill -TERM $$; exit 1"), 0);
	assert_int_equal(launch__next_exec(&l, &err), 0);
	assert_int_equal(launch__release(&l, &err), 0);
	launch__wait(&l);
	assert_true(WIFSIGNALED(l.status) && WTERMSIG(l.status) == SIGTERM);
}

/* A signal of its own reaches it while it is seized, and so does one that is sent to us. */
TEST(signals_are_handed_on)
{
	struct error err = { "" };
	struct launch l;

	assert_int_equal(BEGIN(&l, &err, "sh", "-c",
			       "trap 'exit 9' TERM; trap 'kill -TERM $PPID' USR1; kill -USR1 $$; "
			       "while :; do sleep 0.05; done"),
			 0);
	assert_int_equal(launch__next_exec(&l, &err), 0);
	assert_int_equal(launch__next_exec(&l, &err), -ECHILD);
	assert_true(WIFEXITED(l.status) && WEXITSTATUS(l.status) == 9);
}

TEST(killed_it_has_run_nothing)
{
	struct error err = { "" };
	struct launch l;

	assert_int_equal(BEGIN(&l, &err, "sh", "-c", "exit 0"), 0);
	assert_int_equal(launch__next_exec(&l, &err), 0);
	launch__kill(&l);
	launch__wait(&l);
	assert_true(WIFSIGNALED(l.status) && WTERMSIG(l.status) == SIGKILL);
}

/* Each of the pipes needs two descriptors; what was opened is closed again. */
TEST(too_few_descriptors)
{
	int free_fd = dup(STDIN_FILENO);
	struct rlimit all, few;

	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	for (int more = 0; more <= 3; more++) {
		struct error err = { "" };
		struct launch l = {};

		few.rlim_cur = (rlim_t)(free_fd + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(BEGIN(&l, &err, "true"), -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_string_equal(err.text, "cannot start true: Too many open files");
		assert_int_equal(l.pid, 0);
		assert_int_equal(dup(STDIN_FILENO), free_fd);
		close(free_fd);
	}
}

/* The same exit statuses as in a shell. */
TEST(exit_statuses)
{
	struct launch l = { .status = 7 << 8 };

	assert_int_equal(launch__exit_status(&l), 7);
	l.status = 0;
	assert_int_equal(launch__exit_status(&l), 0);
	l.status = SIGTERM;
	assert_int_equal(launch__exit_status(&l), 128 + SIGTERM);
	l.exec_error = ENOENT;
	assert_int_equal(launch__exit_status(&l), 127);
	l.exec_error = EACCES;
	assert_int_equal(launch__exit_status(&l), 126);
}

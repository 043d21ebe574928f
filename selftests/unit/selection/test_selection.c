// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes are selected by executable: by file name or path, whatever the process calls
 * itself, through links and after the file was deleted.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "selection/selection.h"
#include "unit/trace_bytes.h"

static struct selection *s;
static pid_t child; /* runs a copy of sleep, whose file is scratch("worker") */

static int create(const char *exe)
{
	struct selection_opts opts = { .exe = { exe }, .nexe = 1 };
	struct error error = {};

	return selection__create(&s, &opts, &error);
}

static bool runs(void)
{
	char link[64], path[300];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", child);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return strstr(path, "/worker");
}

static int set_up(void **state)
{
	char command[600];

	snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" '%s' && ln -sf worker '%s'",
		 scratch("worker"), scratch("link"));
	if (system(command))
		return -1;
	child = fork();
	if (!child) {
		execl(scratch("worker"), "decoy", "60", NULL);
		_exit(127);
	}
	while (!runs() && !kill(child, 0) && waitpid(child, NULL, WNOHANG) == 0)
		usleep(1000);
	return child > 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	selection__destroy(s);
	s = NULL;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

FIXTURE(set_up, tear_down)

TEST(by_name)
{
	assert_int_equal(create("worker"), 0);
	assert_true(selection__has_executable(s, child));
	assert_false(selection__has_executable(s, getpid()));
	assert_string_equal(selection__name(s, 0), "worker");
	assert_null(selection__name(s, 1));
	assert_false(selection__has_cgroup(s));
}

/* Neither the first argument nor comm. */
TEST(not_by_what_it_calls_itself)
{
	assert_int_equal(create("decoy"), 0);
	assert_false(selection__has_executable(s, child));
	assert_int_equal(prctl(PR_SET_NAME, "decoy"), 0);
	assert_false(selection__has_executable(s, getpid()));
}

TEST(by_path)
{
	assert_int_equal(create(scratch("worker")), 0);
	assert_true(selection__has_executable(s, child));
	assert_string_equal(selection__name(s, 0), "worker");
	selection__destroy(s);
	s = NULL;
	assert_int_equal(create("/elsewhere/worker"), 0); /* need not exist */
	assert_false(selection__has_executable(s, child));
}

TEST(by_link)
{
	assert_int_equal(create(scratch("link")), 0);
	assert_true(selection__has_executable(s, child));
	assert_string_equal(selection__name(s, 0), "link");
	assert_string_equal(selection__name(s, 1), "worker");
}

TEST(dangling)
{
	assert_int_equal(unlink(scratch("worker")), 0);
	assert_int_equal(create(scratch("link")), 0);
	assert_false(selection__has_executable(s, child));
}

TEST(deleted)
{
	assert_int_equal(unlink(scratch("worker")), 0);
	assert_int_equal(create("worker"), 0);
	assert_true(selection__has_executable(s, child));
}

TEST(refused)
{
	struct selection_opts both = { .unit = "a/b" };
	struct error error = {};

	assert_int_equal(create(""), -EINVAL);
	assert_int_equal(create("/usr/bin/"), -EINVAL);
	assert_int_equal(create("./no-such-file"), -ENOENT); /* of which directory later? */
	assert_true(selection__create(&s, &both, &error) < 0);
	assert_true(error.text[0]);
	assert_null(s);
}

static void on_pid(void *ctx, pid_t pid)
{
	*(unsigned int *)ctx += pid == child ? 1 : 1000;
}

TEST(each)
{
	unsigned int n = 0;

	assert_int_equal(create(scratch("worker")), 0);
	selection__each(s, on_pid, &n);
	assert_int_equal(n, 1);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * One recorder at a time, whatever the program locks.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

#include "inline/claim.h"
#include "inline/inject.h"

#define OTHER 65534

static struct error err;
static pid_t child;
static int to_child[2], from_child[2];

static int end(void **state)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	close(to_child[0]);
	close(to_child[1]);
	close(from_child[0]);
	err = (struct error){};
	return 0;
}

static void lock_own_memory(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open("/proc/self/mem", O_RDWR);

	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock))
		_exit(2);
}

/* A process of this user, which locks its memory if it is to, and executes the shell if it is to. */
static void start(uid_t uid, bool locks, bool executes)
{
	char byte;

	assert_int_equal(pipe(to_child) | pipe(from_child), 0);
	child = fork();
	if (child)
		close(from_child[1]);
	if (!child) {
		if (locks)
			lock_own_memory();
		dup2(to_child[0], 0);
		dup2(from_child[1], 1);
		close(to_child[1]);
		if (executes)
			execl("/bin/sh", "gotrace-bpf", "-c", "echo x; read y", NULL);
		if (executes || setresuid(uid, uid, uid) || write(1, "x", 1) != 1)
			_exit(1);
		_exit(read(0, &byte, 1) == 1);
	}
	assert_int_equal(read(from_child[0], &byte, 1), 1);
}

static int open_memory(void)
{
	int fd = inject__open(child, O_RDWR, &err);

	assert_true(fd >= 0);
	return fd;
}

/* What has locked the memory of the child does not count. */
static void expect_free(void)
{
	int fd = open_memory();

	assert_true(claim__await(child, 0));
	assert_int_equal(claim__take(child, fd, 0, &err), 0);
	close(fd);
}

TEST_WITH(one_at_a_time, NULL, end)
{
	int first, second;

	if (geteuid())
		return;
	start(0, false, false);
	assert_true(claim__await(child, 0));
	first = open_memory();
	second = open_memory();
	assert_int_equal(claim__take(child, first, 0, &err), 0);
	assert_int_equal(claim__take(child, first, 0, &err), 0);
	assert_false(claim__await(child, 20));
	assert_int_equal(claim__take(child, second, 20, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another gotrace-bpf has inline probes"));
	claim__release(first);
	assert_int_equal(claim__take(child, second, 0, &err), 0);
	assert_int_equal(claim__take(child, first, 20, &err), -EBUSY);
	close(second);
	assert_int_equal(claim__take(child, first, 0, &err), 0);
	close(first);
}

/* A lock of the program keeps neither a recorder away, nor a guardian that is to remove the probes. */
TEST_WITH(locked_by_the_program, NULL, end)
{
	if (geteuid())
		return;
	start(OTHER, true, false);
	expect_free();
}

/* A process with this program and its capabilities counts as a recorder. */
TEST_WITH(locked_by_one_of_ours, NULL, end)
{
	int fd;

	if (geteuid())
		return;
	start(0, true, false);
	assert_false(claim__await(child, 20));
	fd = open_memory();
	assert_int_equal(claim__take(child, fd, 0, &err), -EBUSY);
	close(fd);
}

/* A program of root that inherits the lock is no recorder: attackers can start setuid programs. */
TEST_WITH(inherited_by_a_program_of_root, NULL, end)
{
	if (geteuid())
		return;
	start(0, true, true);
	expect_free();
}

TEST(no_process)
{
	assert_true(claim__await(0x7fffffff, 0));
}

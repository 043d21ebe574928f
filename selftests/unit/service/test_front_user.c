// SPDX-License-Identifier: GPL-2.0
/*
 * The user of the process that answers HTTP clients: users that cannot have it, and that it is free.
 */
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "service/front_user.h"

static struct front_user user;
static struct error err;
static uid_t uid;
static gid_t gid;

static int find(const char *name)
{
	err = (struct error){};
	return front_user__find(&user, name, &err) ?: front_user__choose(&user, &uid, &gid, &err);
}

static void refused(const char *name, int code, const char *reason)
{
	assert_int_equal(find(name), code);
	assert_non_null(strstr(err.text, reason));
}

TEST(never_root_or_nobody)
{
	refused("root", -EPERM, "user root cannot answer HTTP requests");
	refused("0", -EPERM, "not root or nobody");
	refused("nobody", -EPERM, "user nobody cannot");
	refused("65534", -EPERM, "user 65534 cannot");
}

TEST(no_such_user)
{
	refused("no-such-user-at-all", -EINVAL, "there is no user no-such-user-at-all");
	refused("", -EINVAL, "there is no user ");
	refused("123456789012345", -EINVAL, "there is no user");
	refused("12x", -EINVAL, "there is no user 12x");
	refused("-5", -EINVAL, "there is no user -5");
}

/* A user without a name, which is given by its number. */
TEST(not_one_that_runs_processes)
{
	char byte, name[16], reason[64];
	int fds[2];
	pid_t pid;

	assert_int_equal(find(NULL), 0);
	snprintf(name, sizeof(name), "%u", uid);
	assert_int_equal(find(name), 0);
	if (geteuid())
		return;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		/* only its saved user */
		if (setresuid(0, 0, uid) || write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	snprintf(reason, sizeof(reason), "it runs process %d, and processes of one user", pid);
	refused(name, -EBUSY, reason);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(find(name), 0);
}

/* A new number each time, unless installation has created a user. */
TEST(one_of_its_own)
{
	const struct passwd *named = getpwnam(FRONT_USER);

	assert_int_equal(find(NULL), 0);
	if (named && uid == named->pw_uid)
		return;
	assert_in_range(uid, 60706, 61183);
	assert_int_equal(gid, uid);
	assert_null(getpwuid(uid));
}

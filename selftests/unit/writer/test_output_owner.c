// SPDX-License-Identifier: GPL-2.0
/* Files for the user of sudo: who is one, and that nothing is given that was not just created. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "unit/scratch.h"
#include "unit/test.h"
#include "writer/output_file.h"
#include "writer/output_owner.h"

#define USER_ID	 "1234"
#define GROUP_ID "2345"
#define UID	 1234
#define GID	 2345

static uid_t real, effective;
static bool secure;

/* Replace functions of the C library. */
uid_t getuid(void)
{
	return real;
}

uid_t geteuid(void)
{
	return effective;
}

char *secure_getenv(const char *name)
{
	return secure ? NULL : getenv(name);
}

static int race; /* a directory that another user renames to the name of the new one */

int mkdirat(int dir, const char *name, mode_t mode)
{
	char path[200];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	if (mkdir(path, mode))
		return -1;
	if (race) {
		race = 0;
		assert_int_equal(renameat(dir, name, dir, "new"), 0);
		assert_int_equal(renameat(dir, "old", dir, name), 0);
	}
	return 0;
}

static int set_up(void **state)
{
	if (syscall(SYS_geteuid))
		skip();
	real = effective = 0;
	secure = false;
	race = 0;
	setenv("SUDO_UID", USER_ID, 1);
	setenv("SUDO_GID", GROUP_ID, 1);
	return 0;
}

static int tear_down(void **state)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

FIXTURE(set_up, tear_down)

static bool with(const char *uid, const char *gid)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
	return output_owner__is_set();
}

TEST(numbers)
{
	static const char *const bad[] = { "",
					   " 1",
					   "1 ",
					   "+1",
					   "-1",
					   "0x10",
					   "01",
					   "1a",
					   "1,2",
					   "root",
					   "4294967295",
					   "4294967296",
					   "10000000000",
					   "99999999999999999999",
					   "\n1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(with(bad[i], GROUP_ID));
		assert_false(with(USER_ID, bad[i]));
	}
	assert_true(with("1", "0"));
	assert_true(with("4294967294", "4294967294"));
	assert_false(with("0", "0")); /* root itself */
	unsetenv("SUDO_GID");
	assert_false(output_owner__is_set());
	assert_true(with(USER_ID, GROUP_ID));
	unsetenv("SUDO_UID");
	assert_false(output_owner__is_set());
}

TEST(root_only)
{
	assert_true(output_owner__is_set());
	real = 1000; /* a set-user-ID program */
	assert_false(output_owner__is_set());
	effective = 1000;
	assert_false(output_owner__is_set());
	real = 0;
	assert_false(output_owner__is_set());
	effective = 0;
	secure = true;
	assert_false(output_owner__is_set());
}

static void assert_owner(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
}

/* A directory of that owner. */
static char *folder(const char *name, uid_t owner)
{
	char *path = strdup(scratch(name));

	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chown(path, owner, 0), 0);
	return path;
}

static void write_trace(const char *path, uid_t uid, gid_t gid)
{
	struct trace_file *f;
	char partial[300];
	struct stat st;

	snprintf(partial, sizeof(partial), "%s.partial", path);
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), 0);
	assert_owner(partial, uid, gid);
	assert_int_equal(trace_file__append(f, "x", 1), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_owner(path, uid, gid);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
}

TEST(files)
{
	char path[300], target[300], *mine = folder("mine", UID), *others = folder("others", 999);
	struct trace_file *f;

	snprintf(path, sizeof(path), "%s/a", mine);
	write_trace(path, UID, GID);
	write_trace(path, UID, GID); /* replaced */
	setenv("SUDO_UID", "999", 1);
	write_trace(path, 0, 0); /* the folder is not theirs any more */
	setenv("SUDO_UID", USER_ID, 1);
	snprintf(target, sizeof(target), "%s/a", others);
	write_trace(target, 0, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(target, path),
			 0); /* root's link: the folder of its target counts */
	assert_int_equal(unlink(target), 0);
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_owner(target, 0, 0);
	free(mine);
	free(others);
}

static int open_dir(const char *path, const char *name)
{
	int dir = open(path, O_PATH | O_DIRECTORY), fd = output_owner__open_dir(dir, name, 0700);

	close(dir);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST(directories)
{
	char path[300], *mine = folder("dirs", UID), *others = folder("other_dirs", 0);

	snprintf(path, sizeof(path), "%s/d", mine);
	assert_int_equal(open_dir(mine, "d"), 0);
	assert_owner(path, UID, GID);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(open_dir(mine, "d"), 0); /* it exists */
	assert_owner(path, 0, 0);

	snprintf(path, sizeof(path), "%s/d", others);
	assert_int_equal(open_dir(others, "d"), 0);
	assert_owner(path, 0, 0);

	snprintf(path, sizeof(path), "%s/link", mine);
	assert_int_equal(symlink("d", path), 0);
	assert_int_equal(open_dir(mine, "link"), -ENOTDIR);
	assert_int_equal(open_dir(mine, "none/d"), -ENOENT);
	free(mine);
	free(others);
}

/* Root's older directory is not given, even if it is at the place of the new one. */
TEST(exchanged_directory)
{
	char path[300], *mine = folder("race", UID);

	snprintf(path, sizeof(path), "%s/old", mine);
	assert_int_equal(mkdir(path, 0700), 0);
	usleep(20000); /* more than a tick of the clock of file systems */
	race = 1;
	assert_int_equal(open_dir(mine, "d"), 0);
	snprintf(path, sizeof(path), "%s/d", mine);
	assert_owner(path, 0, 0);
	free(mine);
}

TEST(trusted_owners)
{
	char *mine = folder("trusted", UID);
	int dir = open(mine, O_PATH | O_DIRECTORY);

	assert_true(output_owner__is_trusted(0, dir));
	assert_true(output_owner__is_trusted(UID, dir));
	assert_false(output_owner__is_trusted(UID + 1, dir));
	assert_int_equal(chown(mine, 0, 0), 0);
	assert_true(output_owner__is_trusted(0, dir));
	assert_false(output_owner__is_trusted(UID, dir));
	effective = UID;
	assert_true(output_owner__is_trusted(UID, dir));
	close(dir);
	free(mine);
}

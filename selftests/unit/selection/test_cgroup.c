// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup of a recording, in a folder that looks like a hierarchy: paths, units and what other
 * users may have put there, processes, and a cgroup that is replaced.
 */
#include <sys/stat.h>

#include "unit/test.h"
#include "selection/cgroup.h"
#include "unit/trace_bytes.h"

static struct cgroup_place place;

static struct {
	pid_t pid[16];
	size_t n;
} seen;

static void run(const char *format, const char *name)
{
	char command[400], what[200];

	snprintf(what, sizeof(what), format, name);
	snprintf(command, sizeof(command), "cd '%s' && %s", scratch_dir(), what);
	assert_int_equal(system(command), 0);
}

static void make(const char *path)
{
	run("mkdir -p root/%s", path);
}

static int open_place(const char *path, const char *unit)
{
	struct error error = {};

	return cgroup_place__open(&place, scratch("root"), path, unit, &error);
}

static void fresh(void)
{
	memset(&seen, 0, sizeof(seen));
	run("rm -rf %s && mkdir root", "root");
}

static int tear_down(void **state)
{
	cgroup_place__close(&place);
	return 0;
}

FIXTURE(fresh, tear_down)

static void on_pid(void *ctx, pid_t pid)
{
	assert_ptr_equal(ctx, &seen);
	assert_true(seen.n < 16);
	seen.pid[seen.n++] = pid;
}

static bool has_seen(pid_t pid)
{
	for (size_t i = 0; i < seen.n; i++)
		if (seen.pid[i] == pid)
			return true;
	return false;
}

static uint64_t inode(const char *path)
{
	struct stat st;

	assert_int_equal(stat(scratch(path), &st), 0);
	return st.st_ino;
}

/* Relative, as /proc/PID/cgroup has it, and complete. */
TEST(paths)
{
	make("a/b");
	for (int i = 0; i < 3; i++) {
		char full[300];

		snprintf(full, sizeof(full), "%s/a/b", scratch("root"));
		assert_int_equal(open_place(i == 0 ? "a/b" : i == 1 ? "/a/b" : full, NULL), 0);
		assert_true(place.fd >= 0);
		assert_int_equal(place.ino, inode("root/a/b"));
		cgroup_place__close(&place);
	}
	assert_int_equal(open_place("/", NULL), 0);
	assert_int_equal(place.ino, inode("root"));
}

TEST(paths_do_not_leave)
{
	run("mkdir -p %s && ln -s ../outside root/link", "outside");
	assert_int_equal(open_place("../outside", NULL), 0);
	assert_int_equal(place.fd, -1);
	cgroup_place__close(&place);
	assert_int_equal(open_place("link", NULL), 0);
	assert_int_equal(place.fd, -1);
}

TEST(units)
{
	make("system.slice/web.service");
	make("system.slice/system-x.slice/x@1.service");
	make("system.slice/other.service/web.scope");
	assert_int_equal(open_place(NULL, "web"), 0);
	assert_int_equal(place.ino, inode("root/system.slice/web.service"));
	cgroup_place__close(&place);
	assert_int_equal(open_place(NULL, "x@1.service"), 0);
	assert_int_equal(place.ino, inode("root/system.slice/system-x.slice/x@1.service"));
	cgroup_place__close(&place);
	assert_int_equal(open_place(NULL, "system-x.slice"), 0);
	assert_int_equal(place.ino, inode("root/system.slice/system-x.slice"));
	cgroup_place__close(&place);
	assert_int_equal(open_place(NULL, "web.scope"), 0); /* only in a unit */
	assert_int_equal(place.fd, -1);
}

/* The user of a unit can create folders in it. */
TEST(units_in_units)
{
	make("user.slice/user-1000.slice/user@1000.service/app.slice/web.service");
	assert_int_equal(open_place(NULL, "web"), 0);
	assert_int_equal(place.fd, -1);
	make("system.slice/web.service");
	assert_true(cgroup_place__look(&place));
	assert_int_equal(place.ino, inode("root/system.slice/web.service"));
}

TEST(invalid_units)
{
	static const char *const name[] = { "", "../x", "a/b", ".", ".." };

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		assert_int_equal(open_place(NULL, name[i]), -EINVAL);
}

/* A unit that is restarted has another cgroup of the same name. */
TEST(replaced)
{
	make("keep"); /* so that the inode is not used again at once */
	assert_int_equal(open_place("a", NULL), 0);
	assert_int_equal(place.fd, -1);
	assert_false(cgroup_place__look(&place));
	make("a");
	assert_true(cgroup_place__look(&place));
	assert_true(place.fd >= 0);
	assert_false(cgroup_place__look(&place));
	run("mv root/a root/%s", "old");
	assert_true(cgroup_place__look(&place));
	assert_int_equal(place.fd, -1);
	make("a");
	assert_true(cgroup_place__look(&place));
	assert_int_equal(place.ino, inode("root/a"));
	run("mv root/a root/%s && mkdir root/a", "older");
	assert_true(cgroup_place__look(&place));
	assert_int_equal(place.ino, inode("root/a"));
}

TEST(processes)
{
	make("a/b/c");
	make("other");
	run("printf '1\\n22\\n' >root/a/%s", "cgroup.procs");
	run("printf '333\\n0\\n' >root/a/b/c/%s", "cgroup.procs");
	run("printf '4\\n' >root/other/%s", "cgroup.procs");
	assert_int_equal(open_place("a", NULL), 0);
	cgroup_place__each(&place, on_pid, &seen);
	assert_int_equal(seen.n, 3);
	assert_true(has_seen(1) && has_seen(22) && has_seen(333));
	cgroup_place__each(&place, on_pid, &seen); /* each time from the start */
	assert_int_equal(seen.n, 6);
}

TEST(no_processes)
{
	make("a");
	run("printf 'x 5\\n' >root/a/%s", "cgroup.procs");
	assert_int_equal(open_place("a", NULL), 0);
	cgroup_place__each(&place, on_pid, &seen);
	cgroup_place__close(&place);
	assert_int_equal(open_place("none", NULL), 0);
	cgroup_place__each(&place, on_pid, &seen);
	assert_int_equal(seen.n, 0);
}

TEST(no_hierarchy)
{
	struct error error = {};

	assert_int_equal(cgroup_place__open(&place, scratch("none"), "a", NULL, &error), -ENOENT);
	assert_non_null(strstr(error.text, "cannot open"));
}

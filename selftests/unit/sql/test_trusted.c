// SPDX-License-Identifier: GPL-2.0
/* Which files may become code: owners and modes of the file and of all folders above it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "unit/scratch.h"
#include "sql/trusted.h"

/* folder/in/file, which the tests make others' own or writable for them */
static const char *made_file(void)
{
	FILE *f;

	mkdir(scratch("folder"), 0755);
	mkdir(scratch("folder/in"), 0755);
	f = fopen(scratch("folder/in/file"), "w");
	assert_non_null(f);
	fputc('x', f);
	fclose(f);
	return scratch("folder/in/file");
}

static void refused(const char *name, int want, const char *reason)
{
	struct error error = {};
	int err = trusted__open(scratch(name), &error);

	if (err != want || !strstr(error.text, reason))
		fail_msg("%d: %s", err, error.text);
}

static void accepted(const char *name)
{
	struct error error = {};
	int fd = trusted__open(scratch(name), &error);
	char byte = 0;

	if (fd < 0)
		fail_msg("%s", error.text);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

TEST(modes)
{
	made_file();
	accepted("folder/in/file");
	for (mode_t bit = S_IWOTH; bit <= S_IWGRP; bit = bit << 3) {
		assert_int_equal(chmod(scratch("folder/in/file"), 0644 | bit), 0);
		refused("folder/in/file", -EPERM, "folder/in/file can be written by others");
		assert_int_equal(chmod(scratch("folder/in/file"), 0644), 0);
		assert_int_equal(chmod(scratch("folder"), 0755 | bit), 0);
		refused("folder/in/file", -EPERM, "folder can be written by others");
		assert_int_equal(chmod(scratch("folder"), 0755), 0);
	}
	assert_int_equal(chmod(scratch("folder"), 01777), 0);
	accepted("folder/in/file");
	assert_int_equal(chmod(scratch("folder/in/file"), 01646), 0); /* only of folders */
	refused("folder/in/file", -EPERM, "file can be written by others");
}

TEST(links)
{
	made_file();
	chmod(scratch("folder"), 0755);
	chmod(scratch("folder/in/file"), 0644);
	assert_int_equal(symlink("folder/in/file", scratch("link")), 0);
	assert_int_equal(symlink("folder/in", scratch("folders")), 0);
	accepted("link");
	accepted("folders/file");
	assert_int_equal(chmod(scratch("folder"), 0757), 0);
	refused("link", -EPERM, "folder can be written by others");
	refused("folders/file", -EPERM, "folder can be written by others");
	assert_int_equal(chmod(scratch("folder"), 0755), 0);
}

TEST(no_file)
{
	made_file();
	refused("none", -ENOENT, "none: No such file");
	refused("folder/in/file/x", -ENOTDIR, "Not a directory");
	refused("folder/in", -EINVAL, "folder/in: not a regular file");
	assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
	refused("fifo", -EINVAL, "fifo: not a regular file"); /* and it did not wait for a writer */
}

TEST(files_of_another_user)
{
	const uid_t other = 65534;

	made_file();
	if (geteuid() || chown(scratch("folder/in/file"), other, other))
		skip();
	refused("folder/in/file", -EPERM, "folder/in/file belongs to user 65534");
	assert_int_equal(chown(scratch("folder/in/file"), 0, 0), 0);
	assert_int_equal(chown(scratch("folder"), other, other), 0);
	refused("folder/in/file", -EPERM, "folder belongs to user 65534");
	assert_int_equal(chown(scratch("folder"), 0, 0), 0);
	accepted("folder/in/file");
}

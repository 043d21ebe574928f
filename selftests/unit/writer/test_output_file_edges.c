// SPDX-License-Identifier: GPL-2.0
/*
 * Edge cases of the output file: other recorders between our steps, descriptor 0, paths of maximal
 * length, and recognition of file kinds.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "unit/test.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"
#include "writer/output_place.h"

static unsigned int disturbances; /* number left */
static unsigned int locks;
static int lock_error; /* result of flock(); 0: success */
static char *disturbed;

/* Replaces the function of the C library: another recorder removes the file to be locked. */
int flock(int fd, int operation)
{
	locks++;
	if (disturbances) {
		disturbances--;
		assert_int_equal(unlink(disturbed), 0);
	}
	errno = lock_error;
	return lock_error ? -1 : (int)syscall(SYS_flock, fd, operation);
}

static int writes[4]; /* results of the next writes: an errno, or a number of bytes; 0: normal */

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	int next = writes[0];

	memmove(writes, writes + 1, sizeof(writes) - sizeof(*writes));
	writes[3] = 0;
	if (next < 0) {
		errno = -next;
		return -1;
	}
	if (next) {
		assert_true((size_t)next <= iov->iov_len);
		return write(fd, iov->iov_base, (size_t)next);
	}
	return syscall(SYS_writev, fd, iov, n);
}

static int poll_error; /* result of the next poll(); 0: normal */

int poll(struct pollfd *p, nfds_t n, int timeout)
{
	errno = poll_error;
	poll_error = 0;
	return errno ? -1 : (int)syscall(SYS_poll, p, n, timeout);
}

/* A fortified build calls poll() by this name. */
int __poll_chk(struct pollfd *p, nfds_t n, int timeout, size_t size);
int __poll_chk(struct pollfd *p, nfds_t n, int timeout, size_t size)
{
	return poll(p, n, timeout);
}

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static struct trace_file *open_file(const char *path)
{
	struct trace_file *f = NULL;

	assert_int_equal(trace_file__open(&f, path, FILE_ANY), 0);
	return f;
}

static void write_and_commit(const char *path)
{
	struct trace_file *f = open_file(path);

	assert_int_equal(trace_file__append(f, "text", 4), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(path, "text");
}

/* If a process takes our new file for a stale one, creation is repeated, but not without limit. */
TEST(concurrent_removal_is_retried)
{
	char *path = strdup(scratch("raced"));
	struct trace_file *f = NULL;

	disturbed = strdup(scratch("raced.partial"));
	disturbances = 99;
	locks = 0;
	write_and_commit(path);
	assert_int_equal(locks, 100);
	assert_false(exists(disturbed));
	disturbances = UINT_MAX;
	locks = 0;
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), -EBUSY);
	assert_int_equal(locks, 100);
	assert_null(f);
	disturbances = 0;
	assert_false(exists(disturbed));
	assert_content(path, "text");
	free(disturbed);
	free(path);
}

/* A lock held by another recorder is reported, and so is a file system without locks. */
TEST(failing_locks)
{
	const char *path = scratch("locked");
	struct trace_file *f = NULL;
	int fd = open(scratch("locked.partial"), O_WRONLY | O_CREAT, 0600);

	assert_int_equal(flock(fd, LOCK_EX), 0);
	locks = 0;
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), -EBUSY);
	assert_int_equal(locks, 1);
	close(fd);
	assert_int_equal(unlink(scratch("locked.partial")), 0);
	lock_error = ENOLCK;
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), -ENOLCK);
	assert_int_equal(locks, 2);
	lock_error = 0;
	assert_null(f);
}

/* A stale file that vanishes before it is locked is not kept; that is not an error. */
TEST(stale_file_vanishes)
{
	struct trace_file *f;
	bool replaced = true;

	disturbed = strdup(scratch("stale.partial"));
	write_file(disturbed, "left", 4);
	disturbances = 1;
	f = open_file(scratch("stale"));
	assert_null(trace_file__kept(f, &replaced));
	assert_false(replaced);
	assert_false(exists(scratch("stale.partial.1")));
	assert_content(disturbed, "");
	trace_file__destroy(f);
	assert_false(exists(disturbed));
	free(disturbed);
}

/* An interrupted or short write is continued. */
TEST(short_writes)
{
	char text[] = "0123456789";
	struct iovec iov[] = { { text, 4 }, { text + 4, 0 }, { text + 4, 6 } };
	struct trace_file *f = open_file(scratch("pieces"));

	memcpy(writes, (int[]){ -EINTR, -EAGAIN }, 2 * sizeof(int));
	assert_int_equal(trace_file__appendv(f, iov, 3), 0);
	writes[0] = 3;
	assert_int_equal(trace_file__appendv(f, iov, 3), 0);
	writes[0] = 4;
	assert_int_equal(trace_file__appendv(f, iov, 3), 0);
	writes[0] = -EIO;
	assert_int_equal(trace_file__appendv(f, iov, 3), -EIO);
	assert_int_equal(trace_file__size(f), 30);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(scratch("pieces"), "012345678901234567890123456789");
}

/* Without stdin, descriptor 0 is the file or its directory, depending on the depth of the path. */
TEST(descriptor_0)
{
	static const char *const names[][2] = { { "zero", "zero.partial" },
						{ "deeper/zero", "deeper/zero.partial" } };
	int saved = fcntl(0, F_DUPFD_CLOEXEC, 100);
	struct trace_file *f;

	assert_int_equal(mkdir(scratch("deeper"), 0700), 0);
	for (int i = 0; i < 2; i++) {
		close(0);
		write_and_commit(scratch(names[i][0]));
		f = open_file(scratch(names[i][0]));
		assert_false(trace_file__in_folder_of_other(f));
		trace_file__destroy(f);
		assert_false(exists(scratch(names[i][1])));
		assert_int_equal(fcntl(0, F_GETFD), -1); /* no descriptor is leaked */
	}
	if (saved >= 0)
		dup2(saved, 0);
	close(saved);
}

/* After a stop request, a reader that pauses for more than a second is not waited for. */
TEST(stop_during_a_paused_reader)
{
	static char data[100000];
	struct trace_file *f;
	int out[2], stop[2];
	char path[40];

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(stop), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", out[1]);
	f = open_file(path);
	trace_file__interrupt(f, stop[0]);
	assert_int_equal(trace_file__append(f, data, 4000), 0);
	poll_error = EINTR;
	assert_int_equal(trace_file__append(f, data, 96), 0);
	poll_error = ENOMEM;
	assert_int_equal(trace_file__append(f, data, 1), -ENOMEM);
	assert_int_equal(write(stop[1], "x", 1), 1);
	assert_int_equal(trace_file__append(f, data, 4096), 0); /* there is room still */
	assert_int_equal(trace_file__append(f, data, sizeof(data)), -EINTR);
	assert_int_equal(trace_file__size(f), 8192);
	trace_file__destroy(f);
	for (int i = 0; i < 2; i++) {
		close(out[i]);
		close(stop[i]);
	}
}

/* Each link of a path is checked, also one that another link leads to. */
TEST(planted_link_after_own_link)
{
	struct trace_file *f = NULL;
	struct stat st;

	if (geteuid())
		skip();
	assert_int_equal(mkdir(scratch("shared"), 0700), 0);
	assert_int_equal(mkdir(scratch("theirs"), 0700), 0);
	assert_int_equal(chmod(scratch("shared"), 01777), 0);
	assert_int_equal(symlink("../theirs", scratch("shared/planted")), 0);
	assert_int_equal(lchown(scratch("shared/planted"), 65534, 65534), 0);
	assert_int_equal(symlink("shared/planted", scratch("ours")), 0);
	assert_int_equal(trace_file__open(&f, scratch("ours/trace"), FILE_ANY), -ENOLINK);
	assert_int_equal(chmod(scratch("shared"), 01775), 0); /* not world-writable */
	f = open_file(scratch("ours/trace"));
	assert_int_equal(lstat(scratch("theirs/trace.partial"), &st), 0);
	trace_file__destroy(f);
}

/* Appends "/." to the name of a directory up to a length of `len` or `len` + 1. */
static void lengthen(char *name, size_t len)
{
	for (size_t n = strlen(name); n < len; n += 2)
		strcat(name, "/.");
}

static void add_letters(char *path, size_t len)
{
	strcat(path, "/");
	for (size_t n = strlen(path); n < len; n++)
		strcat(path, "n");
}

/* A path is shorter than PATH_MAX, and so is the text of a link plus the rest of the path. */
TEST(longest_paths)
{
	char path[PATH_MAX + 10], link[PATH_MAX];
	struct trace_file *f = NULL;

	strcpy(path, scratch_dir());
	lengthen(path, PATH_MAX - 100);
	add_letters(path, PATH_MAX - 1);
	write_and_commit(path);
	strcat(path, "n");
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), -ENAMETOOLONG);

	strcpy(link, scratch_dir());
	lengthen(link, 3000);
	assert_int_equal(symlink(link, scratch("long")), 0);
	strcpy(path, scratch_dir());
	strcat(path, "/long");
	lengthen(path, 1000);
	add_letters(path, PATH_MAX - 1 - strlen(link) + strlen(scratch("long")));
	write_and_commit(path);
	strcat(path, "n");
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), -ENAMETOOLONG);
	assert_null(f);
}

TEST(longest_names)
{
	char path[400], name[NAME_MAX + 2];
	struct file_place place;

	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	snprintf(path, sizeof(path), "%s/%s", scratch_dir(), name);
	assert_int_equal(file_place__find(&place, path), 0);
	assert_string_equal(place.name, name);
	assert_false(place.exists || place.magic);
	close(place.dir);
	strcat(path, "n");
	assert_int_equal(file_place__find(&place, path), -ENAMETOOLONG);
}

/* As many successive links as the kernel follows. */
TEST(link_count_limit)
{
	char name[16], to[16];
	struct trace_file *f = NULL;

	for (int i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "link-%d", i);
		snprintf(to, sizeof(to), "link-%d", i - 1);
		assert_int_equal(symlink(to, scratch(name)), 0);
	}
	f = open_file(scratch("link-40"));
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(scratch("link-0"), "");
	f = NULL;
	assert_int_equal(trace_file__open(&f, scratch("link-41"), FILE_ANY), -ELOOP);
	assert_null(f);
}

TEST(file_kinds_by_first_bytes)
{
	static const char batch[] = "................EventBatch........";
	static const struct {
		enum file_kind kind;
		const char *text;
		bool fits;
	} files[] = {
		{ FILE_RAW, "GOTRRA", false },
		{ FILE_INDEX, "gotrace index ", true },
		{ FILE_INDEX, "gotrace index", false },
		{ FILE_PACKED, "gotrace pack ", true },
		{ FILE_PACKED, "gotrace pack", false },
		{ FILE_TEXT, "Trace Go1.", true },
		{ FILE_TEXT, " Trace Go1.", false },
		{ FILE_STATS, "{\n  \"events\": ", true },
		{ FILE_DESCRIPTION, batch, true },
		{ FILE_DESCRIPTION, "{\n  \"minor\": 3,", true },
		{ FILE_DESCRIPTION, "x{\n  \"minor\": 3,", false },
		{ FILE_TRACE, "gotrace", false },
	};
	char far[100];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		write_file(scratch("kind"), files[i].text, strlen(files[i].text));
		assert_int_equal(file_kind__fits(files[i].kind, AT_FDCWD, scratch("kind")),
				 files[i].fits);
	}
	for (size_t at = 54; at <= 55; at++) { /* only the first 64 bytes are examined */
		memset(far, '.', sizeof(far));
		memcpy(far + at, "EventBatch", 10);
		write_file(scratch("kind"), far, sizeof(far));
		assert_int_equal(file_kind__fits(FILE_DESCRIPTION, AT_FDCWD, scratch("kind")),
				 at == 54);
	}
	assert_true(file_kind__fits(FILE_ANY, AT_FDCWD, scratch("none")));
	assert_false(file_kind__fits(FILE_RAW, AT_FDCWD, scratch("none")));
	assert_false(file_kind__fits(FILE_RAW, AT_FDCWD, scratch_dir()));
}

/* Whether a user can rename or remove a file depends on owner and mode of the directory. */
TEST(directories_of_other_users)
{
	static const struct {
		uid_t owner;
		mode_t mode;
		bool others;
	} cases[] = {
		{ 0, 0700, false },	{ 0, 0300, false },	{ 0, 0500, true },
		{ 0, 0600, true },	{ 0, 0507, false },	{ 65534, 0700, true },
		{ 65534, 0703, false }, { 65534, 0702, true },	{ 65534, 0701, true },
		{ 65534, 01777, true }, { 65534, 0777, false },
	};
	char dir[100], path[110];
	struct trace_file *f;

	if (geteuid())
		skip();
	snprintf(dir, sizeof(dir), "%s/folder", scratch_dir());
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(chown(dir, cases[i].owner, 0), 0);
		assert_int_equal(chmod(dir, cases[i].mode), 0);
		f = open_file(path);
		assert_int_equal(trace_file__in_folder_of_other(f), cases[i].others);
		trace_file__destroy(f);
	}
	f = open_file("/dev/null"); /* there is no directory to rename in */
	assert_false(trace_file__in_folder_of_other(f));
	trace_file__destroy(f);
}

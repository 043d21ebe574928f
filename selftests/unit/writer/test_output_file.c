// SPDX-License-Identifier: GPL-2.0
/*
 * The output file: contents of PATH and PATH.partial at each step and after each failure.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"

static struct trace_file *open_file(const char *path)
{
	struct trace_file *f = NULL;

	assert_int_equal(trace_file__open(&f, path, FILE_ANY), 0);
	assert_non_null(f);
	return f;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_absent(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(errno, ENOENT);
}

TEST(written_to_partial_and_renamed)
{
	const char *path = scratch("plain"), *partial = scratch("plain.partial");
	struct trace_file *f = open_file(path);
	struct stat st;

	assert_int_equal(trace_file__append(f, "one ", 4), 0);
	assert_absent(path);
	assert_content(partial, "one ");
	assert_int_equal(trace_file__append(f, "two", 3), 0);
	assert_int_equal(trace_file__size(f), 7);
	assert_int_equal(trace_file__commit(f), 0);
	assert_content(path, "one two");
	assert_absent(partial);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(path, "one two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(old_file_is_kept_until_commit)
{
	const char *path = scratch("kept"), *partial = scratch("kept.partial");
	struct trace_file *f;

	write_file(path, "old");
	f = open_file(path);
	assert_content(partial, "");
	assert_int_equal(trace_file__append(f, "new", 3), 0);
	assert_content(path, "old");
	trace_file__destroy(f);
	assert_content(path, "old");
	assert_absent(partial);
	f = open_file(path);
	assert_int_equal(trace_file__append(f, "new", 3), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(path, "new");
	trace_file__destroy(NULL);
}

/*
 * The file of a killed recorder is kept under another name: up to nine, then the oldest is
 * replaced.
 */
TEST(file_of_killed_recorder_is_kept)
{
	char *path = strdup(scratch("killed")), *partial = strdup(scratch("killed.partial"));
	struct trace_file *f;
	bool replaced;
	char name[40], text[40];
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	for (int i = 1; i <= 11; i++) {
		snprintf(text, sizeof(text), "left by recorder %d", i);
		write_file(partial, text);
		f = open_file(path);
		snprintf(name, sizeof(name), "killed.partial.%d", i < 10 ? i : i == 10 ? 7 : 3);
		assert_string_equal(trace_file__kept(f, &replaced), name);
		assert_int_equal(replaced, i >= 10);
		assert_content(scratch(name), text);
		assert_content(partial, "");
		if (i == 9)
			assert_int_equal(utimensat(AT_FDCWD, scratch("killed.partial.7"), old, 0),
					 0);
		old[1].tv_sec = 2000;
		if (i == 10)
			assert_int_equal(utimensat(AT_FDCWD, scratch("killed.partial.3"), old, 0),
					 0);
		trace_file__destroy(f);
		assert_absent(partial);
	}
	write_file(partial, ""); /* nothing is lost with it */
	f = open_file(path);
	assert_null(trace_file__kept(f, &replaced));
	trace_file__destroy(f);
	assert_absent(scratch("killed.partial.10"));
	free(path);
	free(partial);
}

TEST(only_the_same_kind_is_replaced)
{
	static const struct {
		enum file_kind kind;
		const char *text;
		bool fits;
	} files[] = {
		{ FILE_TRACE, "go 1.22 is out\n", false },
		{ FILE_TRACE, "", true },
		{ FILE_TRACE, "GOTRRAW", false },
		{ FILE_ANY, "notes", true },
		{ FILE_RAW, "GOTRRAW", true },
		{ FILE_RAW, "#!/bin/sh\n", false },
		{ FILE_INDEX, "gotrace index 1\n", true },
		{ FILE_INDEX, "index", false },
		{ FILE_PACKED, "gotrace pack 1\n", true },
		{ FILE_PACKED, "gotrace index 1\n", false },
		{ FILE_TEXT, "Trace Go1.25\n", true },
		{ FILE_TEXT, "{}", false },
		{ FILE_STATS, "{\n  \"events\": 1,\n", true },
		{ FILE_STATS, "{\n  \"name\": 1,\n", false },
		{ FILE_DESCRIPTION, "61 events, minor version 0\n", true },
		{ FILE_DESCRIPTION, "61 events\n", false },
	};
	static const char trace[16] = "go 1.25 trace";
	char *path = strdup(scratch("kind"));
	struct trace_file *f = NULL;
	FILE *file;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		write_file(path, files[i].text);
		assert_int_equal(trace_file__open(&f, path, files[i].kind),
				 files[i].fits ? 0 : -EMEDIUMTYPE);
		assert_content(path, files[i].text);
		if (files[i].fits)
			trace_file__destroy(f);
		assert_absent(scratch("kind.partial"));
	}
	file = fopen(path, "w");
	fwrite(trace, 1, sizeof(trace), file);
	fclose(file);
	assert_int_equal(trace_file__open(&f, path, FILE_TRACE), 0);
	trace_file__destroy(f);
	free(path);
}

/* A link in a directory like /tmp, as root: one of another user is not followed. */
TEST(planted_links_are_rejected)
{
	const uid_t other = 65534;
	struct trace_file *f = NULL;
	struct stat st;

	if (geteuid())
		skip();
	assert_int_equal(mkdir(scratch("tmp"), 0700), 0);
	assert_int_equal(mkdir(scratch("sub"), 0700), 0);
	assert_int_equal(chmod(scratch("tmp"), 01777), 0);
	write_file(scratch("victim"), "precious");
	assert_int_equal(symlink("../victim", scratch("tmp/file")), 0);
	assert_int_equal(symlink("../none", scratch("tmp/absent")), 0);
	assert_int_equal(symlink("../sub", scratch("tmp/dir")), 0);
	assert_int_equal(symlink("/dev/full", scratch("tmp/device")), 0);
	assert_int_equal(trace_file__open(&f, scratch("tmp/file"), FILE_ANY), 0); /* our own */
	trace_file__destroy(f);
	for (const char **name =
		     (const char *[]){ "tmp/file", "tmp/absent", "tmp/dir", "tmp/device", NULL };
	     *name; name++)
		assert_int_equal(lchown(scratch(*name), other, other), 0);
	f = NULL;
	assert_int_equal(trace_file__open(&f, scratch("tmp/file"), FILE_ANY), -ENOLINK);
	assert_int_equal(trace_file__open(&f, scratch("tmp/absent"), FILE_ANY), -ENOLINK);
	assert_int_equal(trace_file__open(&f, scratch("tmp/dir/trace"), FILE_ANY), -ENOLINK);
	assert_int_equal(trace_file__open(&f, scratch("tmp/device"), FILE_ANY), -ENOLINK);
	assert_null(f);
	assert_content(scratch("victim"), "precious");
	assert_absent(scratch("victim.partial"));
	assert_absent(scratch("none.partial"));
	assert_absent(scratch("sub/trace.partial"));
	assert_int_equal(chown(scratch("tmp"), other, other), 0); /* the directory's owner may */
	assert_int_equal(trace_file__open(&f, scratch("tmp/dir/trace"), FILE_ANY), 0);
	assert_int_equal(lstat(scratch("sub/trace.partial"), &st), 0);
	trace_file__destroy(f);
	assert_int_equal(chmod(scratch("tmp"), 0755), 0);
	assert_int_equal(chown(scratch("tmp"), 0, 0), 0);
	assert_int_equal(trace_file__open(&f, scratch("tmp/file"), FILE_ANY),
			 0); /* no other user can write there */
	trace_file__destroy(f);
}

/* A process that could write to an earlier .partial cannot write to the new one. */
TEST(partial_is_a_new_file)
{
	const char *path = scratch("new-one"), *partial = scratch("new-one.partial");
	struct trace_file *f;
	struct stat st;
	int fd;

	fd = open(partial, O_RDWR | O_CREAT, 0666);
	assert_int_equal(write(fd, "theirs", 6), 6);
	f = open_file(path);
	assert_int_equal(write(fd, "written later", 13), 13);
	assert_int_equal(trace_file__append(f, "ours", 4), 0);
	assert_content(partial, "ours");
	assert_int_equal(stat(partial, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_nlink, 1);
	trace_file__destroy(f);
	close(fd);
}

TEST(links_in_proc)
{
	struct trace_file *f;
	char path[60];
	int fds[2], dir;

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	f = open_file(path);
	assert_int_equal(trace_file__append(f, "abc", 3), 0);
	trace_file__destroy(f);
	assert_int_equal(read(fds[0], path, sizeof(path)), 3);
	close(fds[0]);
	close(fds[1]);
	dir = open(scratch_dir(), O_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/by-proc", dir);
	f = open_file(path);
	assert_int_equal(trace_file__append(f, "abc", 3), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	close(dir);
	assert_content(scratch("by-proc"), "abc");
}

TEST(append_vectors)
{
	const char *path = scratch("vectors");
	static char data[3000];
	struct iovec iov[3000];
	struct trace_file *f = open_file(path);
	struct bytes b;
	int i;

	for (i = 0; i < 3000; i++) {
		data[i] = i * 31;
		iov[i] = (struct iovec){ data + i, i % 7 ? 1 : 0 };
	}
	assert_int_equal(trace_file__appendv(f, iov, 3000), 0);
	assert_int_equal(trace_file__appendv(f, iov, 0), 0);
	assert_int_equal(trace_file__commit(f), 0);
	b = bytes__read(path);
	assert_int_equal(b.len, 3000 - 429);
	assert_int_equal(b.len, trace_file__size(f));
	for (i = 0; i < 3000; i++)
		if (i % 7)
			assert_int_equal(bytes__u8(&b), (uint8_t)data[i]);
	free(b.data);
	trace_file__destroy(f);
}

TEST(open_errors)
{
	struct trace_file *f = NULL;

	assert_int_equal(trace_file__open(&f, scratch("no/such/dir"), FILE_ANY), -ENOENT);
	assert_int_equal(trace_file__open(&f, "", FILE_ANY), -ENOENT);
	assert_int_equal(trace_file__open(&f, scratch_dir(), FILE_ANY), -EISDIR);
	assert_int_equal(trace_file__open(&f, scratch("new/"), FILE_ANY), -EISDIR);
	assert_int_equal(trace_file__open(&f, ".", FILE_ANY), -EISDIR);
	write_file(scratch("afile"), "x");
	assert_int_equal(trace_file__open(&f, scratch("afile/below"), FILE_ANY), -ENOTDIR);
	assert_int_equal(mkdir(scratch("dir.partial"), 0700), 0);
	assert_int_equal(trace_file__open(&f, scratch("dir"), FILE_ANY), -EEXIST);
	assert_int_equal(mkfifo(scratch("fifo.partial"), 0600), 0);
	assert_int_equal(trace_file__open(&f, scratch("fifo"), FILE_ANY), -EEXIST);
	assert_int_equal(symlink("elsewhere", scratch("link.partial")), 0);
	assert_int_equal(trace_file__open(&f, scratch("link"), FILE_ANY), -EEXIST);
	assert_absent(scratch("elsewhere"));
	assert_int_equal(symlink("loop", scratch("loop")), 0);
	assert_int_equal(trace_file__open(&f, scratch("loop"), FILE_ANY), -ELOOP);
	assert_null(f);
}

TEST(two_recorders)
{
	const char *path = scratch("two");
	struct trace_file *one = open_file(path), *two = NULL;

	assert_int_equal(trace_file__append(one, "one", 3), 0);
	assert_int_equal(trace_file__open(&two, path, FILE_ANY), -EBUSY);
	assert_content(scratch("two.partial"), "one");
	assert_int_equal(trace_file__commit(one), 0);
	two = open_file(path); /* the name is free again, although the first file is still open */
	trace_file__destroy(one);
	assert_int_equal(trace_file__append(two, "two", 3), 0);
	assert_content(path, "one");
	assert_int_equal(trace_file__commit(two), 0);
	trace_file__destroy(two);
	assert_content(path, "two");
}

TEST(links_are_followed)
{
	struct trace_file *f;
	struct stat st;

	assert_int_equal(mkdir(scratch("real"), 0700), 0);
	write_file(scratch("real/file"), "old");
	assert_int_equal(symlink("real/file", scratch("to-file")), 0);
	assert_int_equal(symlink("to-file", scratch("to-link")), 0);
	assert_int_equal(symlink("real/none", scratch("to-none")), 0);
	f = open_file(scratch("to-link"));
	assert_content(scratch("real/file.partial"), "");
	assert_int_equal(trace_file__append(f, "new", 3), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(scratch("real/file"), "new");
	assert_int_equal(lstat(scratch("to-file"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	f = open_file(scratch("to-none"));
	assert_int_equal(trace_file__append(f, "n", 1), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(scratch("real/none"), "n");
}

TEST(link_to_another_directory)
{
	char cwd[4096];
	struct trace_file *f;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(scratch_dir()), 0);
	f = open_file("relative");
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(trace_file__append(f, "r", 1), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(scratch("relative"), "r");
}

TEST(devices_are_written_directly)
{
	struct trace_file *f = open_file("/dev/full");
	struct stat st;

	assert_int_equal(trace_file__append(f, "x", 1), -ENOSPC);
	assert_int_equal(trace_file__size(f), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	f = open_file("/dev/null");
	assert_int_equal(trace_file__append(f, "x", 1), 0);
	trace_file__destroy(f);
	assert_absent("/dev/full.partial");
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void drain_pipe(int fd, size_t want)
{
	char buf[70000];
	ssize_t n;

	usleep(50000); /* let the writer find a full pipe */
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		want -= n;
	_exit(n < 0 || want);
}

TEST(slow_pipe)
{
	static char data[1000000];
	struct trace_file *f;
	int fds[2], status, saved = dup(1);
	pid_t pid;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	fcntl(fds[0], F_SETFL, 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		drain_pipe(fds[0], sizeof(data));
	}
	dup2(fds[1], 1);
	f = open_file("-");
	dup2(saved, 1);
	close(saved);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(trace_file__append(f, data, sizeof(data)), 0);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(closed_pipe_is_an_error)
{
	struct trace_file *f;
	int fd;

	assert_int_equal(mkfifo(scratch("pipe"), 0600), 0);
	fd = open(scratch("pipe"), O_RDONLY | O_NONBLOCK);
	f = open_file(scratch("pipe"));
	assert_absent(scratch("pipe.partial"));
	close(fd);
	assert_int_equal(trace_file__append(f, "x", 1), -EPIPE);
	trace_file__destroy(f);
}

/* A limit on the file size replaces a full disk: this needs neither a disk nor root. */
TEST(full_disk_keeps_whole_appends)
{
	static char data[100000];
	const char *path = scratch("full");
	struct rlimit limit, small;
	struct trace_file *f;
	struct iovec iov[] = { { data, 1 }, { data, 3000 }, { data, 90000 } };
	struct bytes b;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 10000;
	memset(data, 'd', sizeof(data));
	f = open_file(path);
	assert_int_equal(trace_file__append(f, "first", 5), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(trace_file__appendv(f, iov, 3), -EFBIG);
	assert_int_equal(trace_file__size(f), 5);
	assert_int_equal(trace_file__append(f, " second", 7), 0);
	assert_int_equal(trace_file__append(f, data, sizeof(data)), -EFBIG);
	assert_int_equal(trace_file__commit(f), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	trace_file__destroy(f);
	assert_content(path, "first second");
	b = bytes__read(path);
	assert_int_equal(b.len, 12);
	free(b.data);
}

TEST(stdout_in_the_middle_of_a_file)
{
	const char *path = scratch("stdout");
	static char data[100000];
	struct rlimit limit, small;
	struct trace_file *f;
	int fd, saved = dup(1);

	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "before ", 7), 7);
	dup2(fd, 1);
	f = open_file("-");
	dup2(saved, 1);
	close(saved);
	close(fd);
	assert_int_equal(trace_file__append(f, "trace", 5), 0);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(trace_file__append(f, data, sizeof(data)), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	assert_content(path, "before trace");
}

TEST(failed_commit_keeps_partial)
{
	struct trace_file *f = open_file(scratch("target"));

	assert_int_equal(trace_file__append(f, "data", 4), 0);
	assert_int_equal(mkdir(scratch("target"), 0700), 0);
	assert_int_equal(trace_file__commit(f), -EISDIR);
	trace_file__destroy(f);
	assert_content(scratch("target.partial"), "data");
}

static void prepare(void)
{
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

GROUP(prepare, NULL)

// SPDX-License-Identifier: GPL-2.0
/* The output file: what stands at PATH and PATH.partial, when, and after which failure. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace_bytes.h"
#include "trace/file.h"

static struct trace_file *open_file(const char *path)
{
	struct trace_file *f = NULL;

	assert_int_equal(trace_file__open(&f, path), 0);
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

static void assert_content(const char *path, const char *text)
{
	struct bytes b = bytes__read(path);

	assert_int_equal(b.len, strlen(text));
	assert_memory_equal(b.data, text, b.len);
	free(b.data);
}

static void assert_absent(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(errno, ENOENT);
}

static void written_beside_and_renamed(void **state)
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
	assert_int_equal(st.st_mode & 0777, 0644);
}

static void kept_until_commit(void **state)
{
	const char *path = scratch("kept"), *partial = scratch("kept.partial");
	struct trace_file *f;

	write_file(path, "old");
	write_file(partial, "left over by a killed recorder");
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

static void vectors(void **state)
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

static void refusals(void **state)
{
	struct trace_file *f = NULL;

	assert_int_equal(trace_file__open(&f, scratch("no/such/dir")), -ENOENT);
	assert_int_equal(trace_file__open(&f, ""), -ENOENT);
	assert_int_equal(trace_file__open(&f, scratch_dir()), -EISDIR);
	assert_int_equal(trace_file__open(&f, scratch("new/")), -EISDIR);
	assert_int_equal(trace_file__open(&f, "."), -EISDIR);
	write_file(scratch("afile"), "x");
	assert_int_equal(trace_file__open(&f, scratch("afile/below")), -ENOTDIR);
	assert_int_equal(mkdir(scratch("dir.partial"), 0700), 0);
	assert_int_equal(trace_file__open(&f, scratch("dir")), -EEXIST);
	assert_int_equal(mkfifo(scratch("fifo.partial"), 0600), 0);
	assert_int_equal(trace_file__open(&f, scratch("fifo")), -EEXIST);
	assert_int_equal(symlink("elsewhere", scratch("link.partial")), 0);
	assert_int_equal(trace_file__open(&f, scratch("link")), -EEXIST);
	assert_absent(scratch("elsewhere"));
	assert_int_equal(symlink("loop", scratch("loop")), 0);
	assert_int_equal(trace_file__open(&f, scratch("loop")), -ELOOP);
	assert_null(f);
}

static void two_recorders(void **state)
{
	const char *path = scratch("two");
	struct trace_file *one = open_file(path), *two = NULL;

	assert_int_equal(trace_file__append(one, "one", 3), 0);
	assert_int_equal(trace_file__open(&two, path), -EBUSY);
	assert_content(scratch("two.partial"), "one");
	assert_int_equal(trace_file__commit(one), 0);
	two = open_file(path); /* the name is free again, though the first is not closed */
	trace_file__destroy(one);
	assert_int_equal(trace_file__append(two, "two", 3), 0);
	assert_content(path, "one");
	assert_int_equal(trace_file__commit(two), 0);
	trace_file__destroy(two);
	assert_content(path, "two");
}

static void links_are_followed(void **state)
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

static void the_directory_may_be_elsewhere(void **state)
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

static void devices_are_written_directly(void **state)
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

	usleep(50000); /* let the writer meet a full pipe first */
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		want -= n;
	_exit(n < 0 || want);
}

static void pipes_take_their_time(void **state)
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

static void a_broken_pipe_is_an_error(void **state)
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

/* A limit on the file's size stands for a full disk: it needs no disk and no root. */
static void a_full_disk_keeps_what_was_whole(void **state)
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

static void stdout_in_the_midst_of_a_file(void **state)
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

static void a_failed_commit_keeps_the_partial(void **state)
{
	struct trace_file *f = open_file(scratch("target"));

	assert_int_equal(trace_file__append(f, "data", 4), 0);
	assert_int_equal(mkdir(scratch("target"), 0700), 0);
	assert_int_equal(trace_file__commit(f), -EISDIR);
	trace_file__destroy(f);
	assert_content(scratch("target.partial"), "data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_beside_and_renamed),
		cmocka_unit_test(kept_until_commit),
		cmocka_unit_test(vectors),
		cmocka_unit_test(refusals),
		cmocka_unit_test(two_recorders),
		cmocka_unit_test(links_are_followed),
		cmocka_unit_test(the_directory_may_be_elsewhere),
		cmocka_unit_test(devices_are_written_directly),
		cmocka_unit_test(pipes_take_their_time),
		cmocka_unit_test(a_broken_pipe_is_an_error),
		cmocka_unit_test(a_full_disk_keeps_what_was_whole),
		cmocka_unit_test(stdout_in_the_midst_of_a_file),
		cmocka_unit_test(a_failed_commit_keeps_the_partial),
	};

	umask(022);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, scratch_remove);
}

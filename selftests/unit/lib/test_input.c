// SPDX-License-Identifier: GPL-2.0
/* The input: the same bytes whatever they come from, and what is said when they don't come. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

#include "unit/test.h"
#include "lib/input.h"
#include "unit/trace_bytes.h"

#define LONG (3 * INPUT_WINDOW + 12345) /* more than any buffer of the input */

struct piece {
	unsigned char *data;
	size_t len;
};

typedef struct piece packer(const unsigned char *data, size_t len);

/* Bytes that packers make smaller, but not to nothing. */
static const unsigned char *model(void)
{
	static unsigned char bytes[LONG];
	uint32_t random = 1;

	for (size_t i = 0; !bytes[0] && i < LONG; i++) {
		random = random * 1664525 + 1013904223;
		bytes[LONG - 1 - i] = 'a' + (random >> 28);
	}
	return bytes;
}

static struct piece gzip(const unsigned char *data, size_t len)
{
	struct piece p = { malloc(len + 1000) };
	z_stream z = { .next_in = (unsigned char *)data, .avail_in = (unsigned int)len };

	z.next_out = p.data;
	z.avail_out = (unsigned int)len + 1000;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	p.len = z.total_out;
	deflateEnd(&z);
	return p;
}

static struct piece zstd(const unsigned char *data, size_t len)
{
	struct piece p = { malloc(ZSTD_compressBound(len)) };

	p.len = ZSTD_compress(p.data, ZSTD_compressBound(len), data, len, 1);
	assert_false(ZSTD_isError(p.len));
	return p;
}

/* A frame that is skipped, and then the zstd of it: as parallel packers begin. */
static struct piece zstd_skip(const unsigned char *data, size_t len)
{
	struct piece p = zstd(data, len), all = { malloc(p.len + 11), p.len + 11 };

	memcpy(all.data, "\x50\x2a\x4d\x18\x03\0\0\0xyz", 11);
	memcpy(all.data + 11, p.data, p.len);
	free(p.data);
	return all;
}

static struct piece plain(const unsigned char *data, size_t len)
{
	struct piece p = { malloc(len + 1), len };

	memcpy(p.data, data, len);
	return p;
}

static packer *const packers[] = { plain, gzip, zstd, zstd_skip };
#define NPACKERS (sizeof(packers) / sizeof(*packers))

static struct piece join(struct piece a, struct piece b)
{
	a.data = realloc(a.data, a.len + b.len);
	memcpy(a.data + a.len, b.data, b.len);
	free(b.data);
	return (struct piece){ a.data, a.len + b.len };
}

static const char *write_file(const char *name, struct piece p)
{
	const char *path = scratch(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	if (p.len)
		assert_int_equal(fwrite(p.data, 1, p.len, f), p.len);
	fclose(f);
	return path;
}

/* A child that writes to what the input reads, `step` bytes at a time. Its PID. */
static pid_t feed(int fd, struct piece p, size_t step, unsigned int pause_us)
{
	pid_t pid = fork();

	if (pid) {
		close(fd);
		return pid;
	}
	for (size_t at = 0, n; at < p.len; at += n) {
		n = step < p.len - at ? step : p.len - at;
		if (write(fd, p.data + at, n) != (ssize_t)n)
			_exit(1);
		usleep(pause_us);
	}
	_exit(0);
}

static void assert_fed(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static struct input *open_path(const char *path)
{
	struct error err = {};
	struct input *in = NULL;

	assert_int_equal(input__open(&in, path, &err), 0);
	assert_string_equal(err.text, "");
	return in;
}

static struct input *open_memory(struct piece p)
{
	struct input *in = NULL;

	assert_int_equal(input__open_memory(&in, p.data, p.len, NULL), 0);
	return in;
}

static void assert_ended(struct input *in, uint64_t offset)
{
	const unsigned char *data;
	size_t len = 1;

	assert_int_equal(input__need(in, 1, &data, &len, NULL), 0);
	assert_int_equal(len, 0);
	assert_int_equal(input__offset(in), offset);
}

/* Reads it to the end, by wants of every size, and drops less than was asked for, or more. */
static void assert_reads(struct input *in, const unsigned char *want, size_t len)
{
	size_t at = input__offset(in), ask = 1, have, drop;
	const unsigned char *data;

	while (at < len) {
		assert_int_equal(input__need(in, ask, &data, &have, NULL), 0);
		assert_int_equal(input__offset(in), at);
		if (len - at >= ask)
			assert_in_range(have, ask, len - at);
		else
			assert_int_equal(have, len - at);
		assert_memory_equal(data, want + at, have);
		drop = ask % 3 || have < ask ? have - have / 4 : ask;
		input__consume(in, drop);
		at += drop;
		ask = ask * 7 / 2 % INPUT_WINDOW + 1;
	}
	assert_ended(in, len);
}

TEST(same_from_memory_and_file)
{
	const char *path;
	struct input *in;

	for (size_t i = 0; i < NPACKERS; i++) {
		struct piece p = packers[i](model(), LONG);

		in = open_memory(p);
		assert_reads(in, model(), LONG);
		input__destroy(in);
		path = write_file("long", p);
		in = open_path(path);
		assert_string_equal(input__name(in), path);
		assert_reads(in, model(), LONG);
		assert_int_equal(input__seekable(in), packers[i] == plain);
		assert_int_equal(input__size(in), packers[i] == plain ? LONG : 0);
		input__destroy(in);
		free(p.data);
	}
}

TEST(whole_window)
{
	struct piece p = gzip(model(), LONG);
	struct input *in = open_memory(p);
	const unsigned char *data;
	size_t len;

	for (size_t at = 0; at + INPUT_WINDOW < LONG; at += 99991) {
		assert_int_equal(input__need(in, INPUT_WINDOW, &data, &len, NULL), 0);
		assert_in_range(len, INPUT_WINDOW, LONG);
		assert_memory_equal(data, model() + at, INPUT_WINDOW);
		input__consume(in, 99991);
	}
	input__destroy(in);
	free(p.data);
}

TEST(nothing)
{
	struct input *in = open_path(write_file("empty", (struct piece){}));

	assert_ended(in, 0);
	assert_ended(in, 0);
	assert_true(input__seekable(in));
	input__destroy(in);
	in = open_memory((struct piece){});
	assert_ended(in, 0);
	input__destroy(in);
	for (size_t i = 1; i < NPACKERS; i++) {
		struct piece p = packers[i](model(), 0);

		in = open_memory(p);
		assert_ended(in, 0);
		input__destroy(in);
		free(p.data);
	}
}

/* The input reads a pipe by its name in /dev/fd, or as its stdin. */
static void through_pipe(packer *pack, size_t len, size_t step, bool as_stdin)
{
	struct piece p = pack(model(), len);
	char path[32] = "-";
	int fds[2], kept = dup(STDIN_FILENO);
	struct input *in;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC | (as_stdin ? O_NONBLOCK : 0)), 0);
	fcntl(fds[1], F_SETFL, 0);
	pid = feed(fds[1], p, step, 0);
	if (as_stdin)
		dup2(fds[0], STDIN_FILENO);
	else
		snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	in = open_path(path);
	assert_string_equal(input__name(in), as_stdin ? "stdin" : path);
	assert_false(input__seekable(in));
	assert_int_equal(input__seek(in, 0, NULL), -ESPIPE);
	assert_reads(in, model(), len);
	input__destroy(in);
	assert_fed(pid);
	dup2(kept, STDIN_FILENO);
	close(kept);
	close(fds[0]);
	free(p.data);
}

TEST(pipes)
{
	for (size_t i = 0; i < NPACKERS; i++) {
		through_pipe(packers[i], 1500, 1, false);
		through_pipe(packers[i], 1500, 1, true);
		through_pipe(packers[i], LONG, 40000, true);
	}
}

static void no_restart(int sig)
{
}

TEST(interrupted_reads)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = {};
	struct sigaction sa = { .sa_handler = no_restart };
	struct piece p = zstd(model(), 300);
	struct input *in;
	char path[32];
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = feed(fds[1], p, 40, 5000);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	in = open_path(path);
	assert_reads(in, model(), 300);
	setitimer(ITIMER_REAL, &never, NULL);
	input__destroy(in);
	assert_fed(pid);
	close(fds[0]);
	free(p.data);
}

TEST(fifo)
{
	struct piece p = gzip(model(), LONG);
	const char *path = scratch("fifo");
	struct input *in;
	pid_t pid;

	assert_int_equal(mkfifo(path, 0600), 0);
	pid = fork();
	if (!pid) {
		int fd = open(path, O_WRONLY);

		_exit(write(fd, p.data, p.len) != (ssize_t)p.len);
	}
	in = open_path(path);
	assert_reads(in, model(), LONG);
	input__destroy(in);
	assert_fed(pid);
	free(p.data);
}

/* stdin that somebody has read a part of: the rest of it is all there is. */
TEST(stdin_in_the_middle)
{
	const char *path = write_file("middle", (struct piece){ (unsigned char *)model(), 1000 });
	int kept = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
	struct input *in;

	assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
	dup2(fd, STDIN_FILENO);
	close(fd);
	in = open_path("-");
	assert_false(input__seekable(in));
	assert_reads(in, model() + 100, 900);
	input__destroy(in);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

TEST(several_streams)
{
	for (size_t i = 1; i < NPACKERS; i++) {
		struct piece p = packers[i](model(), 70000);
		struct input *in;

		p = join(p, packers[i](model(), 0));
		p = join(p, packers[i](model() + 70000, LONG - 70000));
		in = open_path(write_file("several", p));
		assert_reads(in, model(), LONG);
		input__destroy(in);
		free(p.data);
	}
}

/*
 * Reads what there is, at least `good` bytes as they were packed; the failure comes only behind
 * them, stays, and says `why`.
 */
static void assert_fails(struct piece p, size_t good, const char *why)
{
	const unsigned char *data;
	struct error err = {};
	struct input *in = NULL;
	size_t at = 0, len;
	int code;

	code = input__open_memory(&in, p.data, p.len, &err);
	while (!code) {
		code = input__need(in, 1, &data, &len, &err);
		if (code)
			break;
		assert_int_not_equal(len, 0);
		if (at < good)
			assert_memory_equal(data, model() + at, at + len < good ? len : good - at);
		input__consume(in, len);
		at += len;
	}
	assert_int_equal(code, -EBADMSG);
	assert_non_null(strstr(err.text, why));
	assert_true(at >= good);
	if (in)
		assert_int_equal(input__need(in, 1, &data, &len, NULL), -EBADMSG);
	input__destroy(in);
}

TEST(cut_streams)
{
	for (size_t i = 1; i < NPACKERS; i++) {
		struct piece p = packers[i](model(), LONG);
		size_t whole = p.len;

		for (p.len = whole - 1; p.len > whole - 12; p.len--)
			assert_fails(p, LONG - INPUT_WINDOW, " data, at byte");
		for (p.len = whole / 2; p.len > 11; p.len /= 2)
			assert_fails(p, p.len > 400000 ? 400000 : 0, " data, at byte");
		free(p.data);
	}
}

TEST(broken_streams)
{
	for (size_t i = 1; i < NPACKERS; i++) {
		struct piece p = packers[i](model(), LONG), tail = plain((const void *)"tail", 4);

		p.data[p.len - 3] ^= 1; /* of a length or of a checksum, or of the data */
		if (packers[i] == gzip)
			assert_fails(p, LONG - INPUT_WINDOW, "corrupt gzip data at byte");
		p.data[p.len - 3] ^= 1;
		p = join(p, tail);
		assert_fails(p, LONG, " data at byte");
		memset(p.data + p.len / 2, 0xff, 200);
		assert_fails(p, 300000, " data at byte");
		free(p.data);
	}
}

/* A frame of three bytes that asks for 2 GiB to look back into. */
TEST(greedy_frame)
{
	static unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0 };

	assert_fails((struct piece){ frame, sizeof(frame) }, 0, "too much memory");
}

TEST(seeks)
{
	struct piece p = { (unsigned char *)model(), LONG };
	static const size_t to[] = { LONG - 5, 0, 7, 100000, 99999, LONG, 300000, LONG - 100000 };
	struct input *in[] = { open_memory(p), open_path(write_file("seek", p)) };
	const unsigned char *data;
	struct error err = {};
	size_t len;

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < sizeof(to) / sizeof(*to); j++) {
			assert_int_equal(input__seek(in[i], to[j], NULL), 0);
			assert_int_equal(input__offset(in[i]), to[j]);
			assert_int_equal(input__need(in[i], 50, &data, &len, NULL), 0);
			assert_true(len >= 50 || len == LONG - to[j]);
			assert_memory_equal(data, model() + to[j], len);
			input__consume(in[i], len / 2);
		}
		assert_reads(in[i], model(), LONG);
		assert_int_equal(input__seek(in[i], LONG + 10, NULL), 0);
		assert_ended(in[i], LONG + 10);
		assert_int_equal(input__seek(in[i], LONG - 10, NULL), 0);
		assert_reads(in[i], model(), LONG);
	}
	assert_int_equal(input__seek(in[1], UINT64_MAX, &err), -EINVAL);
	assert_non_null(strstr(err.text, "18446744073709551615"));
	input__destroy(in[0]);
	input__destroy(in[1]);
}

/* A program without stdin: the file has its number, and is closed all the same. */
TEST(file_with_the_number_of_stdin)
{
	const char *path = write_file("zero", (struct piece){ (unsigned char *)model(), 10 });
	int kept = dup(STDIN_FILENO), again;
	struct input *in;

	close(STDIN_FILENO);
	in = open_path(path);
	assert_reads(in, model(), 10);
	input__destroy(in);
	again = open(path, O_RDONLY);
	assert_int_equal(again, STDIN_FILENO);
	in = open_path("-");
	assert_reads(in, model(), 10);
	input__destroy(in);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0); /* it is the caller's */
	dup2(kept, STDIN_FILENO);
	close(kept);
}

TEST(refused)
{
	static const struct {
		const char *path;
		int code;
		const char *why;
	} cases[] = {
		{ "", -ENOENT, "empty" },
		{ "/no/such/file", -ENOENT, "/no/such/file: No such file" },
		{ "/tmp", -EISDIR, "/tmp: is a directory" },
		{ "/proc/self/mem", -EIO, "/proc/self/mem: Input/output error" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error err = {};
		struct input *in = NULL;

		assert_int_equal(input__open(&in, cases[i].path, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].why));
		assert_null(in);
	}
}

static uid_t user;

/* Replaces the function of the C library. */
uid_t geteuid(void)
{
	return user;
}

static void assert_denied(const char *path, int err, const char *why)
{
	struct error error = { "" };

	assert_int_equal(input__denied(path, err, &error), err);
	assert_string_equal(error.text, why);
}

TEST(owner_of_what_may_not_be_read)
{
	user = 12345;
	assert_denied(
		"/etc/passwd", -EACCES,
		"/etc/passwd: Permission denied: it belongs to root; run 'sudo chown "
		"\"$USER\" /etc/passwd', or record again with sudo into a directory of yours");
	assert_denied("/proc/self/root/", -EACCES,
		      "/proc/self/root/: Permission denied: it belongs to root; run 'sudo chown "
		      "\"$USER\" /proc/self/root/', or record again with sudo into a directory of "
		      "yours");
	assert_denied("/etc/passwd", -EPERM, "/etc/passwd: Operation not permitted");
	assert_denied("/no/file", -EACCES, "/no/file: Permission denied");
	user = 0;
	assert_denied("/etc/passwd", -EACCES, "/etc/passwd: Permission denied");
}

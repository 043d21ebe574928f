// SPDX-License-Identifier: GPL-2.0
/*
 * Input bytes: see input.h.
 *
 * The window is in a buffer of twice its size, so that its rest is moved to the front only once in
 * many calls. Uncompressed bytes in memory need no buffer: the window is the rest of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/input.h"
#include "lib/progress.h"
#include "lib/unpack.h"

#define BUFFER (2 * INPUT_WINDOW)

struct input {
	char *name;
	int fd;	     /* -1: memory */
	bool own_fd; /* close it: not stdin */
	bool seekable;
	uint64_t size;
	uint64_t position;	     /* in the file, of the next read */
	const unsigned char *memory; /* borrowed; NULL: a file */
	unsigned char *buffer;	     /* of the window; NULL: it is in `memory` */
	const unsigned char *data;   /* the window */
	size_t len;
	uint64_t offset; /* of `data` */
	bool ended;	 /* nothing follows the window */
	int failed;	 /* errno and reason why nothing after the window can be read */
	struct error why;

	struct unpack *unpack;	      /* NULL: not compressed */
	unsigned char *packed_buffer; /* of BUFFER bytes; NULL: compressed bytes are in `memory` */
	const unsigned char *packed;  /* read, but not decompressed yet */
	size_t packed_len;
	uint64_t packed_offset;
	bool packed_ended;
};

/* The number of bytes, 0 at the end, or a negative errno. */
static ssize_t read_some(struct input *in, unsigned char *to, size_t size)
{
	struct pollfd ready = { .fd = in->fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		n = read(in->fd, to, size);
		if (n >= 0) {
			in->position += (uint64_t)n;
			progress__read(in->position, (uint64_t)n);
			return n;
		}
		if (errno == EAGAIN)
			poll(&ready, 1, -1);
		else if (errno != EINTR)
			return error__set(&in->why, -errno, "%s: %s", in->name, strerror(errno));
	}
}

static ssize_t read_packed(struct input *in)
{
	ssize_t n = read_some(in, in->packed_buffer, BUFFER);

	if (n > 0) {
		in->packed = in->packed_buffer;
		in->packed_len = (size_t)n;
	}
	in->packed_ended = n == 0;
	return n;
}

static int unpack_step(struct input *in, struct unpack_io *io)
{
	size_t before = io->in_len;
	const char *why = NULL;
	int err = unpack__step(in->unpack, io, &why);

	in->packed_offset += before - io->in_len;
	in->packed = io->in;
	in->packed_len = io->in_len;
	if (!err)
		return 0;
	return error__set(&in->why, err, "%s: corrupt %s data at byte %llu: %s", in->name,
			  unpack__format(in->unpack), (unsigned long long)in->packed_offset,
			  why ? why : strerror(-err));
}

/* As read_some(). Bytes that precede an error are delivered first. */
static ssize_t unpack_some(struct input *in, unsigned char *to, size_t size)
{
	struct unpack_io io;
	int err;

	for (;;) {
		io = (struct unpack_io){ in->packed, in->packed_len, to, size };
		if (in->packed_len || !unpack__complete(in->unpack)) {
			in->failed = unpack_step(in, &io);
			if (io.out_len < size)
				return (ssize_t)(size - io.out_len);
			if (in->failed)
				return in->failed;
		}
		if (in->packed_len)
			continue;
		if (in->packed_ended && unpack__complete(in->unpack))
			return 0;
		if (in->packed_ended)
			return error__set(&in->why, -EBADMSG, "%s: truncated %s data, at byte %llu",
					  in->name, unpack__format(in->unpack),
					  (unsigned long long)in->packed_offset);
		err = (int)read_packed(in);
		if (err < 0)
			return err;
	}
}

/* Read once more after the window, for which the buffer must have room for `want` bytes. */
static void extend(struct input *in, size_t want)
{
	unsigned char *end;
	ssize_t n;

	if ((size_t)(in->buffer + BUFFER - in->data) < want) {
		memmove(in->buffer, in->data, in->len);
		in->data = in->buffer;
	}
	end = in->buffer + (in->data - in->buffer) + in->len;
	n = in->unpack ? unpack_some(in, end, (size_t)(in->buffer + BUFFER - end)) :
			 read_some(in, end, (size_t)(in->buffer + BUFFER - end));
	if (n < 0)
		in->failed = (int)n;
	else if (n == 0)
		in->ended = true;
	else
		in->len += (size_t)n;
}

int input__need(struct input *in, size_t want, const unsigned char **ret_data, size_t *ret_len,
		struct error *error)
{
	while (in->len < want && !in->ended && !in->failed)
		extend(in, want);
	if (in->len < want && in->failed)
		return error__set(error, in->failed, "%s", in->why.text);
	*ret_data = in->data;
	*ret_len = in->len;
	return 0;
}

void input__consume(struct input *in, size_t len)
{
	in->data += len;
	in->len -= len;
	in->offset += len;
}

static int no_memory(const struct input *in, struct error *error)
{
	return error__set(error, -ENOMEM, "%s: %s", in->name, strerror(ENOMEM));
}

/* The bytes read so far are compressed: move them out of the window. */
static int start_unpacking(struct input *in)
{
	in->packed = in->data;
	in->packed_len = in->len;
	in->packed_ended = in->ended;
	in->packed_buffer = in->buffer;
	in->seekable =
		in->seekable && !in->memory && !unpack__open_file(in->unpack, in->fd, &in->size);
	if (!in->seekable)
		in->size = 0;
	in->buffer = malloc(BUFFER);
	if (!in->buffer)
		return -ENOMEM;
	in->data = in->buffer;
	in->len = 0;
	in->ended = false;
	return 0;
}

static int look_at_magic(struct input *in, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err;

	err = input__need(in, UNPACK_MAGIC, &data, &len, error);
	if (err)
		return err;
	err = unpack__create(&in->unpack, data, len);
	if (!err && in->unpack)
		err = start_unpacking(in);
	return err ? no_memory(in, error) : 0;
}

static int create(struct input **ret, const char *name, struct error *error)
{
	struct input *in = calloc(1, sizeof(*in));

	if (in) {
		in->fd = -1;
		in->name = strdup(name);
	}
	if (!in || !in->name) {
		input__destroy(in);
		return error__set(error, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
	}
	*ret = in;
	return 0;
}

/* If stdin is a file that is positioned in its middle, it is read from there on, like a pipe. */
static int look_at_file(struct input *in, struct error *error)
{
	struct stat st;

	if (fstat(in->fd, &st))
		return error__set(error, -errno, "%s: %s", in->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error__set(error, -EISDIR, "%s: is a directory", in->name);
	if (S_ISREG(st.st_mode)) {
		in->position = (uint64_t)lseek(in->fd, 0, SEEK_CUR);
		in->seekable = in->position == 0;
		progress__begin(in->name, (uint64_t)st.st_size);
	}
	in->size = in->seekable ? (uint64_t)st.st_size : 0;
	in->buffer = malloc(BUFFER);
	if (!in->buffer)
		return no_memory(in, error);
	in->data = in->buffer;
	return look_at_magic(in, error);
}

/* Whether a shell takes the path for one word, and a command for no option. */
static bool is_plain(const char *path)
{
	return path[0] != '-' && !path[strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						    "abcdefghijklmnopqrstuvwxyz"
						    "0123456789_./+:,@%=-")];
}

int input__denied(const char *path, int err, struct error *error)
{
	const char *why = strerror(-err);
	const struct passwd *owner;
	struct stat st;
	char id[20];

	if (err != -EACCES || stat(path, &st) || st.st_uid == geteuid())
		return error__set(error, err, "%s: %s", path, why);
	if (!st.st_uid)
		return error__set(error, err,
				  "%s: %s: it belongs to root; run 'sudo chown \"$USER\" %s', or "
				  "record again with sudo into a directory of yours",
				  path, why, is_plain(path) ? path : "FILE");
	owner = getpwuid(st.st_uid);
	snprintf(id, sizeof(id), "%u", st.st_uid);
	return error__set(
		error, err,
		"%s: %s: it belongs to %s, and its mode is %04o; ask its owner for read access",
		path, why, owner ? owner->pw_name : id, st.st_mode & 07777);
}

/*
 * A trace that does not exist may still be in the making: writer/output_file.c writes PATH.partial
 * and locks it. Without that lock its recorder was killed.
 */
static int no_file(const char *path, int err, struct error *error)
{
	const char *why = "is not finished";
	char partial[PATH_MAX];
	struct stat st;
	int fd;

	if (err != ENOENT || snprintf(partial, sizeof(partial), "%s.partial", path) >= PATH_MAX ||
	    lstat(partial, &st) || !S_ISREG(st.st_mode))
		return input__denied(path, -err, error);
	fd = open(partial, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		why = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK ?
			      "is still being recorded" :
			      "was left by a recorder that was killed";
		close(fd);
	}
	return error__set(error, -err, "%s: %s; %s %s (--lenient reads its intact part)", path,
			  strerror(err), partial, why);
}

int input__open(struct input **ret, const char *path, struct error *error)
{
	bool is_stdin = !strcmp(path, "-");
	struct input *in;
	int err;

	if (!*path)
		return error__set(error, -ENOENT, "the name of the input file is empty");
	err = create(&in, is_stdin ? "stdin" : path, error);
	if (err)
		return err;
	in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	in->own_fd = !is_stdin && in->fd >= 0;
	err = in->fd < 0 ? no_file(path, errno, error) : look_at_file(in, error);
	if (err) {
		input__destroy(in);
		return err;
	}
	*ret = in;
	return 0;
}

int input__open_memory(struct input **ret, const void *data, size_t len, struct error *error)
{
	struct input *in;
	int err;

	err = create(&in, "memory", error);
	if (err)
		return err;
	in->memory = in->data = len ? data : (const void *)"";
	in->len = in->size = len;
	in->seekable = in->ended = true;
	err = look_at_magic(in, error);
	if (err) {
		input__destroy(in);
		return err;
	}
	*ret = in;
	return 0;
}

void input__destroy(struct input *in)
{
	if (!in)
		return;
	if (in->own_fd)
		close(in->fd);
	unpack__destroy(in->unpack);
	free(in->packed_buffer);
	free(in->buffer);
	free(in->name);
	free(in);
}

const char *input__name(const struct input *in)
{
	return in->name;
}

const char *input__format(const struct input *in)
{
	return in->unpack ? unpack__format(in->unpack) : NULL;
}

uint64_t input__offset(const struct input *in)
{
	return in->offset;
}

bool input__seekable(const struct input *in)
{
	return in->seekable;
}

uint64_t input__size(const struct input *in)
{
	return in->size;
}

/* After the end there is nothing. */
static int seek_memory(struct input *in, uint64_t offset)
{
	uint64_t at = offset < in->size ? offset : in->size;

	in->data = in->memory + at;
	in->len = (size_t)(in->size - at);
	in->offset = offset;
	return 0;
}

/* The window becomes empty; what follows it begins at `offset`, in the file at `position`. */
static void restart(struct input *in, uint64_t offset, uint64_t position)
{
	in->data = in->buffer;
	in->len = 0;
	in->offset = offset;
	in->position = position;
	in->ended = false;
	in->failed = 0;
	in->why.text[0] = 0;
}

/* Drops the bytes before `offset`, as far as there are any. */
static int skip_to(struct input *in, uint64_t offset, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err;

	while (in->offset < offset) {
		err = input__need(in, 1, &data, &len, error);
		if (err)
			return err;
		if (!len)
			break;
		input__consume(in, len < offset - in->offset ? len : (size_t)(offset - in->offset));
	}
	in->offset = offset;
	return 0;
}

static int seek_packed(struct input *in, uint64_t offset, struct error *error)
{
	struct unpack_place place;
	const char *why = NULL;
	int err = unpack__seek(in->unpack, in->fd, offset, &place, &why);

	if (!err && lseek(in->fd, (off_t)place.packed, SEEK_SET) < 0)
		err = -errno;
	if (err)
		return error__set(error, err, "%s: cannot seek to byte %llu: %s", in->name,
				  (unsigned long long)offset, why ? why : strerror(-err));
	restart(in, place.plain, place.packed);
	in->packed_len = 0;
	in->packed_offset = place.packed;
	in->packed_ended = false;
	return skip_to(in, offset, error);
}

int input__seek(struct input *in, uint64_t offset, struct error *error)
{
	if (!in->seekable)
		return error__set(error, -ESPIPE,
				  "%s: cannot seek: the input can only be read from start to end",
				  in->name);
	if (in->memory)
		return seek_memory(in, offset);
	if (offset >= in->offset && offset - in->offset <= in->len) {
		input__consume(in, (size_t)(offset - in->offset));
		return 0;
	}
	if (in->unpack)
		return seek_packed(in, offset, error);
	if (offset > INT64_MAX || lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
		return error__set(error, -EINVAL, "%s: cannot seek to byte %llu", in->name,
				  (unsigned long long)offset);
	restart(in, offset, offset);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Decompression: see unpack.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "lib/unpack.h"

#define GZIP_ONLY      (16 + MAX_WBITS) /* for inflateInit2(): no zlib header */
#define ZSTD_LOOK_BACK 27		/* log2 of bytes */

struct unpack {
	ZSTD_DStream *zstd; /* NULL: gzip, or the added format */
	void *added;	    /* context of the added format; NULL: another */
	z_stream gzip;
	bool complete;
};

static const struct unpack_format *added_format;

void unpack__add_format(const struct unpack_format *format)
{
	added_format = format;
}

static bool is_added(const unsigned char *magic, size_t len)
{
	return added_format && len >= added_format->magic_len &&
	       !memcmp(magic, added_format->magic, added_format->magic_len);
}

static bool is_gzip(const unsigned char *magic, size_t len)
{
	return len >= 2 && !memcmp(magic, "\x1f\x8b", 2);
}

/* A frame, or a skippable frame: parallel compressors begin a file with one. */
static bool is_zstd(const unsigned char *magic, size_t len)
{
	return len >= 4 && (!memcmp(magic, "\x28\xb5\x2f\xfd", 4) ||
			    ((magic[0] & 0xf0) == 0x50 && !memcmp(magic + 1, "\x2a\x4d\x18", 3)));
}

static bool start(struct unpack *u, bool zstd, bool added)
{
	if (added) {
		u->added = added_format->create();
		return u->added;
	}
	if (!zstd)
		return inflateInit2(&u->gzip, GZIP_ONLY) == Z_OK;
	u->zstd = ZSTD_createDStream();
	return u->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_LOOK_BACK));
}

int unpack__create(struct unpack **ret, const unsigned char *magic, size_t len)
{
	bool zstd = is_zstd(magic, len), added = is_added(magic, len);
	struct unpack *u;

	if (!zstd && !added && !is_gzip(magic, len)) {
		*ret = NULL;
		return 0;
	}
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	if (!start(u, zstd, added)) {
		ZSTD_freeDStream(u->zstd);
		free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void unpack__destroy(struct unpack *u)
{
	if (!u)
		return;
	if (u->added)
		added_format->destroy(u->added);
	else if (u->zstd)
		ZSTD_freeDStream(u->zstd);
	else
		inflateEnd(&u->gzip);
	free(u);
}

const char *unpack__format(const struct unpack *u)
{
	return u->added ? added_format->name : u->zstd ? "zstd" : "gzip";
}

bool unpack__complete(const struct unpack *u)
{
	return u->complete;
}

static unsigned int clamp(size_t len) /* zlib counts in 32 bits */
{
	return len < UINT_MAX ? (unsigned int)len : UINT_MAX;
}

static int step_gzip(struct unpack *u, struct unpack_io *io, const char **ret_why)
{
	unsigned int in_len = clamp(io->in_len), out_len = clamp(io->out_len);
	int err;

	if (u->complete) /* another stream follows */
		inflateReset(&u->gzip);
	u->gzip.next_in = (unsigned char *)io->in;
	u->gzip.avail_in = in_len;
	u->gzip.next_out = io->out;
	u->gzip.avail_out = out_len;
	err = inflate(&u->gzip, Z_NO_FLUSH);
	io->in += in_len - u->gzip.avail_in;
	io->in_len -= in_len - u->gzip.avail_in;
	io->out += out_len - u->gzip.avail_out;
	io->out_len -= out_len - u->gzip.avail_out;
	u->complete = err == Z_STREAM_END;
	if (err == Z_OK || err == Z_STREAM_END || err == Z_BUF_ERROR)
		return 0;
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	*ret_why = u->gzip.msg ? u->gzip.msg : "not a gzip stream";
	return -EBADMSG;
}

static int step_zstd(struct unpack *u, struct unpack_io *io, const char **ret_why)
{
	ZSTD_inBuffer in = { io->in, io->in_len, 0 };
	ZSTD_outBuffer out = { io->out, io->out_len, 0 };
	size_t left = ZSTD_decompressStream(u->zstd, &out, &in);

	io->in += in.pos;
	io->in_len -= in.pos;
	io->out += out.pos;
	io->out_len -= out.pos;
	u->complete = left == 0;
	if (!ZSTD_isError(left))
		return 0;
	if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	*ret_why = ZSTD_getErrorName(left);
	return -EBADMSG;
}

int unpack__step(struct unpack *u, struct unpack_io *io, const char **ret_why)
{
	if (u->added)
		return added_format->step(u->added, io, &u->complete, ret_why);
	return u->zstd ? step_zstd(u, io, ret_why) : step_gzip(u, io, ret_why);
}

int unpack__open_file(struct unpack *u, int fd, uint64_t *ret_size)
{
	return u->added ? added_format->open_file(u->added, fd, ret_size) : -ESPIPE;
}

int unpack__seek(struct unpack *u, int fd, uint64_t offset, struct unpack_place *ret,
		 const char **ret_why)
{
	return added_format->seek(u->added, fd, offset, ret, ret_why);
}

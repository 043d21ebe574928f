// SPDX-License-Identifier: GPL-2.0
/*
 * Compresses what is written to an output buffer: see gzip.h. zlib does the work; lib/input.c is
 * the reading side.
 */
#include "profile/gzip.h"

#include <errno.h>

#define CHUNK	  16384 /* bytes of output per call of zlib */
#define AS_GZIP	  16	/* added to the size of the window: see zlib.h */
#define MEMORY	  8	/* zlib's default */
#define PIECE_MAX (1u << 30)

int gzip__init(struct gzip *g, struct outbuf *out, struct error *error)
{
	*g = (struct gzip){ .out = out };
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + AS_GZIP, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error__set(error, -ENOMEM, "out of memory");
	return 0;
}

void gzip__deinit(struct gzip *g)
{
	deflateEnd(&g->z);
}

/* Until zlib has taken its input and, with Z_FINISH, has written everything. */
static int deflate_all(struct gzip *g, int flush, struct error *error)
{
	int err;

	do {
		err = outbuf__room(g->out, CHUNK, error);
		if (err)
			return err;
		g->z.next_out = (unsigned char *)g->out->data + g->out->len;
		g->z.avail_out = CHUNK;
		deflate(&g->z, flush);
		g->out->len += CHUNK - g->z.avail_out;
	} while (!g->z.avail_out);
	return 0;
}

int gzip__put(struct gzip *g, const void *data, size_t len, struct error *error)
{
	const char *at = data;
	size_t piece;
	int err = 0;

	for (; len && !err; at += piece, len -= piece) {
		piece = len < PIECE_MAX ? len : PIECE_MAX;
		g->z.next_in = (unsigned char *)at;
		g->z.avail_in = (unsigned int)piece;
		err = deflate_all(g, Z_NO_FLUSH, error);
	}
	return err;
}

int gzip__finish(struct gzip *g, struct error *error)
{
	return deflate_all(g, Z_FINISH, error);
}

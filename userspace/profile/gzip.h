/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compresses what is written to an output buffer, in the format of gzip.
 *
 * Between an encoder, such as profile/pprof.c, and the buffer of an output file (lib/outbuf.h). The
 * header has neither a name nor a time, so that equal data is compressed to equal bytes.
 */
#ifndef PROFILE_GZIP_H
#define PROFILE_GZIP_H

#include <zlib.h>

#include "lib/error.h"
#include "lib/outbuf.h"

struct gzip {
	z_stream z;
	struct outbuf *out; /* borrowed */
};

/* These return 0, or a negative errno with the reason. gzip__deinit() in any case. */
int gzip__init(struct gzip *g, struct outbuf *out, struct error *error);
int gzip__put(struct gzip *g, const void *data, size_t len, struct error *error);
int gzip__finish(struct gzip *g, struct error *error); /* there is no more data */
void gzip__deinit(struct gzip *g);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stdio stream in front of an output buffer, for lib/json.h and print/print.h.
 *
 * Upstream: the text formats. Downstream: lib/outbuf.h.
 */
#ifndef EXPORT_STREAM_H
#define EXPORT_STREAM_H

#include <stdio.h>

#include "lib/outbuf.h"

struct stream_file {
	FILE *file;
	struct outbuf *out; /* borrowed */
	struct error error; /* why writing failed */
	int err;
};

int stream_file__open(struct stream_file *s, struct outbuf *out); /* 0 or -ENOMEM */
/* Closes it, after the last byte. 0, or the first error of writing, with the reason. */
int stream_file__close(struct stream_file *s, struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a generation's events name - strings, stacks - and its private strings, until they are
 * written as the generation's tables.
 */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "trace/encode.h"
#include "trace/intern.h"

struct id_set {
	uint64_t *bits;
	uint32_t words;
};

struct tables {
	const struct intern *in;
	struct id_set strings, stacks; /* those named so far */
	uint8_t *private;	       /* pieces: length in 2 bytes, then the bytes */
	size_t private_len, private_cap;
};

void tables__init(struct tables *t, const struct intern *in);
void tables__deinit(struct tables *t);
void tables__reset(struct tables *t); /* nothing named, nothing private */

/* Name an id, 0 included. 0, -ENOMEM, or -EINVAL for one that was never given. */
int tables__add_string(struct tables *t, uint64_t id);
int tables__add_stack(struct tables *t, uint64_t id);
int tables__add_private(struct tables *t, const void *data, size_t len);

/*
 * Writes all that was named, and what that names in turn, into two streams of kind EV_STRINGS and
 * EV_STACKS. 0 or -ENOMEM.
 */
int tables__write(struct tables *t, struct stream *strings, struct stream *stacks);

static inline int id_set__has(const struct id_set *set, uint64_t id)
{
	return id / 64 < set->words && (set->bits[id / 64] >> (id % 64) & 1);
}

#endif

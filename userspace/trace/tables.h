/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a generation's events name - strings, stacks - and its private strings, until they are
 * written as the generation's tables.
 */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "trace/encode.h"
#include "trace/intern.h"

/*
 * Ids of the recording, which only grow, as ids of one generation: 1, 2, ... as they are named. So what
 * events name has ids of one byte, most of it, however long a recording goes on.
 */
struct id_map {
	uint32_t *local; /* by id; 0: not named */
	uint32_t cap;
	uint32_t *named; /* ids, by local id - 1 */
	uint32_t n, named_cap;
};

struct tables {
	const struct intern *in;
	struct id_map strings, stacks; /* those named so far */
	uint8_t *private;	       /* pieces: length in 2 bytes, then the bytes */
	size_t private_len, private_cap;
};

void tables__init(struct tables *t, const struct intern *in);
void tables__deinit(struct tables *t);
void tables__reset(struct tables *t); /* nothing named, nothing private */

/*
 * Names what *id stands for, 0 included, and makes *id the one that it has in this generation. 0,
 * -ENOMEM, or -EINVAL for one that was never given.
 */
int tables__name_string(struct tables *t, uint64_t *id);
int tables__name_stack(struct tables *t, uint64_t *id);
int tables__add_private(struct tables *t, const void *data, size_t len);

/*
 * Writes all that was named, and what that names in turn, into two streams of kind EV_STRINGS and
 * EV_STACKS. 0 or -ENOMEM.
 */
int tables__write(struct tables *t, struct stream *strings, struct stream *stacks);

/* The generation's id of what is named already; 0: it is not. */
static inline uint32_t id_map__get(const struct id_map *map, uint64_t id)
{
	return id < map->cap ? map->local[id] : 0;
}

#endif

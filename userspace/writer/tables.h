/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strings and stacks that a generation's events use, and its private strings, until they are
 * written as tables.
 *
 * Upstream: writer/writer.c. Downstream: format/encode.h.
 */
#ifndef WRITER_TABLES_H
#define WRITER_TABLES_H

#include "format/encode.h"
#include "lib/outbuf.h"
#include "writer/intern.h"

/*
 * Maps ids of the recording, which only grow, to ids of one generation, assigned in the order of
 * first use: 1, 2, ... So most ids in a trace take one byte, however long the recording.
 */
struct id_map {
	uint32_t *local; /* by id; 0: not used */
	uint32_t *used;	 /* ids, by local id - 1 */
	size_t cap, used_cap;
	uint32_t n;
};

struct tables {
	const struct intern *in;
	struct id_map strings, stacks; /* those used so far */
	struct outbuf private;	       /* sequence of: length in 2 bytes, the bytes */
};

void tables__init(struct tables *t, const struct intern *in);
void tables__deinit(struct tables *t);
void tables__reset(struct tables *t); /* removes everything */

/*
 * Add the string or stack *id, unless it is 0, and replace *id by its id in this generation. Return
 * 0, -ENOMEM, or -EINVAL for an id that was never assigned.
 */
int tables__add_string(struct tables *t, uint64_t *id);
int tables__add_stack(struct tables *t, uint64_t *id);
int tables__add_private(struct tables *t, const void *data, size_t len);

/*
 * Writes all entries, and the strings that stacks use, into streams of kind EV_STRINGS and
 * EV_STACKS. Returns 0 or -ENOMEM.
 */
int tables__write(struct tables *t, struct stream *strings, struct stream *stacks);

/* The id in this generation; 0: not used so far. */
static inline uint32_t id_map__get(const struct id_map *map, uint64_t id)
{
	return id < map->cap ? map->local[id] : 0;
}

#endif

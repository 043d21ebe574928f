/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one record alone will ask for, and what came before it: the message of a log, the stack of a
 * CPU sample. Kept until it is asked for, or until that record must have been lost; no more than
 * ONCE_BYTES of it, whatever the program does.
 */
#ifndef SEQUENCE_ONCE_H
#define SEQUENCE_ONCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#define ONCE_BYTES (32u << 20)

struct once {
	struct map map;			/* number -> struct once_item */
	struct once_item *first, *last; /* in the order in which they came */
	size_t bytes, bytes_max;	/* bytes_max 0: ONCE_BYTES */
};

void once__deinit(struct once *o);

/* Copies; a number that comes again takes the place of the older. 0, -ENOMEM, -ENOBUFS: no room. */
int once__put(struct once *o, uint64_t number, uint64_t time, const void *data, size_t len);

/* What was put under the number, until once__drop(); NULL: nothing. */
const void *once__get(const struct once *o, uint64_t number, size_t *ret_len);
void once__drop(struct once *o, uint64_t number);

/* All records up to `time` were taken: what has waited for long waits for a lost one. */
void once__expire(struct once *o, uint64_t time);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data that precedes the one record that refers to it: the message of a log, the stack of a CPU
 * sample. Kept until that record is applied or must have been lost; at most ONCE_BYTES. Upstream:
 * sequencer.c and texts.c. Downstream: texts.c and state_sample.c.
 */
#ifndef SEQUENCE_ONCE_H
#define SEQUENCE_ONCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#define ONCE_BYTES (32u << 20)

struct once {
	struct map map;			/* number -> struct once_item */
	struct once_item *first, *last; /* in order of arrival */
	size_t bytes, bytes_max;	/* bytes_max 0: ONCE_BYTES */
};

void once__deinit(struct once *o);

/* Copies the data; replaces older data of that number. 0, -ENOMEM, -ENOBUFS: limit reached. */
int once__put(struct once *o, uint64_t number, uint64_t time, const void *data, size_t len);

/* The data of the number, valid until once__drop(); NULL: none. */
const void *once__get(const struct once *o, uint64_t number, size_t *ret_len);
void once__drop(struct once *o, uint64_t number);

/* All records up to `time` were applied: drops data whose record must have been lost. */
void once__expire(struct once *o, uint64_t time);

#endif

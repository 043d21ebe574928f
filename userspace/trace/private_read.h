/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads private data back out of a generation's strings.
 *
 * Before it: a generation's dictionary (trace/dictionary.h), as the reader hands it out with an
 * event. After it: the commands that show what the recorder said. The bytes: gotrace-private(5);
 * they may be anyone's, so a record that does not fit together is counted and passed over. Memory: one
 * record of several parts, at most PRIVATE_RECORD_MAX.
 */
#ifndef TRACE_PRIVATE_READ_H
#define TRACE_PRIVATE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "trace/dictionary.h"
#include "trace/private.h"

#define PRIVATE_RECORD_MAX (16u << 20)

struct private_record {
	enum private_kind kind;
	struct buf data; /* valid until the next record is asked for */
};

struct private_reader {
	const struct dictionary *words; /* borrowed */
	size_t at;			/* the next string */
	uint8_t *joined;		/* the parts of a record, put together */
	size_t cap;
	uint64_t records, unknown; /* given out; passed over, of an unknown kind */
	uint64_t bad;		   /* passed over, broken: parts missing, too long, no number */
};

void private_reader__init(struct private_reader *r, const struct dictionary *words);
void private_reader__deinit(struct private_reader *r);

/* The next record of a known kind, in the file's order: 1; 0: there is none; -ENOMEM. */
int private_reader__next(struct private_reader *r, struct private_record *ret);

/*
 * What is in a record's data. Each takes one item: false at the end, and when the bytes are broken;
 * data->bad tells which.
 */
struct private_pair {
	struct trace_string name, value;
};
bool private_read__pair(struct buf *data, struct private_pair *ret); /* PRIVATE_META */
bool private_read__loss(struct buf *data, struct private_loss *ret); /* PRIVATE_LOSSES */

bool private_read__correction(struct buf *data, struct private_correction *ret);

struct private_ticks {
	uint64_t tick_ns;
	uint64_t start_ns; /* of the generation: CLOCK_MONOTONIC */
	uint64_t wall_ns;  /* CLOCK_REALTIME then */
};
bool private_read__ticks(struct buf *data, struct private_ticks *ret); /* PRIVATE_TICKS */

struct description;

/*
 * The event table among a generation's strings (a file's first one has it). 1; 0: there is none;
 * -ENOMEM; -EBADMSG with the reason: it is broken.
 */
int private_read__table(const struct dictionary *words, struct description **ret,
			struct error *err);

#endif

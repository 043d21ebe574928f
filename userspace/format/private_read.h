/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads private data from the strings of a generation.
 *
 * Upstream: the generation's dictionary (format/dictionary.h), which the reader returns with each
 * event. Downstream: reader/timeline.c, align/ and the commands. gotrace-private(5) defines the
 * bytes. They are untrusted: a corrupt record is counted and skipped. Memory: one record, at most
 * PRIVATE_RECORD_MAX.
 */
#ifndef FORMAT_PRIVATE_READ_H
#define FORMAT_PRIVATE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "format/event.h"
#include "format/private.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/outbuf.h"

#define PRIVATE_RECORD_MAX (16u << 20)

struct private_record {
	enum private_kind kind;
	struct buf data; /* valid until the next record is read */
};

struct private_reader {
	const struct dictionary *dictionary; /* borrowed */
	size_t at;			     /* index of the next string */
	struct outbuf joined;		     /* a record of several parts */
	uint64_t records, unknown;	     /* returned; skipped because the kind is unknown */
	uint64_t bad; /* skipped as corrupt: parts missing, too long, invalid number */
};

void private_reader__init(struct private_reader *r, const struct dictionary *dictionary);
void private_reader__deinit(struct private_reader *r);

/* The next record of a known kind in file order. Returns 1, 0 at the end, or -ENOMEM. */
int private_reader__next(struct private_reader *r, struct private_record *ret);

/* The kind of a string, known or not; 0: not private, or corrupt. */
uint64_t private_read__kind(const struct trace_string *s);

/*
 * These decode one entry of a record. They return false at the end and if the bytes are corrupt;
 * data->bad distinguishes the two.
 */
struct private_pair {
	struct trace_string name, value;
};
bool private_read__pair(struct buf *data, struct private_pair *ret); /* PRIVATE_META */
bool private_read__loss(struct buf *data, struct private_loss *ret); /* PRIVATE_LOSSES */
bool private_read__gap(struct buf *data, struct private_gap *ret);   /* PRIVATE_GAPS */

/* PRIVATE_REQUESTS: *ret is the entry before, at first {}. */
bool private_read__request(struct buf *data, struct private_request *ret);

/* PRIVATE_SHORT: adds to the sums in *ret, and sets its minimum to the higher one. */
bool private_read__add_short(struct buf *data, struct private_short *ret);
/* The same for all such records of a generation. Returns 0 or -ENOMEM. */
int private_read__add_short_calls(const struct dictionary *dictionary, struct private_short *ret);

bool private_read__correction(struct buf *data, struct private_correction *ret);

bool private_read__recorded(struct buf *data, struct private_recorded *ret); /* PRIVATE_RECORDED */

/* PRIVATE_PLUGIN: its text is part of the data, up to the end of the record. */
bool private_read__plugin(struct buf *data, struct private_plugin *ret);

bool private_read__host_clock(struct buf *data, struct private_host_clock *ret);

/* PRIVATE_CPU_SAMPLES: sets the period, and adds to the sums in *ret. */
bool private_read__add_cpu_samples(struct buf *data, struct private_cpu_samples *ret);
/*
 * The CPU time that a CPU sample of the generation stands for, in ns; 0: the trace does not contain
 * the rate of its samples. Returns 0 or -ENOMEM.
 */
int private_read__sample_period(const struct dictionary *dictionary, uint64_t *ret);

bool private_read__number(struct buf *data, uint64_t *ret); /* PRIVATE_SAMPLED, PRIVATE_CLOCK */

bool private_read__snapshot(struct buf *data, struct trace_clock *ret);

/* An entry of PRIVATE_STARTS: a goroutine, and the id of a stack in its generation. */
struct private_start {
	uint64_t g, stack;
};
bool private_read__start(struct buf *data, struct private_start *ret);

struct private_ticks {
	uint64_t tick_ns;
	uint64_t start_ns; /* start of the generation, CLOCK_MONOTONIC */
	uint64_t wall_ns;  /* CLOCK_REALTIME at that time */
};
bool private_read__ticks(struct buf *data, struct private_ticks *ret); /* PRIVATE_TICKS */

struct description;

/*
 * The event table in the strings of a file's first generation. Returns 1, 0 if there is none,
 * -ENOMEM, or -EBADMSG with a message if it is corrupt. The caller destroys *ret.
 */
int private_read__table(const struct dictionary *dictionary, struct description **ret,
			struct error *error);

#endif

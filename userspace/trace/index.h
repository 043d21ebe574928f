/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The index of a trace, FILE.idx: where each generation lies in the file, when it was and what is
 * in it, and the scheduler's state at some of them. By it a reader begins at a moment in the
 * middle.
 *
 * Written by index_write.c from what trace/reader.c delivers; read by index.c for `gotrace events`
 * and `gotrace cut`. It may be missing, stale, broken or anyone's: it is only used when it has all
 * its sums right and belongs to the file as it is now (size, time of the last change, a sum of its
 * first and last 64 KiB), and a reader that begins by it checks the trace as always.
 *
 *	"gotrace index 1\n"
 *	states: each the scheduler's (order_save.h); then the functions that goroutines began with:
 *		number of functions; each: PC, line, name (length, bytes), file (length, bytes)
 *		number of goroutines; each: id less the one before it, number of its function
 *	directory: time of the first event, number of generations; each: offset in the trace, its
 *		number, syncs before it, time of the event before it, of its sync, of its first and
 *		its last event (0: it has none), number of events, then of the kinds of them that
 *		occur: how many; each: event type, count; and its state: offset in the index,
 *		length (0: it has none), crc32
 *	end, 52 bytes: directory's offset, length (8 bytes each), crc32 (4), 0 (4); trace's size,
 *		mtime in ns (8 each), crc32 of its ends (4), 0 (4); crc32 of these 48 bytes (4)
 *
 * Numbers are LEB128 except in the end, times as uint64_t. Memory: the directory, and one state.
 */
#ifndef TRACE_INDEX_H
#define TRACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "trace/order.h"
#include "trace/reader.h"
#include "trace/rewrite_origins.h"

struct index;

struct index_count {
	uint64_t n;
	uint8_t type; /* enum ev */
};

struct index_generation {
	struct reader_place place;
	int64_t sync, first, last;	 /* times, ns: of its sync, its first and its last event */
	uint64_t events;		 /* of the file: trace_event__is_of_file() */
	const struct index_count *count; /* by type, those that occur */
	unsigned int counts;
	uint64_t state_offset, state_len; /* state_len 0: it has none */
	uint32_t state_sum;
};

struct index_totals {
	uint64_t generations, events, states;
	uint64_t bytes, trace_bytes;
};

/*
 * Reads the trace and writes its index to `index_path`. 0 or a negative errno with the reason (a
 * broken trace; one of v1, of a pipe, or compressed).
 */
int index__write(const char *path, const char *index_path, struct index_totals *ret,
		 struct error *err);

/* PATH.idx, to be freed. NULL: no memory. */
char *index__name(const char *path);

/*
 * The index of the trace PATH. 0; a negative errno with the reason: -ENOENT (there is none),
 * -ESTALE (the trace has changed since), -EBADMSG (it is broken), and those of open(2) and read(2).
 */
int index__open(struct index **ret, const char *path, struct error *err);
/*
 * The same of bytes in memory, borrowed, whatever trace they are of. Without `sums` wrong ones do
 * not matter: for a fuzzer, which cannot make them.
 */
int index__parse(struct index **ret, const void *data, size_t len, bool sums, struct error *err);
void index__destroy(struct index *ix); /* ix may be NULL */

int64_t index__start(const struct index *ix); /* time of the trace's first event, a sync */
size_t index__generations(const struct index *ix);
const struct index_generation *index__generation(const struct index *ix, size_t i);

/*
 * The last generation with a state that begins at `time` or before, or the first one; its state,
 * and the functions of its goroutines. Both are initialized here, and the caller's on success. 0 or
 * a negative errno with the reason.
 */
int index__place(const struct index *ix, int64_t time, struct reader_place *ret,
		 struct order *ret_state, struct origins *ret_origins, struct error *err);

#endif

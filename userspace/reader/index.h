/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The index of a trace, FILE.idx: position, times and event counts of each generation, and the
 * state of the scheduler at the start of some. With it a reader can begin in the middle of a trace.
 *
 * index_write.c writes it from the events of reader/reader.h; index.c reads it for `gotrace events`,
 * `path` and `cut`. The index may be missing, stale, corrupt or untrusted. It is used only if all
 * checksums are correct and it belongs to the present trace file (size, time of last change,
 * checksum of the first and last 64 KiB). A reader that uses it still checks the trace.
 *
 *	"gotrace index 1\n"
 *	states: each the scheduler's (order_save.h); then the start functions of goroutines:
 *		number of functions; each: PC, line, name (length, bytes), file (length, bytes)
 *		number of goroutines; each: id minus the previous id, number of its function
 *	directory: time of the first event, number of generations; each: offset in the trace, its
 *		number, syncs before it, time of the event before it, of its sync, of its first and
 *		its last event (0: no events), number of events; number of event types that
 *		occur; each: type, count; and its state: offset in the index, length (0: none),
 *		crc32
 *	end, 52 bytes: directory's offset, length (8 bytes each), crc32 (4), 0 (4); trace's size,
 *		mtime in ns (8 each), crc32 of its ends (4), 0 (4); crc32 of these 48 bytes (4)
 *
 * Numbers are LEB128 except in the end; times are uint64_t. Memory: the directory and one state.
 */
#ifndef READER_INDEX_H
#define READER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "reader/order.h"
#include "reader/start_functions.h"
#include "reader/reader.h"

struct index;

struct index_count {
	uint64_t n;
	uint8_t type; /* enum ev */
};

struct index_generation {
	struct reader_place place;
	int64_t sync, first, last;	 /* ns: of the sync, the first and the last event */
	uint64_t events;		 /* those with trace_event__is_of_file() */
	const struct index_count *count; /* by type; only types that occur */
	unsigned int counts;
	uint64_t state_offset, state_len; /* state_len 0: no state */
	uint32_t state_sum;
};

struct index_totals {
	uint64_t generations, events, states;
	uint64_t bytes, trace_bytes;
};

/*
 * Reads the trace `path` and writes its index to `index_path`. Returns 0 or a negative errno with a
 * message; v1 traces, pipes and compressed traces have no index.
 */
int index__write(const char *path, const char *index_path, struct index_totals *ret,
		 struct error *error);

/* Returns PATH.idx, which the caller frees, or NULL if memory is exhausted. */
char *index__name(const char *path);

/*
 * Opens the index of the trace `path`. Returns 0 or a negative errno with a message: -ENOENT (no
 * index), -ESTALE (the trace has changed since), -EBADMSG (corrupt), and those of open(2) and
 * read(2).
 */
int index__open(struct index **ret, const char *path, struct error *error);
/*
 * The same for bytes in memory, which are borrowed, and without a check that a trace belongs to
 * them. `sums` false disables checksums, for a fuzzer.
 */
int index__parse(struct index **ret, const void *data, size_t len, bool sums, struct error *error);
void index__destroy(struct index *ix); /* NULL is allowed */

int64_t index__start(const struct index *ix); /* time of the first event, a sync */
size_t index__generations(const struct index *ix);
const struct index_generation *index__generation(const struct index *ix, size_t i);

/*
 * Finds the last generation with a state that begins at or before `time`, or the first one. Returns
 * 0, or a negative errno with a message. On success the caller owns the state and the start
 * functions, which this function initializes.
 */
int index__place(const struct index *ix, int64_t time, struct reader_place *ret,
		 struct order *ret_state, struct start_functions *ret_functions,
		 struct error *error);

#endif

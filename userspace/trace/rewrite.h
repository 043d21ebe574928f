/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delivered events to a trace file again: a part of a trace (`gotrace cut`), another version of the
 * format, a v1 trace as v2 (`gotrace convert`).
 *
 * Before it in an event's way: trace/reader.c. After it: trace/generation.c, which makes batches
 * and tables of what is written. The same path for all of them:
 *
 *	rewrite.c		generations and their clocks; the events one by one
 *	rewrite_prologue.c	what goes on when the output begins in the middle
 *	rewrite_words.c		strings, stacks and private data: from the input's ids to ours
 *	rewrite_kernel.c	the kernel's side: what lies in the part
 *	rewrite_repair.c	v1 only: what has to happen before an event can, by v2's rules
 *	rewrite_rules.c		may it come next? Numbers it and changes the model
 *	rewrite_ranges.c	the same of ranges, collections, tasks and regions
 *	rewrite_model.c		goroutines, Ps, threads: what a reader of the output knows by now
 *
 * Nothing is written that the rules do not allow, so the output is a valid trace whatever comes in;
 * of a valid v2 trace they allow all, and every event keeps its time, thread, P and goroutine.
 * Sequence numbers are numbered anew. Memory: a generation of the input, and its output.
 */
#ifndef TRACE_REWRITE_H
#define TRACE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"
#include "trace/file.h"
#include "trace/order.h"
#include "trace/rewrite_origins.h"

struct rewrite;

struct rewrite_opts {
	unsigned int version; /* of the output: 22, 23, 25, 26 */
	bool repair;	      /* the input is a v1 trace */
	/*
	 * Events before `from` are only followed; the first one that is not, or the end, opens the
	 * output with a prologue, which says what went on then. INT64_MIN: from the beginning.
	 */
	int64_t from;
	int64_t to; /* who gives the events ends with those before it; 0: with the last */
};

struct rewrite_stats {
	uint64_t events;   /* of the input, written */
	uint64_t inserted; /* v1: written so that what comes next can */
	uint64_t left_out; /* have no legal place */
	/* Met: 1.22 has none, and the batches beside them never come along. */
	uint64_t experimental;
};

/* The file is borrowed. 0, or a negative errno: no memory. */
int rewrite__create(struct rewrite **ret, struct trace_file *file, const struct rewrite_opts *opts);
void rewrite__destroy(struct rewrite *r); /* r may be NULL */

/*
 * Before the first event, when the reader does not begin at the trace's: what it then knows of the
 * scheduler (reader__order()), and where goroutines come from. Both are copied. 0 or -ENOMEM.
 */
int rewrite__begin_at(struct rewrite *r, const struct order *state, const struct origins *origins);

/*
 * What the file's first generation says of the whole file in its private data is kept for the
 * output's. Called by those who did not read the events from the first on. 0 or -ENOMEM.
 */
int rewrite__keep_private(struct rewrite *r, const struct dictionary *words);

/*
 * An event as the reader delivered it. 0; a negative errno: no memory, or the file cannot be
 * written (see trace/file.h).
 */
int rewrite__event(struct rewrite *r, const struct trace_event *ev);

/* The output ends here: writes what is left. 0 or a negative errno. */
int rewrite__end(struct rewrite *r);

const struct rewrite_stats *rewrite__stats(const struct rewrite *r);

#endif

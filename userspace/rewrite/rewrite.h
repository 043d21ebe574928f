/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes delivered events to a trace file: a part of a trace (`gotrace cut`), another version of
 * the format, also from v1 to v2 (`gotrace convert`), or the same with other names (`gotrace
 * anonymize`).
 *
 * Upstream: reader/reader.c. Downstream: writer/writer.c, which makes batches and tables. All uses
 * share these files:
 *
 *	rewrite.c		generations and their clocks; each event
 *	rewrite_prologue.c	statuses and open ranges when the output begins in the middle
 *	rewrite_tables.c	string and stack ids
 *	rewrite_private.c	private data
 *	rewrite_experiment.c	data of experiments
 *	rewrite_kernel.c	kernel events within the part
 *	rewrite_repair.c	v1 only: inserts what the rules of v2 require before an event
 *	rewrite_model.c		the state as a reader of the output sees it, by reader/order.h
 *
 * Only events that the rules of reader/order.c permit are written, so the output is a valid trace for any input. Of a
 * valid v2 trace all events are permitted, and each keeps its time, thread, P and goroutine; only
 * sequence numbers are new. Memory: one generation of the input and one of the output.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/event.h"
#include "reader/order.h"
#include "reader/start_functions.h"
#include "rewrite/anonymize.h"
#include "writer/output_file.h"

struct rewrite;

struct rewrite_opts {
	unsigned int version; /* of the output: one of TRACE_VERSIONS */
	bool repair;	      /* the input is a v1 trace */
	/*
	 * Events before `from` only update the model. The first later one, or the end, opens the
	 * output with a prologue that reports the state at that time. INT64_MIN: from the start.
	 */
	int64_t from;
	int64_t to; /* the caller stops before this time, ns; 0: no limit */
	/* Replaces names and texts, of a whole trace; borrowed. NULL: they are kept. */
	struct anonymizer *names;
	/*
	 * Begin later than `from` if garbage is being collected then, at the first point without that
	 * and without open ranges: some readers do not accept a trace that begins in them.
	 */
	bool outside_gc;
};

struct rewrite_stats {
	uint64_t events;       /* of the input that were written */
	uint64_t inserted;     /* v1: added to make events legal */
	uint64_t left_out;     /* without a legal place */
	uint64_t experimental; /* of the input; 1.22 cannot contain them */
};

/* The file is borrowed. Returns 0 or -ENOMEM. */
int rewrite__create(struct rewrite **ret, struct trace_file *file, const struct rewrite_opts *opts);
void rewrite__destroy(struct rewrite *r); /* NULL is allowed */

/*
 * Sets the initial state if the reader does not begin with the first event of the trace:
 * reader__order() and the start functions of goroutines. Call it before the first event. Both are
 * copied. Returns 0 or -ENOMEM.
 */
int rewrite__begin_at(struct rewrite *r, const struct order *state,
		      const struct start_functions *functions);

/*
 * Copies the private data about the whole file, given its first generation, if the caller may not
 * pass the sync of that. Call it before the first event. Returns 0 or -ENOMEM.
 */
int rewrite__keep_private(struct rewrite *r, const struct dictionary *from);

/*
 * Handles an event of the reader. Returns 0 or a negative errno: -ENOMEM, -ERANGE for a time that
 * cannot be written, or those of writer/output_file.h.
 */
int rewrite__event(struct rewrite *r, const struct trace_event *ev);

/*
 * Ends the output and writes the rest. Returns 0 or a negative errno: -EAGAIN (there was no such point
 * as outside_gc requires).
 */
int rewrite__end(struct rewrite *r);
/* When the output begins: opts.from, or later with outside_gc. */
int64_t rewrite__from(const struct rewrite *r);

const struct rewrite_stats *rewrite__stats(const struct rewrite *r);

#endif

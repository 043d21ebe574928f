/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics of a recording while it is made: the figures that the commands of gotrace print, as sums
 * since the recording began, in the OpenMetrics text format.
 *
 * A recorder passes each generation that it has finished to metrics__append(), as it would write it
 * to a file; a thread reads them with the reader and the analyses of those commands. What is known
 * goes to the supervisor as a snapshot, a few KiB of bytes, and metrics__print() prints the
 * snapshots of all recorders. `gotrace metrics` does the same for a file.
 *
 * Memory: what the analyses need for goroutines that are alive and tasks that are open, one
 * generation, and the queue. If the thread cannot keep up, or memory is exhausted, whole generations
 * are left out; the metrics count them. Recording never waits for the analysis.
 *
 * After one that is missing, the analysis can go on only with a generation that a trace can begin
 * with, which has the state of all goroutines and not only of those that did something in it. Before
 * a generation is opened, metrics__needs_state() is whether it should be one, and
 * metrics__has_state() reports that it is.
 */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/uio.h>

#include "lib/error.h"

#define METRICS_SNAPSHOT_MAX (320u << 10) /* bytes */

struct metrics; /* of one target, in its recorder */

/* Of tests. The recorder uses the defaults. */
struct metrics_opts {
	/* Bytes of generations that wait for the thread; 0: METRICS_QUEUE. One may always wait. */
	size_t queue;
};
#define METRICS_QUEUE (64u << 20)

/*
 * `opts` may be NULL. 0 or -ENOMEM with the reason. The thread starts with the first generation, with
 * the privileges that the caller has then.
 */
int metrics__create(struct metrics **ret, const struct metrics_opts *opts, struct error *error);
/*
 * For writer__use_memory(), `to` is a struct metrics: the bytes of the trace in their order. The
 * first ones are its header, of TRACE_HEADER_LEN bytes; from then on each call passes one whole
 * generation. Copies the bytes, and waits for nothing. 0 or a negative errno: -EINVAL (no header), or
 * that of creating the thread. A generation that is left out is no error.
 */
int metrics__append(void *to, const struct iovec *iov, size_t n);
/* Any time: the analysis goes on with the next generation with all state; others are left out. */
bool metrics__needs_state(struct metrics *m);
/* The generation that is passed next has all state. The first one has it in any case. */
void metrics__has_state(struct metrics *m);
/*
 * For tests, whose results must not depend on when the thread runs: the trace has ended; waits until
 * all generations are analysed, and counts what goroutines did up to the end. A recorder ends without
 * that. Only metrics__snapshot() and metrics__destroy() may follow.
 */
void metrics__finish(struct metrics *m);
/*
 * What is known, as of the end of a generation: *ret has *size bytes, at most METRICS_SNAPSHOT_MAX,
 * and is the caller's to free(). Waits for nothing. 0 or -ENOMEM.
 */
int metrics__snapshot(struct metrics *m, void **ret, size_t *size);
void metrics__destroy(struct metrics *m); /* NULL allowed; ends the thread */

/* Labels of the metrics of a target: pid 0, NULL and "" are left out. */
struct metrics_target {
	int pid;
	const char *name;     /* of the program */
	const void *snapshot; /* untrusted; NULL: there is none yet */
	size_t size;
};
/*
 * Prints the snapshots as OpenMetrics text, each family once, and "gotrace_up", which is 0 for a
 * target without a valid snapshot. 0 or a negative errno with the reason: -ENOMEM, or an error of
 * writing.
 */
int metrics__print(FILE *out, const struct metrics_target *targets, size_t n, struct error *error);
/*
 * The same, but families that do not fit in `max` bytes are left out as a whole, and their number is printed
 * as "gotrace_families_omitted". "gotrace_up" and that one are not counted.
 */
int metrics__print_limited(FILE *out, const struct metrics_target *targets, size_t n, size_t max,
			   struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One generation of a trace: opened, filled with events in the sequencer's order, closed into a
 * file as batches and tables that stand on their own.
 *
 * Before it in an event's way: sequence/state.c (legal transitions, numbered), or trace/rewrite.c
 * (those of a trace that was read). After it: trace/encode.c (bytes of a batch) and trace/file.c
 * (append, rename).
 *
 * Everything of a generation is held in memory until it is closed (bounded by the sequencer, which
 * closes at 16 MiB or 1 s), so that statuses found late still go ahead of the events.
 */
#ifndef TRACE_GENERATION_H
#define TRACE_GENERATION_H

#include <stddef.h>
#include <stdint.h>

#include "trace/intern.h"
#include "trace/spec.h"

struct trace_file;
struct writer; /* what outlives a generation: file, tables, options */

struct writer_opts {
	unsigned int version; /* 22, 23, 25 or 26: the file's header */
	unsigned int tick_ns; /* 1 or 64: the unit of time in the file */
};

/* Of the generations written; events as trace_event__is_of_file() counts them, statuses included. */
struct writer_stats {
	uint64_t generations, events, bytes;
	uint64_t by_type[EV_END];
};

/*
 * Takes neither the file nor the tables over; both must outlive the writer. NULL with errno: no
 * memory, or EINVAL for another version or tick than the above.
 */
struct writer *writer__create(struct trace_file *file, struct intern *in,
			      const struct writer_opts *opts);
void writer__destroy(struct writer *w); /* an open generation is dropped */

/*
 * Opens the next generation, which starts at `time` (CLOCK_MONOTONIC, ns): its statuses and its
 * Sync carry that time, and no event of it an earlier one. `wall_ns` is CLOCK_REALTIME at `time`.
 * 0, or -EINVAL: one is open already.
 */
int writer__open(struct writer *w, uint64_t time, uint64_t wall_ns);

/*
 * Other clocks for the open generation than writer__open() made: at `time`, of the trace and not
 * before the generation's start, CLOCK_MONOTONIC is `mono` (ns) and CLOCK_REALTIME `sec` and
 * `nsec`. 0, or -EINVAL: none is open.
 */
int writer__clock(struct writer *w, uint64_t time, uint64_t mono, uint64_t sec, uint64_t nsec);

/* Other tables from now on, before the first id of the next generation is named. */
void writer__use(struct writer *w, struct intern *in);

/*
 * Adds a timed event of thread m (TRACE_NO_M: none). `args` are those after dt, as spec.c lists
 * them; strings and stacks by their id in the tables, all else as it stands in the file. A thread's
 * events are delivered in the order of the calls; a time before the thread's last is raised to
 * it. Returns 0 or -ENOMEM; -EINVAL is the caller's mistake: no generation open, no timed event,
 * an event that the version does not have, the wrong number of arguments, an id never given. On
 * an error nothing was added.
 */
int writer__event(struct writer *w, uint64_t m, uint64_t time, enum ev type, const uint64_t *args,
		  unsigned int nargs);

/*
 * Statuses as of the generation's start, in any order and at any time while it is open; they go
 * ahead of all events: PROC_RUNNING, PROC_SYSCALL, GO_RUNNING and GO_SYSCALL
 * into a batch of thread m (a P before its G), everything else into batches without a thread.
 * `stack`: of a goroutine, its start frame (0: none; not written by version 22).
 */
int writer__proc_status(struct writer *w, uint64_t m, uint64_t p, enum trace_proc_status status);
int writer__go_status(struct writer *w, uint64_t m, uint64_t g, enum trace_go_status status,
		      uint32_t stack);

/*
 * Adds a CPU sample: where thread m was at `time`; p may be UINT64_MAX and g 0: none. No earlier
 * than the one before it. 0, -ENOMEM, or -EINVAL as of writer__event().
 */
int writer__sample(struct writer *w, uint64_t time, uint64_t m, uint64_t p, uint64_t g,
		   uint32_t stack);

/*
 * Adds an unreferenced string of 1 to TRACE_STRING_MAX bytes: data that only gotrace reads
 * (trace/private.c makes it). In the file they keep the order of the calls.
 */
int writer__private(struct writer *w, const void *data, size_t len);

/* Bytes of the events so far (prologue not counted). */
size_t writer__size(const struct writer *w);

/*
 * Closes the generation: writes prologue, batches, stacks, strings, sync in whole batches, and the
 * end mark of version 26. A generation without any event gets one harmless status of its own
 * (readers of 1.22 to 1.24 refuse an empty one): that of a P whose state the writer follows. If it
 * knows none, nothing is written, 0 returned, and private data kept for the next generation.
 * Returns 0 or a negative errno; on failure nothing of this generation counts.
 */
int writer__close(struct writer *w);

const struct writer_stats *writer__stats(const struct writer *w);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a trace, one generation at a time: open it, add events in order, and close it into a file
 * as batches and self-contained tables.
 *
 * Upstream: sequence/state.c (a recording) or rewrite/rewrite.c (a trace that was read).
 * Downstream: format/encode.c (bytes of a batch), writer/output_file.c (append, rename).
 *
 * A generation is kept in memory until it is closed, because statuses that are found late still
 * precede the events. The sequencer bounds it: it closes a generation after 1 s or 16 MiB.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/spec.h"
#include "writer/intern.h"

struct trace_file;
struct writer; /* lasts for all generations: file, tables, options */

struct writer_opts {
	unsigned int version; /* header version: one of TRACE_VERSIONS */
	unsigned int tick_ns; /* unit of time in the file: 1 or 64 */
};

/* Of the generations written. Counts events as trace_event__is_of_file() does, with statuses. */
struct writer_stats {
	uint64_t generations, events, bytes;
	uint64_t by_type[EV_END];
};

/*
 * `file` and `in` are borrowed and must outlive the writer. Returns NULL and sets errno: ENOMEM, or
 * EINVAL for an invalid version or tick.
 */
struct writer *writer__create(struct trace_file *file, struct intern *in,
			      const struct writer_opts *opts);
void writer__destroy(struct writer *w); /* discards an open generation */

/*
 * Opens the next generation, which starts at `time` (CLOCK_MONOTONIC, ns). Its statuses and its
 * Sync have that time, and its events are not earlier. `wall_ns` is CLOCK_REALTIME at `time`.
 * Returns 0, or -EINVAL if a generation is open.
 */
int writer__open(struct writer *w, uint64_t time, uint64_t wall_ns);

/*
 * Replaces the clocks that writer__open() has set: at `time` of the trace, which must not be before
 * the start of the generation, CLOCK_MONOTONIC is `mono` (ns) and CLOCK_REALTIME is `sec` and
 * `nsec`; if both are 0, that is unknown. Versions before 25 write them as private data. Returns 0,
 * or -EINVAL if no generation is open.
 */
int writer__clock(struct writer *w, uint64_t time, uint64_t mono, uint64_t sec, uint64_t nsec);

/*
 * Passes each generation from now on to `append`, without a header, instead of to a file. It returns
 * 0 or a negative errno. Call it while no generation is open.
 */
void writer__use_memory(struct writer *w,
			int (*append)(void *to, const struct iovec *iov, size_t n), void *to);

/* Sets new tables. Call it before an id of the next generation is used. */
void writer__use(struct writer *w, struct intern *in);

/*
 * Adds a timed event of thread m (TRACE_NO_M: none). `args` are the arguments after dt in the order
 * of spec.c; strings and stacks as ids of the tables, others as in the file. Readers deliver the
 * events of a thread in the order of the calls; a time before that of the thread's last event is
 * raised to it. Returns 0, -ENOMEM, or -EINVAL for an error of the caller: no open generation, an
 * event that is not timed or not in this version, a wrong number of arguments, an unknown id. After
 * an error nothing was added.
 */
int writer__event(struct writer *w, uint64_t m, uint64_t time, enum ev type, const uint64_t *args,
		  unsigned int nargs);

/*
 * Add statuses at the start of the generation, in any order and at any time while it is open. They
 * precede all events: PROC_RUNNING, PROC_SYSCALL, GO_RUNNING and GO_SYSCALL in a batch of thread m
 * (a P before its G), others in batches without a thread. `stack`: start frame of a goroutine (0:
 * none), which version 22 writes as private data. Return as writer__event().
 */
int writer__proc_status(struct writer *w, uint64_t m, uint64_t p, enum trace_proc_status status);
int writer__go_status(struct writer *w, uint64_t m, uint64_t g, enum trace_go_status status,
		      uint32_t stack);

/*
 * The stack that belongs to a GoStatus which was written as an event, in version 22. Later versions write a
 * GoStatusStack instead, and 0 is no stack: nothing is added. Returns as writer__event().
 */
int writer__start(struct writer *w, uint64_t g, uint32_t stack);

/*
 * Adds a CPU sample of thread m at `time`, not before the previous sample. `p` may be UINT64_MAX
 * and `g` 0: none. Returns as writer__event().
 */
int writer__sample(struct writer *w, uint64_t time, uint64_t m, uint64_t p, uint64_t g,
		   uint32_t stack);

/*
 * Adds a string of 1 to TRACE_STRING_MAX bytes that no event refers to: private data from
 * format/private.c. The file keeps the order of the calls. Returns as writer__event().
 */
int writer__private(struct writer *w, const void *data, size_t len);

/*
 * Adds a batch with up to TRACE_BATCH_MAX bytes of data of an experiment (enum ev_experiment), from
 * version 1.23 on. Returns as writer__event().
 */
int writer__experiment(struct writer *w, enum ev_experiment experiment, const void *data,
		       size_t len);

/*
 * States that the generation lasts until `time`, later than all its events: repeats the status of a P whose
 * state the writer tracks, if there is one, then. Tools that know no end of a trace but its last event thus
 * see the time in which nothing happened; Go's take it for no change. Call it last, if at all. Returns as
 * writer__event().
 */
int writer__end(struct writer *w, uint64_t time);

/* Bytes of the events so far, without statuses. */
size_t writer__size(const struct writer *w);

/*
 * Closes the generation: writes sync, tables, statuses and batches, and the end mark of version 26.
 * Readers of 1.22 to 1.24 reject a generation without events, so it gets a status: that of a P
 * whose state the writer tracks. If there is none, nothing is written and private data is kept for
 * the next generation. Returns 0 or a negative errno; after a failure nothing of this generation is
 * in the file.
 */
int writer__close(struct writer *w);

const struct writer_stats *writer__stats(const struct writer *w);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequencer: takes records of probes and snapshots of the process, and writes trace
 * generations.
 *
 * This is the only public header of userspace/sequence. The recorder and the replay of raw files
 * call the same functions in the same order, so that every fault of a recording can be reproduced.
 * Upstream: capture/sink.c and rawfile/replay.c. Downstream: writer/writer.c.
 *
 * All functions run in the caller's thread, without locks. Those that return an int return 0 or a
 * negative errno; errors of the writer and -ENOMEM are permanent: each later call returns them.
 * Times are CLOCK_MONOTONIC, ns.
 *
 * Memory: about 180 bytes per live goroutine, the records between two watermarks, the tables of
 * writer/intern.c, and one generation.
 */
#ifndef SEQUENCE_SEQUENCER_H
#define SEQUENCE_SEQUENCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "sequence/watch.h"
#include "target/layout/layout.h"
#include "target/process/snapshot.h"
#include "target/symbols/symbolize.h"
#include "writer/writer.h"

struct private_cpu_samples;
struct private_host_clock;
struct private_meta;
struct sequencer;

struct sequencer_opts {
	struct writer *writer; /* borrowed, as are all pointers: must outlive the sequencer */
	struct intern *intern;
	const struct layout *layout;
	struct symbolizer symbolizer;
	bool no_syscalls;		 /* true: the system call probes are not attached */
	uint64_t min_call_ns;		 /* shorter system calls are left out; 0: none */
	unsigned int version;		 /* trace format to write: one of TRACE_VERSIONS */
	unsigned int tick_ns;		 /* length of a tick in the file: 1 or 64 */
	const struct private_meta *meta; /* written to the first generation; NULL: none */
	/*
	 * Called between two generations, the next of which starts at `time`; NULL: none. Returns
	 * 0, a negative errno, which is permanent, or 1: the next generation is the first one of a
	 * file. It then contains the metadata and all goroutines, as the very first one does.
	 */
	int (*between)(void *ctx, uint64_t time);
	void *between_ctx;
	struct sequencer_watch watch;
};

struct sequencer_stats {
	uint64_t records;     /* inside the window, stacks included */
	uint64_t bad_records; /* wrong size or unknown kind */
	uint64_t lost;	      /* counted by the probes */
	uint64_t holes;	      /* missing ring sequence numbers */
	uint64_t lost_by_kind[GT_KIND_END];
	uint64_t repairs;	  /* transitions inserted so that a record fits */
	uint64_t held;		  /* records that waited for a causally earlier one */
	uint64_t dropped;	  /* records that could not be applied at all */
	uint64_t left_out_at_end; /* records that depend on what a thread reports after t1 */
	uint64_t short_calls;	  /* of goroutines, left out: min_call_ns */
	uint64_t goroutines;	  /* all that were ever in the model */
	uint64_t at_start;	  /* goroutines that existed when the window began */
	uint64_t window_ns;	  /* t1 - t0 */
	uint64_t stack_misses;	  /* events whose stack is missing */
	uint64_t stack_displaced; /* of these, those of stacks__displaced() */
	uint64_t stacks_gone;	  /* of parks: the goroutine ran before its stack was read */
	uint64_t parked;	  /* goroutines that wait at the start, and have a stack */
	uint64_t parked_left_out; /* stacks of waiting goroutines that exceed the limit */
	uint64_t text_misses;	  /* texts of annotations that are missing */
	uint64_t gaps;		  /* places in the rings where records are missing */
	uint64_t resnapshots;	  /* pairs of snapshots compared with the model after a loss */
	uint64_t corrected;	  /* goroutines corrected by them */
	uint64_t corrected_procs; /* threads whose P was corrected */
};

int sequencer__create(struct sequencer **ret, const struct sequencer_opts *opts);
void sequencer__destroy(struct sequencer *s);

/* The largest error of the times of inline probes' records; for the last generation. */
void sequencer__clock_error(struct sequencer *s, uint64_t ns);
/*
 * The state of the host's clock is this from now on: each generation contains the latest one. Call it
 * about once per second, and first before the initial snapshots.
 */
void sequencer__host_clock(struct sequencer *s, const struct private_host_clock *clock);
/*
 * CPU samples are taken with this period from now on; each generation contains it. Its other members
 * are those since the last call.
 */
void sequencer__cpu_samples(struct sequencer *s, const struct private_cpu_samples *taken);
/* Begins the window: records with a time before t0 are dropped. */
int sequencer__start(struct sequencer *s, uint64_t t0, uint64_t wall_ns);
/* Ignores kernel events: not all of their programs could be loaded. Call before any record. */
void sequencer__no_kernel(struct sequencer *s);
/* Records of system calls describe only the goroutine; they are no kernel events. Call first. */
void sequencer__calls_only(struct sequencer *s);

/*
 * How many names requests may have; further ones are "other". 0: REQUEST_NAMES_DEFAULT. Call before
 * any record.
 */
#define REQUEST_NAMES_DEFAULT 1000
#define REQUEST_NAMES_MAX     1000000
void sequencer__max_names(struct sequencer *s, uint32_t max);

/*
 * Raises the memory limit of queued records to `bytes`, if it is lower: for snapshots taken long
 * after the window began, since all records up to then are queued.
 */
void sequencer__may_hold(struct sequencer *s, uint64_t bytes);

/* Queues a copy of a record. Call in the order of its ring. -EBADMSG: invalid; counted, skipped. */
int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size);

/*
 * The two snapshots of the window's start, both taken after t0; NULL: unavailable. Records are only
 * queued until this call. The second may omit goroutines that did not change since the first. Moves
 * goroutines, Ms and Ps out of both, unless it fails. -EALREADY: a pair was given before.
 */
int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second);

/*
 * States that all records with a time up to `time` were passed to sequencer__record(). Orders and
 * applies them; may close generations, so errors of the writer are returned.
 */
int sequencer__watermark(struct sequencer *s, uint64_t time);

/* Sets the probes' counter of lost records of a kind, an absolute count. */
int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count);

/* A number that grows with each detected loss: the caller then reads the probes' counters. */
uint64_t sequencer__losses(const struct sequencer *s);
/*
 * A number that grows with each loss that may have left goroutines, threads or Ps wrong, and with
 * each difference that a pair of snapshots left open. If it has grown since the last pair was
 * begun, another pair is needed. Losses of kernel events do not count.
 */
uint64_t sequencer__go_losses(const struct sequencer *s);

/*
 * A pair of snapshots taken after a loss, the second some tens of ms after the first. What no later
 * record contradicts is corrected once the watermark has passed the second. Moves goroutines, Ms
 * and Ps out of both, unless it fails. -EAGAIN: an earlier pair is still pending, or the initial
 * state is unknown.
 */
int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second);

/*
 * Ends the open generation at the latest watermark, although it is neither long nor large. Not
 * before sequencer__is_ready().
 */
int sequencer__end_generation(struct sequencer *s);
/* Whether a stop-the-world pause is open, which the end of a generation would cut. */
bool sequencer__in_pause(const struct sequencer *s);

/* Ends the window: drops records after t1 and closes the last generation. */
int sequencer__finish(struct sequencer *s, uint64_t t1);

/* All records up to this time were applied, and the watch has seen their events. */
uint64_t sequencer__applied(const struct sequencer *s);
/* Number of live goroutines, the runtime's own included. */
size_t sequencer__goroutines(const struct sequencer *s);
/*
 * When the goroutine on the thread has left its system call, although the event that ends it follows
 * only with the next record of the thread; 0: it has not.
 */
uint64_t sequencer__left_call(const struct sequencer *s, uint32_t tid);
/* The thread by kernel events so far, until the next call that takes a record. NULL: unknown. */
const struct kernel_thread *sequencer__thread(const struct sequencer *s, uint32_t tid);
/*
 * The name of the function that a goroutine was started with; empty: unknown, as is such a
 * goroutine. It is valid as the ids of intern. *ret_is_runtime: the runtime started it for itself.
 */
struct trace_string sequencer__start_function(const struct sequencer *s, uint64_t goid,
					      bool *ret_is_runtime);

/*
 * Writes the name that an open request has so far, of at most REQUEST_NAME_SIZE bytes with its 0. Later
 * steps may give it a better one. Returns its length; 0: the goroutine has no such request.
 */
size_t sequencer__request_name(const struct sequencer *s, uint64_t goid, uint64_t task, char *ret);

/* While the watch gets the begin of a task: when its request arrived; 0: unknown, or it is none. */
uint64_t sequencer__request_arrival(const struct sequencer *s);

bool sequencer__is_ready(const struct sequencer *s); /* the initial state is known */
const struct sequencer_stats *sequencer__stats(const struct sequencer *s);

#endif

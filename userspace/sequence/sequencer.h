/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in, trace generations out.
 *
 * The one door to userspace/sequence: the recorder (capture/recorder.c) and the replay
 * (capture/rawfile.c) call the same functions in the same order, so that every bug seen live can
 * be replayed. Behind it: merge.c (one stream), initial.c (the state at the window's start),
 * state.c (legal transitions), repair.c (what a loss broke), stacks.c (symbols).
 *
 * Memory: the live goroutines (about 170 bytes each), the records between two watermarks, the
 * tables of trace/intern.c, and one generation.
 */
#ifndef SEQUENCE_SEQUENCER_H
#define SEQUENCE_SEQUENCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "target/layout.h"
#include "target/snapshot.h"
#include "target/symbolize.h"
#include "trace/generation.h"

struct private_meta;
struct sequencer;

struct sequencer_opts {
	struct writer *writer; /* all borrowed; they must outlive the sequencer */
	struct intern *intern;
	const struct layout *layout;
	struct symbolizer symbolizer;
	bool no_syscalls;		 /* true: the system call probes are off */
	unsigned int version;		 /* the file's: 22, 23, 25 or 26 */
	unsigned int tick_ns;		 /* the file's: 1 or 64 */
	const struct private_meta *meta; /* for the first generation; NULL: none */
};

struct sequencer_stats {
	uint64_t records;     /* inside the window, stacks included */
	uint64_t bad_records; /* of a wrong size or unknown kind */
	uint64_t lost;	      /* by the probes' own counters */
	uint64_t holes;	      /* missing ring sequence numbers */
	uint64_t lost_by_kind[GT_KIND_END];
	uint64_t repairs;	  /* transitions inserted because a record did not fit */
	uint64_t held;		  /* records that waited for a causally earlier one */
	uint64_t dropped;	  /* records that could not be used at all */
	uint64_t goroutines;	  /* seen */
	uint64_t at_start;	  /* goroutines that were there when the window began */
	uint64_t window_ns;	  /* t1 - t0 */
	uint64_t stack_misses;	  /* events whose stack never arrived */
	uint64_t text_misses;	  /* texts of annotations that never arrived, or had no room */
	uint64_t gaps;		  /* places in the rings where records are missing */
	uint64_t resnapshots;	  /* pairs held against the model after a loss */
	uint64_t corrected;	  /* goroutines that were put right by them */
	uint64_t corrected_procs; /* threads whose P was */
};

int sequencer__create(struct sequencer **ret, const struct sequencer_opts *opts);
void sequencer__destroy(struct sequencer *s);

/* The window begins: records stamped before t0 (CLOCK_MONOTONIC, ns) are dropped. */
int sequencer__start(struct sequencer *s, uint64_t t0, uint64_t wall_ns);
/* The kernel's side could not be had whole: what some of its programs told is passed over. Before any record. */
void sequencer__no_kernel(struct sequencer *s);

/*
 * The snapshots were taken long after the window's start, so that all records up to there wait for them:
 * they may take so many bytes, if that is more than usual.
 */
void sequencer__may_hold(struct sequencer *s, uint64_t bytes);

/* One record as it came out of a ring, in that ring's order; copied. -EBADMSG: counted, skipped. */
int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size);

/*
 * The two snapshots (both taken after t0), or NULL for one that could not be had. Until this call
 * records are only held. The second may leave out goroutines that are as they were in the first.
 */
int sequencer__snapshot(struct sequencer *s, const struct snapshot *first,
			const struct snapshot *second);
/* The same, without a copy: both are empty afterwards. */
int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second);

/*
 * All records stamped up to `time` have been given. Orders and writes them; may close generations,
 * so the writer's errors come back here.
 */
int sequencer__watermark(struct sequencer *s, uint64_t time);

/* The probes' counter of lost records of a kind, absolute. */
int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count);

/* A number that grows with each loss that is seen: then the counters are worth a look. */
uint64_t sequencer__losses(const struct sequencer *s);
/*
 * The same of losses that may have left goroutines, threads and Ps wrong, and of each thing that a pair
 * of snapshots left open: when it is more than it was when the last pair was begun, another pair is
 * wanted. Records of the kernel's side are not among them.
 */
uint64_t sequencer__go_losses(const struct sequencer *s);

/*
 * A pair taken after a loss, the second some tens of ms after the first; copied. What no record tells
 * since is put right once the watermark has passed it. -EAGAIN: one is due still, or the initial
 * state is not known yet.
 */
int sequencer__resnapshot(struct sequencer *s, const struct snapshot *first,
			  const struct snapshot *second);
/* The same, without a copy: both are without goroutines, Ms and Ps afterwards. */
int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second);

/* The window ends: records after t1 are dropped, the last generation is closed. */
int sequencer__finish(struct sequencer *s, uint64_t t1);

bool sequencer__is_ready(const struct sequencer *s); /* the initial state is known */
const struct sequencer_stats *sequencer__stats(const struct sequencer *s);

#endif

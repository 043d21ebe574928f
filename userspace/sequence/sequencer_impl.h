/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequencer's state, shared by the files of userspace/sequence only. The struct of a member is
 * declared in the header of the file that it belongs to; sequencer.c creates and frees it.
 */
#ifndef SEQUENCE_SEQUENCER_IMPL_H
#define SEQUENCE_SEQUENCER_IMPL_H

#include "sequence/boundary.h"
#include "sequence/hold.h"
#include "sequence/kernel_events.h"
#include "sequence/losses.h"
#include "sequence/merge.h"
#include "sequence/model.h"
#include "sequence/open_requests.h"
#include "sequence/resync.h"
#include "sequence/sequencer.h"
#include "sequence/short_calls.h"
#include "sequence/snapshots.h"
#include "sequence/stacks.h"
#include "sequence/state.h"
#include "sequence/texts.h"

struct sequencer {
	struct sequencer_opts opts;
	struct sequencer_stats stats;
	uint64_t t0, wall0, t1; /* the window: start by both clocks, end; 0: unset */
	uint64_t now;		/* time of the latest record applied */
	uint64_t watermark;	/* all records up to here were applied */
	uint64_t limit;		/* all records up to here have arrived */
	uint64_t search_left;	/* records that ahead.c may look at before the next watermark */
	bool started, ready;	/* ready: the initial state is known, records are applied */
	bool derived;		/* a record of derived.h was seen */
	uint64_t clock_error;	/* ns; 0: there are no inline probes */
	struct private_host_clock host_clock; /* the latest one; time 0: unknown */
	bool calls_only;   /* those of system calls describe only the goroutine */
	uint32_t put_back; /* how much earlier these may be than their hits, ns */
	int error;	   /* the first error of the writer, or -ENOMEM; permanent */

	struct merge *merge;
	struct stacks *stacks;
	struct texts *texts;
	struct startup start;
	struct model model;
	struct hold hold;
	struct runtime runtime;
	struct user user;
	struct open_requests requests;
	struct samples samples;
	struct kernel_events kernel;
	struct short_calls shorts;
	struct boundary out;
	struct losses losses;
	struct resync resync;
	struct shedding shedding;
};

/* The length of a tick in ns; 1 if none was given. */
static inline uint64_t sequencer__tick(const struct sequencer *s)
{
	return s->opts.tick_ns ? s->opts.tick_ns : 1;
}

#endif

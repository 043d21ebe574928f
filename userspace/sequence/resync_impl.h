/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of corrections after a loss: resync_compare.c makes it from a pair of snapshots, and
 * resync.c carries it out.
 */
#ifndef SEQUENCE_RESYNC_IMPL_H
#define SEQUENCE_RESYNC_IMPL_H

#include "sequence/sequencer_impl.h"

/* A goroutine and its correct state: enum trace_go_status, 0: ended. */
struct change {
	struct goroutine *g;	       /* NULL: not in the model yet, or ended meanwhile */
	const struct snapshot_g *from; /* its entry in a snapshot, if it is not in the model */
	uint32_t state;
	struct thread *t; /* its thread, if it runs or is in a system call */
};

/* A thread and the goroutine and P that it should have. */
struct fix {
	struct thread *t;
	struct goroutine *g;
	uint32_t change; /* number of g's change, 0: none */
	uint32_t state;	 /* state that g should have */
	struct proc *p;	 /* NULL with a g in a system call: the P was taken from it */
};

struct correction {
	struct sequencer *s;
	const struct snapshot *first, *second;
	uint64_t time;
	struct change *change;
	size_t changes, changes_cap;
	struct fix **fix;
	size_t fixes, fixes_cap;
	struct map first_m, second_m; /* M address to struct snapshot_m */
	struct map unknown_g;	      /* address to struct snapshot_g of the second */
	uint64_t open;		      /* differences that were not decided or not corrected */
	struct thread *lender;	      /* the latest that lent its P: first choice for a loan */
	uint64_t procs;		      /* threads with another P */
	bool failed;		      /* no memory, or a useless pair: nothing is corrected */
};

void correction__compare(struct correction *c);
void correction__deinit(struct correction *c);

#endif

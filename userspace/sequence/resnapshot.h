/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be put right after a loss: the list that resnapshot_judge.c makes of a pair of snapshots
 * and resnapshot.c works off.
 */
#ifndef SEQUENCE_RESNAPSHOT_H
#define SEQUENCE_RESNAPSHOT_H

#include "sequence/model.h"

/* A goroutine and what it should be: enum trace_go_status, 0: ended. */
struct change {
	struct goroutine *g;	       /* NULL: not known yet, or gone by now */
	const struct snapshot_g *from; /* which tells of one that is not known */
	uint32_t state;
	struct thread *t; /* of one that runs or is in a system call */
};

/* A thread and what it should have. */
struct fix {
	struct thread *t;
	struct goroutine *g;
	uint32_t change; /* number of g's change, 0: none */
	uint32_t state;	 /* of g */
	struct proc *p;	 /* a goroutine in a system call: NULL, it was taken from it */
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
	struct map strangers;	      /* address to struct snapshot_g of the second: not known */
	uint64_t open;		      /* what could not be decided, or done */
	struct thread *lender;	      /* of a P, the latest: it has one to lend again */
	uint64_t procs;		      /* threads with another P */
	bool failed;		      /* no memory: nothing is done */
};

void correction__judge(struct correction *c);
void correction__deinit(struct correction *c);

#endif

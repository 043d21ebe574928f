/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulator of the Go scheduler: the records that our probes would send of a random, legal program.
 *
 * It knows what the runtime does (go-runtime.md, section 2) and nothing of the sequencer, so that its
 * records and its counts of what must come out are an independent judgement. Time runs from
 * nanoseconds to hundreds of milliseconds a step, so that a short run crosses several generations.
 */
#ifndef REPLAY_SIMULATE_H
#define REPLAY_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "target/snapshot.h"
#include "target/symbolize.h"
#include "trace/spec.h"

#define SIM_PCS	  8
#define SIM_TEXT  64 /* bytes */
#define SIM_PAIRS 3  /* of snapshots, taken later on */

struct sim_opts {
	uint64_t seed;
	unsigned int records; /* about how many */
	unsigned int version; /* of the file: decides how a coroutine switch is counted */
	bool tentative;	      /* Go 1.26: system call exits are tentative */
	bool cut;	      /* the window begins in the middle of the program */
	bool no_syscalls;     /* without their probes */
};

struct sim_entry {
	uint64_t at; /* when it was sent, true order */
	unsigned int ring;
	uint32_t size;
	struct gt_record rec;
	union {
		struct gt_stack stack;
		struct gt_text text;
		unsigned char payload[sizeof(struct gt_stack) + 8 * SIM_PCS];
	};
};

/* What the probes would have counted. */
struct sim_lost {
	uint64_t at;
	unsigned int kind;
};

struct sim_run {
	struct sim_entry *entry; /* in the order in which the rings give them */
	size_t n, cap;
	struct snapshot first, second;
	struct snapshot again[SIM_PAIRS][2]; /* time_end 0: not taken */
	struct snapshot truth;		     /* at the end */
	struct sim_lost *lost;		     /* in no order */
	size_t nlost;
	uint64_t t0, t1;
	uint64_t expect[EV_END];   /* events that a whole trace must hold; statuses not counted */
	uint64_t coroutine_starts; /* switches to one that never ran */
};

int simulate(struct sim_run *ret, const struct sim_opts *opts); /* 0 or -ENOMEM */
void sim_run__deinit(struct sim_run *run);

/* A symbolizer that knows some function for every PC. */
extern const struct symbolizer sim_symbolizer;

#endif

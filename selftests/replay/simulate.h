/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulator of the Go scheduler: the records that the probes would send for a random, legal
 * program.
 *
 * It implements the rules of the runtime (docs/go-runtime.md) independently of the sequencer, so
 * that its records and expected counts are an oracle. A step takes from nanoseconds to hundreds of
 * milliseconds, so that a short run crosses several generations. Downstream: mutate.c.
 */
#ifndef REPLAY_SIMULATE_H
#define REPLAY_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/spec.h"
#include "gotrace/record.h"
#include "target/process/snapshot.h"
#include "target/symbols/symbolize.h"

#define SIM_PCS	  8
#define SIM_TEXT  64 /* bytes */
#define SIM_PAIRS 3  /* pairs of snapshots after the first one */

struct sim_opts {
	uint64_t seed;
	unsigned int records; /* approximate number */
	unsigned int version; /* trace format: decides how a coroutine switch is counted */
	bool tentative;	      /* Go 1.26: system call exits are tentative */
	bool cut;	      /* the window begins in the middle of the program */
	bool no_syscalls;     /* without the system call probes */
	bool derives;	      /* without those of parks and ends, which are reported later */
};

struct sim_entry {
	uint64_t at; /* when it was sent, in true order */
	unsigned int ring;
	uint32_t size;
	struct gt_record rec;
	union {
		struct gt_stack stack;
		struct gt_text text;
		unsigned char payload[sizeof(struct gt_stack) + 8 * SIM_PCS];
	};
};

/* What the probes would have counted as lost. */
struct sim_lost {
	uint64_t at;
	unsigned int kind;
};

struct sim_run {
	struct sim_entry *entry; /* in the order of reading the rings */
	size_t n, cap;
	struct snapshot first, second;
	struct snapshot again[SIM_PAIRS][2]; /* time_end 0: not taken */
	struct snapshot truth;		     /* at the end */
	struct sim_lost *lost;		     /* in no order */
	size_t nlost;
	uint64_t t0, t1;
	uint64_t expect[EV_END];   /* events in a complete trace; statuses not counted */
	uint64_t coroutine_starts; /* switches to a coroutine that never ran */
};

int simulate(struct sim_run *ret, const struct sim_opts *opts); /* 0 or -ENOMEM */
void sim_run__deinit(struct sim_run *run);

/* A symbolizer with a function for every PC. */
extern const struct symbolizer sim_symbolizer;

#endif

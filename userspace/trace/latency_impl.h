/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the parts of time share: latency.c (events, items, threads), latency_part.c
 * (which part, and why), latency_stats.c (sums, and what is kept of who has ended).
 */
#ifndef TRACE_LATENCY_IMPL_H
#define TRACE_LATENCY_IMPL_H

#include "lib/map.h"
#include "trace/latency.h"
#include "trace/naming.h"

struct live { /* a goroutine */
	uint64_t id, pc;
	uint64_t m; /* whose thread it is on, while it is running or in a system call */
	int64_t created;
	int64_t since; /* all up to here is added to the stats */
	int64_t delay; /* of the run queue that it waits in, so far */
	struct latency_stats stats;
	uint32_t name;
	uint32_t go_kind;    /* why it is blocked, for Go */
	uint32_t kind;	     /* why it is in its part */
	uint32_t label;	     /* of a mark worker, while it runs; 0: it is none */
	uint32_t generation; /* that first told of it, if it was there before */
	uint16_t cpu;	     /* the core that its thread has or had last */
	uint8_t state;	     /* enum go_state */
	uint8_t part;
	bool has_cpu; /* cpu is known */
	bool in_call, unknown, in_assist;
};

struct latency {
	struct latency_opts opts;
	struct map g;	      /* by id, to struct live */
	struct map on_thread; /* by M, to those that are running or in a system call */
	struct naming naming;
	struct intern *preemptors; /* names of other programs' threads that took a core */
	struct amounts worker_wall, worker_oncpu; /* by label */
	int64_t now, sync; /* sync: when the generation began, or the trace */
	uint32_t generations;
	bool started;
	bool in_loss; /* records are missing just now */
};

static inline int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* latency_part.c; 0 or -ENOMEM */

/* Up to now it has been in the part that it is in. */
int part__add(struct latency *l, struct live *g);
/*
 * The part that it is in from now on, by its state and its thread's; `item`: what changed the
 * thread's just now, or NULL.
 */
int part__choose(struct latency *l, struct live *g, const struct kernel_threads *threads,
		 const struct kernel_item *item);
/* The same as long as nobody knows about the thread. */
int part__guess(struct latency *l, struct live *g);

/* latency_stats.c */

int latency_stats__count_delay(struct latency_stats *stats, int64_t ns); /* 0 or -ENOMEM */

#endif

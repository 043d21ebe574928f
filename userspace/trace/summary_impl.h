/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the summary share: summary.c (goroutines and Ps), summary_regions.c (regions
 * and tasks), summary_stats.c (times by kind), summary_pack.c (what is kept of who has ended).
 */
#ifndef TRACE_SUMMARY_IMPL_H
#define TRACE_SUMMARY_IMPL_H

#include "lib/map.h"
#include "trace/naming.h"
#include "trace/summary.h"

struct live_regions {
	struct summary_region *active; /* the innermost last; their stats are those at the start */
	uint32_t n, cap;
	struct pack done;
};

struct live { /* a goroutine */
	uint64_t id, pc;
	int64_t created, started, ended;
	struct summary_stats stats;
	/* Since when it is in each state; 0: it is not. */
	int64_t running, runnable, blocked, syscall, syscall_block;
	uint64_t syscall_p;  /* where it entered its last system call */
	struct amounts open; /* ranges, and since when */
	int64_t gc_work;     /* since when it is in a mark assist or a sweep; 0: it is not */
	bool in_assist, in_sweep;
	struct live_regions *regions; /* NULL: it had none */
	uint32_t name;
	uint32_t block_kind;
};

struct live_p {
	uint64_t id;
	uint64_t syscall_g, sweep_g; /* whose system call or sweep it is in */
	bool in_syscall, in_sweep;
};

struct summary {
	struct summary_opts opts;
	struct map g, p, task; /* by id, to the structs above */
	struct naming naming;
	int64_t last;		     /* the time of the last event */
	int64_t sync;		     /* of the last sync event, or of the first event */
	size_t region_bytes;	     /* held by regions that are open */
	uint64_t region_events;	     /* so far */
	struct summary_task **tasks; /* by id, when all is done */
	size_t ntasks;
};

/* summary_stats.c */

int stats__copy(struct summary_stats *to, const struct summary_stats *from);
/* `from` is an earlier state of what `stats` is now: its kinds are the first of `stats`. */
void stats__subtract(struct summary_stats *stats, const struct summary_stats *from);

/* If it runs, and is in a mark assist or a sweep: the time that it has been both. */
void live__add_gc_work(const struct live *g, int64_t now, struct summary_stats *stats);
/* What the states that it is in at `now` add to a goroutine's times. */
int live__add_pending(const struct live *g, int64_t now, struct summary_stats *stats);
/* Its times as of `now`, into a stats of the caller's. 0 or -ENOMEM. */
int live__snapshot(struct live *g, int64_t now, struct summary_stats *ret);

/* summary_pack.c */

int pack__region(struct pack *p, const struct summary_region *r);
int pack__goroutine(struct pack *p, const struct summary_goroutine *g);
int unpack__goroutine(struct buf *b, struct summary_goroutine *ret);

/* summary_regions.c */

/* `creator` may be NULL. */
int regions__inherit(struct summary *s, struct live *g, const struct live *creator, int64_t time);
int regions__begin(struct summary *s, const struct trace_event *ev, const struct meaning *m);
int regions__end(struct summary *s, const struct trace_event *ev, const struct meaning *m);
/* The goroutine has ended (or the trace: `end` is SUMMARY_NEVER), its times are final. */
int regions__finish(struct summary *s, struct live *g, int64_t end);
void regions__destroy(struct summary *s, struct live_regions *regions);
int tasks__event(struct summary *s, const struct trace_event *ev, const struct meaning *m);
int tasks__finish(struct summary *s);
void tasks__deinit(struct summary *s);

#endif

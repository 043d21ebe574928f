/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the summary share: summary.c (goroutines and Ps), summary_regions.c (regions
 * and tasks), summary_stats.c (times by kind), summary_pack.c (goroutines and regions that have
 * ended).
 */
#ifndef TRACE_SUMMARY_IMPL_H
#define TRACE_SUMMARY_IMPL_H

#include "analysis/goroutine_tracker.h"
#include "analysis/naming.h"
#include "analysis/summary.h"
#include "lib/map.h"

struct live_regions {
	struct summary_region *active; /* the innermost last; their stats are those at the start */
	uint32_t n, cap;
	struct outbuf done;
};

/* a goroutine */
struct live {
	struct tracked_goroutine go;	 /* since 0: the time in its state is not to be added */
	int64_t created, started, ended; /* as reported; go.created is within the window */
	struct summary_stats stats;
	int64_t syscall_block; /* since when its system call blocks; 0: it does not */
	uint64_t syscall_p;    /* where it entered its last system call */
	struct durations open; /* ranges, and since when */
	int64_t gc_work;       /* since when it is in a mark assist or a sweep; 0: it is not */
	bool in_assist, in_sweep;
	struct live_regions *regions; /* NULL: it had none */
	uint32_t block_kind;
};

struct live_p {
	uint64_t syscall_g, sweep_g; /* the goroutine in a system call or a sweep on it */
	bool in_syscall, in_sweep;
};

struct summary {
	struct summary_opts opts;
	struct goroutine_tracker tracker; /* of struct live */
	struct map p, task;		  /* by id, to the structs above */
	struct naming naming;
	/* The tracker gets the events with times that are clipped to the window. */
	int64_t from, to;
	bool windowed;
	int64_t time, sync;	     /* of the event, and of its generation's begin, not clipped */
	size_t region_bytes;	     /* held by regions that are open */
	uint64_t region_events;	     /* so far */
	struct summary_task **tasks; /* by id, when all is done */
	size_t ntasks;
};

/* The known part of [from, to), within a state of the goroutine. */
static inline int64_t live__known(const struct summary *s, const struct live *g, int64_t from,
				  int64_t to)
{
	return time_sub(time_sub(to, from), goroutine_tracker__lost(&s->tracker, &g->go, from, to));
}

/* If it runs, and is in a mark assist or a sweep: the time that it has been both. */
static inline void live__add_gc_work(const struct summary *s, const struct live *g, int64_t now,
				     struct summary_stats *stats)
{
	int64_t since = g->go.since > g->gc_work ? g->go.since : g->gc_work;

	if (g->go.state == GO_STATE_RUNNING && g->go.since && g->gc_work)
		stats->gc_work = time_add(stats->gc_work, live__known(s, g, since, now));
}

/* Adds the time that it has been in its state. 0 or -ENOMEM. Inline, as each transition does it. */
static inline int live__add_state(const struct summary *s, const struct live *g, int64_t now,
				  struct summary_stats *stats)
{
	int64_t ns = live__known(s, g, g->go.since, now);
	int64_t until = g->syscall_block ? g->syscall_block : now, call;

	if (s->tracker.gaps.n)
		stats->lost = time_add(stats->lost, time_sub(time_sub(now, g->go.since), ns));

	switch (g->go.state) {
	case GO_STATE_RUNNING:
		live__add_gc_work(s, g, now, stats);
		stats->exec = time_add(stats->exec, ns);
		return 0;
	case GO_STATE_RUNNABLE:
		stats->sched_wait = time_add(stats->sched_wait, ns);
		return 0;
	case GO_STATE_WAITING:
		return durations__add(&stats->block, g->block_kind, ns);
	case GO_STATE_SYSCALL:
		call = live__known(s, g, g->go.since, until);
		stats->syscall = time_add(stats->syscall, call);
		stats->syscall_block = time_add(stats->syscall_block, time_sub(ns, call));
	}
	return 0;
}

/* Of a time, what the sums are computed from: all of the time outside the window has no length. */
static inline int64_t clip(const struct summary *s, int64_t time)
{
	if (time < s->from)
		time = s->from;
	return time < s->to ? time : s->to;
}

/* summary_stats.c */

int stats__copy(struct summary_stats *to, const struct summary_stats *from);
/* `from` is an earlier state of what `stats` is now: its kinds are the first of `stats`. */
void stats__subtract(struct summary_stats *stats, const struct summary_stats *from);

/*
 * Adds the time that it has been in its state and in open ranges; sets its total, if it has none.
 * 0 or -ENOMEM, as below.
 */
int live__add_pending(const struct summary *s, const struct live *g, int64_t now,
		      struct summary_stats *stats);
/* Its times as of `now`; the caller deinitializes them. */
int live__snapshot(const struct summary *s, struct live *g, int64_t now, struct summary_stats *ret);
/* The known part of a range that it is in since `since`. */
int64_t live__range(const struct summary *s, int64_t since, int64_t now);

/* summary_pack.c */

int pack__region(struct outbuf *p, const struct summary_region *r);

/* summary_regions.c */

/* `creator` may be NULL. */
int regions__inherit(struct summary *s, struct live *g, const struct live *creator, int64_t time);
int regions__begin(struct summary *s, const struct trace_event *ev, const struct semantics *m);
int regions__end(struct summary *s, const struct trace_event *ev, const struct semantics *m);
/* The goroutine has ended (or the trace: `end` is SUMMARY_NEVER), its times are final. */
int regions__finish(struct summary *s, struct live *g, int64_t end);
void regions__destroy(struct summary *s, struct live_regions *regions);
int tasks__event(struct summary *s, const struct trace_event *ev, const struct semantics *m);
int tasks__finish(struct summary *s);
void tasks__deinit(struct summary *s);

#endif

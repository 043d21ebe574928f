/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the parts of time share: latency.c (goroutines and threads), latency_part.c
 * (which part, and why), latency_brief.c (the few sums that most goroutines have), latency_stats.c
 * (sums, and goroutines that have ended).
 */
#ifndef TRACE_LATENCY_IMPL_H
#define TRACE_LATENCY_IMPL_H

#include "analysis/goroutine_tracker.h"
#include "analysis/latency.h"
#include "analysis/naming.h"
#include "lib/map.h"

#define BRIEF_SUMS 3

/* Time of one part, reason and place. */
struct brief_sum {
	int64_t ns;
	uint32_t
		reason; /* part and kind, as in latency_stats.reasons; the part only, if it has none */
	uint16_t place; /* as in latency_stats.places, or LATENCY_NO_PLACE */
	bool unknown;	/* the state of the thread was */
};

/* The present slice of a goroutine. */
struct live_slice {
	int64_t from, to;
	uint64_t m, by;
	uint16_t reason, place, call;
	uint8_t part, state;
	bool unknown, assist, in_call;
	bool named; /* the name of the goroutine was known at its end */
};

/*
 * A goroutine. There may be a million, most of which only wait: their sums are few, and stay within
 * the struct until one of another sort is needed.
 */
struct live {
	struct tracked_goroutine go;
	uint64_t m;    /* the thread that it is on, while running or in a system call */
	int64_t since; /* all up to here is added to the stats */
	int64_t lost;  /* of the time up to there; the sums in the stats do not have it */
	int64_t delay; /* of the run queue that it waits in, so far */
	union {
		struct brief_sum brief[BRIEF_SUMS];
		struct latency_stats *stats; /* if `full` */
	};
	uint32_t go_kind; /* why it is blocked, for Go */
	uint32_t kind;	  /* why it is in its part */
	uint32_t label;	  /* of a mark worker, while it runs; 0: it is none */
	uint32_t place;	  /* where it is blocked: place_table__of() */
	uint32_t assist_place;
	uint32_t generation; /* the first that contains it, if it was there before */
	uint16_t cpu;	     /* that its thread has or had last */
	uint16_t wait_cpu;   /* that it had when it began to wait for one */
	uint16_t call;	     /* with opts.places: that its thread is in, as a kind; 0: none */
	uint8_t part;
	bool has_cpu; /* cpu is known */
	bool in_call, unknown, in_assist;
	bool wait_woken; /* it waits because it was woken */
	bool full;
	uint8_t nbrief;		 /* number of sums in `brief`, unless `full` */
	struct live_slice slice; /* with opts.slice: the present one; none if it is empty */
};

struct latency {
	struct latency_opts opts;
	struct goroutine_tracker tracker; /* of struct live */
	struct map on_thread;		  /* by M, to those that are running or in a system call */
	struct map waits;		  /* by M that was preempted or yielded: 1 + its kind */
	struct naming naming;
	struct place_table places; /* with opts.places */
	struct intern *preemptors; /* names of other programs' threads that took a CPU */
	struct intern *tasks;	   /* latency__task() */
	struct map cpus;	   /* by CPU: what it ran; see latency_tasks.c */
	bool machine;		   /* the trace has what CPUs ran */
	bool occupants;		   /* the trace has what CPUs ran while threads waited for them */
	uint32_t
		*task_reasons; /* by kind in `tasks`: 1 + the kind of the reason; latency_tasks.c */
	struct durations worker_wall, worker_oncpu; /* by label */
	const struct kernel_threads *threads;	    /* during a call: as it got them */
	int64_t now;				    /* of the last event or item; never falls */
	bool moved;				    /* `now` is not the time of the item itself */
	bool in_loss;				    /* records are missing at this time */
};

static inline int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The thread that it is on, if the kernel events have it, or NULL. */
static inline const struct kernel_thread *live__thread(const struct latency *l,
						       const struct live *g)
{
	return g->m <= UINT32_MAX ? kernel_threads__find(l->threads, (uint32_t)g->m) : NULL;
}

/* latency_brief.c */

/* Where live__stats() puts what it makes of brief sums. */
struct brief_stats {
	struct latency_stats stats;
	struct duration reasons[BRIEF_SUMS], places[BRIEF_SUMS];
};

/* Adds to the brief sums. False: there is no room for one more. */
bool live__add_brief(struct live *g, uint32_t reason, uint32_t place, int64_t ns);
/* Its sums, without the total: g->stats, or what is made at *at. Not to be deinitialized. */
const struct latency_stats *live__stats(const struct live *g, struct brief_stats *at);
/* Has g->stats from now on. 0 or -ENOMEM. */
int live__expand(struct live *g);
void live__free_stats(struct live *g);

/* latency_part.c; 0 or -ENOMEM */

/*
 * Adds time that was spent at a place to g->stats, with opts.places. `reason`: as in
 * latency_stats.reasons.
 */
int part__add_place(struct latency *l, struct live *g, uint32_t reason, uint32_t place, int64_t ns);

/* Adds the time up to now to the part that it is in. */
int part__add(struct latency *l, struct live *g);
/* Adds that time to a copy of its stats instead. */
int part__add_to(struct latency *l, const struct live *g, struct latency_stats *stats);
/* Reports the present slice, with opts.slice. */
int part__end_slice(struct latency *l, struct live *g);
/* As part__add() for the last time: it has ended, or the trace has. */
int part__end(struct latency *l, struct live *g);
/*
 * Notes why a thread waits for a CPU, also for a goroutine that starts on it only then: the time of
 * its start may be moved past the kernel's event.
 */
int part__note_wait(struct latency *l, const struct kernel_item *item);
/*
 * Chooses the part that it is in from now on, by its state and its thread's; `item`: the kernel
 * event that changed the thread's, or NULL.
 */
int part__choose(struct latency *l, struct live *g, const struct kernel_item *item);
/* The same while the state of the thread is unknown. */
int part__guess(struct latency *l, struct live *g);

/* latency_tasks.c; 0 or -ENOMEM */

int cpu_tasks__init(struct latency *l);
void cpu_tasks__deinit(struct latency *l);
/* A kernel event at `time` may have changed what its CPU runs. */
int cpu_tasks__item(struct latency *l, const struct kernel_item *item, int64_t time);
/* The goroutine's thread begins to wait for a CPU. */
void cpu_tasks__begin_wait(struct live *g, const struct kernel_thread *t);
/* The item shows that its thread waits for another CPU from now on. */
int cpu_tasks__moved(struct latency *l, struct live *g, const struct kernel_item *item);
/* Its thread still waits, and the item that shows for which CPU is yet to come. */
bool cpu_tasks__is_pending(const struct latency *l, const struct live *g);
/* A part of a wait for a CPU. */
struct cpu_piece {
	int64_t to;
	uint32_t task; /* that had the CPU: as in latency_stats.tasks */
	uint32_t kind; /* of the reason */
};
/* What had the CPU that the goroutine's thread waits for at `from`, and until when: `to` at most. */
int cpu_tasks__piece(struct latency *l, const struct live *g, int64_t from, int64_t to,
		     struct cpu_piece *ret);

/* latency_stats.c */

int latency_stats__count_delay(struct latency_stats *stats, int64_t ns); /* 0 or -ENOMEM */

#endif

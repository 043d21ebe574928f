/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The overhead budget of a recording (--max-overhead): from what the probes have cost the target, it
 * decides which event sets are recorded next. Pure functions of times and costs, without system calls.
 *
 * Two limits. Over any BUDGET_WINDOW_NS the cost must not exceed the budget: before it does, all
 * probes are detached until enough of the earlier cost is older than that. And when the cost of the
 * last second exceeds the budget, the event sets of budget_order[] are shed, one per second, as far as
 * they cost anything; they are recorded again, in the reverse order, once the cost with them has been
 * well below the budget for a while.
 *
 * Upstream: capture/recorder_budget.c, which measures and carries out the decisions; budget__parse()
 * is for options.
 */
#ifndef BUDGET_BUDGET_H
#define BUDGET_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "target/probe/site.h"

#define BUDGET_WINDOW_NS 10000000000ull
#define BUDGET_BUCKETS	 100 /* of the window: sums are exact to a bucket */
#define BUDGET_BUCKET_NS (BUDGET_WINDOW_NS / BUDGET_BUCKETS)

#define BUDGET_MIN	 0.001 /* shares of --max-overhead */
#define BUDGET_MAX	 64.0

struct budget_opts {
	double share;	   /* of a CPU, or of the target's CPU time; 0: no budget */
	bool of_target;	   /* the latter */
	unsigned int sets; /* event sets to record if all is well; bits, by enum site_set */
};

/* What was measured so far: sums since any point in time, CPU time of the target in ns. */
struct budget_use {
	uint64_t now;		   /* CLOCK_MONOTONIC, ns; never decreases */
	uint64_t target_ns;	   /* used by the target */
	double cost_ns[SITE_SETS]; /* of it, by the probes of a set */
};

struct budget_bucket {
	double cost_ns[SITE_SETS], target_ns;
};

/* Times are CLOCK_MONOTONIC, ns. */
struct budget {
	struct budget_opts opts;
	struct budget_use last;
	struct budget_bucket bucket[BUDGET_BUCKETS]; /* that of a time: by its number, modulo */
	uint64_t first;				     /* time of the first measurement */
	uint64_t attached;			     /* since when the probes are, or were */
	unsigned int sets;			     /* recorded while not paused */
	unsigned int shed;			     /* sets of budget_order[] that were shed */
	double share[SITE_SETS];		     /* of a shed set, in the cost at that time */
	bool paused;
	uint64_t since;	      /* time of the latest change, with that of a pause */
	uint64_t calm;	      /* since when the cost allows another set; 0: it does not */
	uint64_t hold;	      /* how long it must do so */
	uint64_t restored;    /* when the latest set was restored; 0: none, or one was shed since */
	uint64_t reaction_ns; /* how long the probes still cost when they are to be detached */
	double on_rate;	      /* cost per second when the probes were last attached, ns */
	double peak;	      /* most that the window has cost in this pause */
	uint64_t pause_ns;    /* least length of a pause, from earlier ones that began too late */
	bool is_compared;     /* peak was compared with the budget */
};

/*
 * The sets that can be shed, in the order in which they are: those with the least insight for their
 * cost come first. The others are the smallest set: goroutines, system calls, GC, user events.
 */
extern const enum site_set budget_order[];
extern const unsigned int budget_sheds;

/* "3%" (of one CPU) or "3%target" (of the target's CPU time). False: neither, or out of range. */
bool budget__parse(const char *text, struct budget_opts *ret);

void budget__init(struct budget *b, const struct budget_opts *opts, const struct budget_use *use);
/*
 * Takes a measurement. Returns the sets to record from now on, bits by enum site_set; 0: no probe may
 * be attached. To be called at least every 100 ms while probes are attached.
 */
unsigned int budget__step(struct budget *b, const struct budget_use *use);
/* How long a detachment of all probes has taken, ns: the next one begins that much earlier. */
void budget__detached(struct budget *b, uint64_t took_ns);

/* These sets cannot be recorded any more. */
void budget__give_up(struct budget *b, unsigned int sets);

/* Cost per CPU second of the latest second, and the budget at the moment; both as a share of a CPU. */
double budget__rate(const struct budget *b);
double budget__limit(const struct budget *b);

#endif

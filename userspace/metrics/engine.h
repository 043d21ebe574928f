/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The analyses that metrics are made of, over one trace.
 *
 * Upstream: steps of reader/timeline.h, of a file or of generations as they are recorded. It runs
 * the analyses of `gotrace requests` (and with it that of `gotrace latency`), `histogram` and
 * `stat`, so figures are theirs. Downstream: metrics/collect.c, which reads the sums.
 */
#ifndef METRICS_ENGINE_H
#define METRICS_ENGINE_H

#include "analysis/intervals.h"
#include "analysis/name_table.h"
#include "analysis/requests.h"
#include "analysis/statistics.h"
#include "metrics/values.h"
#include "reader/timeline.h"

/* Of the goroutines of a start function. */
struct function_sums {
	uint64_t goroutines;
	int64_t part[LATENCY_PARTS]; /* ns */
};

/* Sums over goroutines. */
struct goroutine_sums {
	struct latency_stats stats;
	struct function_sums *function; /* by name: latency__name() */
	size_t nfunctions;
	uint64_t alive[GO_STATE_SYSCALL + 1]; /* by enum go_state */
};

struct engine {
	/* Replaced by engine__restart(): */
	struct requests *requests;
	struct intervals *intervals;
	struct goroutine_sums ended;
	uint64_t blocks[INTERVAL_REASONS + 1];
	struct histogram stw[INTERVAL_REASONS + 1]; /* as the former, by reason */

	struct statistics statistics;
	struct histogram go[INTERVAL_KINDS], kernel[INTERVAL_KINDS];
	int64_t last; /* time of the last event */
	uint64_t heap, heap_goal, kernel_events, generations;
	uint64_t gc_unknown;	      /* GC cycles that ended, of unknown duration */
	bool kernel_calls;	      /* there were kernel events of system calls */
	struct name_table categories; /* of logs */
	uint64_t logs[NAME_TABLE_MAX + 1];

	uint64_t dropped, restarts;
	struct metric_values before; /* of what was replaced; all series so far are in it */
};

struct engine *engine__create(void);	/* NULL: no memory */
void engine__destroy(struct engine *e); /* NULL allowed */

/* Applies the next step. 0 or a negative errno with the reason. */
int engine__step(struct engine *e, const struct timeline *t, const struct timeline_step *step,
		 struct error *error);
/* If the trace ended after the last event, it would end there: 1 ns after that event. */
void engine__pass_end(struct engine *e);
/* The trace goes on elsewhere: what is known of goroutines and tasks does not hold. 0, -ENOMEM. */
int engine__restart(struct engine *e);
/*
 * Whether so many tasks are open that a program seems to end none of them: restart to bound memory.
 */
bool engine__is_full(const struct engine *e);

/* collect.c */

/*
 * The values up to the last step. 0 or -ENOMEM; the values are the caller's to deinitialize on
 * success. Those that kernel events after the last event of Go change are added by
 * engine__collect_rest(), after engine__step() for these.
 */
int engine__collect(struct engine *e, struct metric_values *ret);
int engine__collect_rest(struct engine *e, struct metric_values *v);
/* Adds those that engine__restart() would discard. */
int engine__collect_replaced(struct engine *e, struct metric_values *v);

/*
 * Of the goroutines that have ended and of those that are alive; ret->alive has only these. 0 or
 * -ENOMEM; *ret, which the caller has cleared, is to be deinitialized in any case.
 */
int engine__goroutines(struct engine *e, struct goroutine_sums *ret);

int goroutine_sums__add(struct goroutine_sums *sums, const struct latency_goroutine *g);
void goroutine_sums__deinit(struct goroutine_sums *sums);

#endif

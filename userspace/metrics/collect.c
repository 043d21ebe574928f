// SPDX-License-Identifier: GPL-2.0
/*
 * From the sums of the analyses (metrics/engine.h) to the values of metrics (metrics/values.h).
 *
 * Goroutines that are alive count with what they did up to now, by latency__each(); the analyses go
 * on undisturbed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kinds.h"
#include "metrics/engine.h"

static const struct trace_string unlabeled;

/* For readers of metrics, a label whose value is empty does not exist. */
static struct trace_string known(struct trace_string name)
{
	static const struct trace_string unknown = { "unknown", 7 };

	return name.len ? name : unknown;
}

static int add_time(struct metric_values *v, enum metrics_row row, struct trace_string name,
		    int64_t ns)
{
	return metric_values__add(v, row, name, (uint64_t)ns);
}

static int add_histogram(struct metric_values *v, enum metrics_row row, struct trace_string name,
			 const struct histogram *h)
{
	struct series *s = metric_values__series(v, row, name);

	if (!s)
		return -ENOMEM;
	histogram__add_all(&s->histogram, h);
	return 0;
}

/* ---- goroutines ---- */

static int add_alive(void *context, const struct latency_goroutine *g)
{
	return goroutine_sums__add(context, g);
}

int engine__goroutines(struct engine *e, struct goroutine_sums *ret)
{
	const struct goroutine_sums *ended = &e->ended;
	int err = latency_stats__copy(&ret->stats, &ended->stats);

	if (err)
		return err;
	ret->function = malloc((ended->nfunctions + 1) * sizeof(*ret->function));
	if (!ret->function)
		return -ENOMEM;
	if (ended->nfunctions)
		memcpy(ret->function, ended->function, ended->nfunctions * sizeof(*ret->function));
	ret->nfunctions = ended->nfunctions;
	return latency__each(requests__latency(e->requests), add_alive, ret);
}

static int collect_reasons(const struct latency *l, const struct latency_stats *stats,
			   struct metric_values *v)
{
	static const enum metrics_row rows[LATENCY_PARTS] = {
		[PART_KERNEL_RUNNABLE] = ROW_WAIT_KERNEL_RUNNABLE,
		[PART_KERNEL_BLOCKED] = ROW_WAIT_KERNEL_BLOCKED,
		[PART_SYSCALL_BLOCKED] = ROW_WAIT_SYSCALL_BLOCKED,
		[PART_GO_BLOCKED] = ROW_WAIT_GO_BLOCKED,
	};
	const struct duration *d;
	int err = 0;

	for (uint32_t i = 0; !err && i < stats->reasons.n; i++) {
		d = &stats->reasons.at[i];
		err = add_time(v, rows[latency_reason__part(d->kind)],
			       known(latency__reason(l, d->kind)), d->ns);
	}
	return err;
}

static int collect_workers(const struct latency *l, struct metric_values *v)
{
	struct latency_worker w;
	int err = 0;

	for (size_t i = 0; !err && latency__worker(l, i, &w); i++) {
		err = add_time(v, ROW_GC_WORKER, w.label, w.wall);
		if (!err)
			err = add_time(v, ROW_GC_WORKER_CPU, w.label, w.oncpu);
	}
	return err;
}

static int collect_goroutines(struct engine *e, const struct goroutine_sums *sums,
			      struct metric_values *v)
{
	const struct latency *l = requests__latency(e->requests);
	const struct latency_stats *stats = &sums->stats;
	int err = 0;

	for (unsigned int part = 0; !err && part < LATENCY_PARTS; part++)
		err = add_time(v, (enum metrics_row)(ROW_TIME + part), unlabeled,
			       stats->part[part]);
	err = err ?: add_time(v, ROW_TIME_UNKNOWN, unlabeled, stats->unknown);
	err = err ?: add_time(v, ROW_SYSCALL_CPU, unlabeled, stats->syscall_oncpu);
	err = err ?: add_time(v, ROW_GC_ASSIST, unlabeled, stats->gc_assist);
	for (uint32_t name = 0; !err && name < sums->nfunctions; name++)
		if (sums->function[name].part[PART_ONCPU])
			err = add_time(v, ROW_CPU, known(latency__name(l, name)),
				       sums->function[name].part[PART_ONCPU]);
	err = err ?: collect_reasons(l, stats, v);
	return err ?: collect_workers(l, v);
}

static int set_alive(const struct goroutine_sums *sums, struct metric_values *v)
{
	int err = metric_values__set(v, ROW_GOROUTINES_RUNNABLE, sums->alive[GO_STATE_RUNNABLE]);

	err = err ?: metric_values__set(v, ROW_GOROUTINES_RUNNING, sums->alive[GO_STATE_RUNNING]);
	err = err ?: metric_values__set(v, ROW_GOROUTINES_WAITING, sums->alive[GO_STATE_WAITING]);
	return err ?: metric_values__set(v, ROW_GOROUTINES_SYSCALL, sums->alive[GO_STATE_SYSCALL]);
}

/* ---- requests ---- */

static int collect_request(const struct requests *r, const struct request_name *n,
			   struct metric_values *v)
{
	struct trace_string name = requests__name(r, n->name);
	struct request_sum sum;
	struct series *s = metric_values__series(v, ROW_REQUEST, name);
	int err;

	if (!s)
		return -ENOMEM;
	histogram__add_lengths(&s->histogram, &n->lengths);
	err = request_name__sum(n, &sum);
	if (err)
		return err;
	err = metric_values__add(v, ROW_REQUEST_ERRORS, name, n->failed);
	err = err ?: add_time(v, ROW_REQUEST_CPU, name, sum.time.part[PART_ONCPU]);
	request_sum__deinit(&sum);
	return err;
}

static int collect_requests(const struct requests *r, struct metric_values *v)
{
	const struct request_name *n;
	int err = metric_values__add(v, ROW_REQUESTS_UNBEGUN, unlabeled, requests__unbegun(r));

	for (uint32_t i = 0; !err && i < REQUEST_NAMES; i++) {
		n = requests__at(r, i);
		err = n ? collect_request(r, n, v) : 0;
	}
	return err;
}

/* ---- the rest ---- */

static int collect_intervals(const struct engine *e, struct metric_values *v)
{
	struct trace_string reason;
	int err = 0;

	for (uint32_t i = 0; !err && i <= INTERVAL_REASONS; i++) {
		reason = known(intervals__text(e->intervals, i));
		if (e->blocks[i])
			err = metric_values__add(v, ROW_BLOCKS, reason, e->blocks[i]);
		if (!err && histogram__count(&e->stw[i]))
			err = add_histogram(v, ROW_STW, reason, &e->stw[i]);
	}
	return err;
}

/* ---- what kernel events after the last event of Go still change ---- */

static int add_migrations(void *context, const struct latency_goroutine *g)
{
	int64_t *n = context;

	*n = time_add(*n, g->stats.migrations);
	return 0;
}

static int collect_migrations(struct engine *e, struct metric_values *v)
{
	int64_t n = e->ended.stats.migrations;
	int err = latency__each(requests__latency(e->requests), add_migrations, &n);

	return err ?: add_time(v, ROW_MIGRATIONS, unlabeled, n);
}

int engine__collect_rest(struct engine *e, struct metric_values *v)
{
	const struct histogram *syscalls = e->kernel_calls ? e->kernel : e->go;
	int err = metric_values__set(v, ROW_KERNEL_EVENTS, e->kernel_events);

	err = err ?: add_histogram(v, ROW_RUN_QUEUE, unlabeled, &e->kernel[INTERVAL_RUNQUEUE]);
	err = err ?: add_histogram(v, ROW_SYSCALL, unlabeled, &syscalls[INTERVAL_SYSCALL]);
	err = err ?: collect_migrations(e, v);
	return err ?: metric_values__reserve(&e->before, v);
}

/* ---- together ---- */

/* What engine__restart() replaces. */
static int collect_replaced(struct engine *e, const struct goroutine_sums *sums,
			    struct metric_values *v)
{
	int err = collect_goroutines(e, sums, v);

	err = err ?: collect_requests(e->requests, v);
	return err ?: collect_intervals(e, v);
}

int engine__collect_replaced(struct engine *e, struct metric_values *v)
{
	struct goroutine_sums sums = {};
	int err = engine__goroutines(e, &sums);

	err = err ?: collect_replaced(e, &sums, v);
	goroutine_sums__deinit(&sums);
	return err ?: collect_migrations(e, v);
}

static int collect_statistics(const struct engine *e, struct metric_values *v)
{
	const struct statistics *s = &e->statistics;
	int err = metric_values__set(v, ROW_CREATED, s->created);

	err = err ?: metric_values__set(v, ROW_ENDED, s->ended);
	err = err ?: metric_values__set(v, ROW_GOMAXPROCS, s->gomaxprocs);
	err = err ?: metric_values__set(v, ROW_EVENTS, s->events);
	err = err ?: metric_values__set(v, ROW_RECORDED, (uint64_t)s->end - (uint64_t)s->start);
	for (unsigned int kind = 0; !err && kind < GT_KIND_END; kind++)
		if (s->loss[kind].count)
			err = metric_values__add(
				v, ROW_LOST,
				(struct trace_string){ kind__name(kind),
						       (uint32_t)strlen(kind__name(kind)) },
				s->loss[kind].count);
	return err;
}

static int collect_counts(const struct engine *e, struct metric_values *v)
{
	int err = metric_values__set(v, ROW_HEAP, e->heap);

	err = err ?: metric_values__set(v, ROW_HEAP_GOAL, e->heap_goal);
	err = err ?: metric_values__set(v, ROW_GENERATIONS, e->generations);
	err = err ?: metric_values__set(v, ROW_DROPPED, e->dropped);
	err = err ?: metric_values__set(v, ROW_RESTARTS, e->restarts);
	err = err ?: add_histogram(v, ROW_SCHED, unlabeled, &e->go[INTERVAL_SCHED]);
	err = err ?: add_histogram(v, ROW_GC, unlabeled, &e->go[INTERVAL_GC]);
	for (uint32_t i = 0; !err && i <= NAME_TABLE_MAX; i++)
		if (e->logs[i])
			err = metric_values__add(v, ROW_LOGS, name_table__at(&e->categories, i),
						 e->logs[i]);
	return err;
}

static int collect(struct engine *e, struct metric_values *v)
{
	struct goroutine_sums sums = {};
	int err = engine__goroutines(e, &sums);

	err = err ?: collect_replaced(e, &sums, v);
	err = err ?: set_alive(&sums, v);
	goroutine_sums__deinit(&sums);
	err = err ?: collect_statistics(e, v);
	return err ?: collect_counts(e, v);
}

int engine__collect(struct engine *e, struct metric_values *ret)
{
	int err = metric_values__copy(ret, &e->before);

	if (err)
		return err;
	err = collect(e, ret);
	if (err)
		metric_values__deinit(ret);
	return err;
}

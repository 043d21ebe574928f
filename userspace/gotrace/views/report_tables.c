// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a report: goroutines per start function and one by one, and requests by name. The
 * figures are those of `gotrace latency --json` and `gotrace requests --json`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "gotrace/views/report.h"
#include "lib/array.h"

/* Names of the parts, in the order of enum latency_part; those of --json without "_ns". */
static const char *const parts[LATENCY_PARTS] = {
	[PART_ONCPU] = "oncpu",
	[PART_GO_RUNNABLE] = "go_runnable",
	[PART_KERNEL_RUNNABLE] = "kernel_runnable",
	[PART_THROTTLED] = "throttled",
	[PART_KERNEL_BLOCKED] = "kernel_blocked",
	[PART_SYSCALL_BLOCKED] = "syscall_blocked",
	[PART_GO_BLOCKED] = "go_blocked",
};

uint64_t report__time(const struct report_data *d, int64_t time)
{
	return time > d->start ? (uint64_t)time - (uint64_t)d->start : 0;
}

/* ---- goroutines ---- */

/* Longest first; of equally long ones the smaller ID. */
static int compare_goroutines(const void *a, const void *b)
{
	const struct report_goroutine *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void keep_longest(struct report_data *d)
{
	array__sort(d->list, d->nlist, sizeof(*d->list), compare_goroutines);
	if (d->nlist > REPORT_GOROUTINES_MAX)
		d->nlist = REPORT_GOROUTINES_MAX;
}

int report__add(struct report_data *d, const struct latency_goroutine *g)
{
	struct latencies *all = &d->latencies;
	struct report_goroutine *to;
	struct function *f;

	if (array__grow_cleared(&all->functions, g->name, &all->nfunctions, sizeof(*f)))
		return -ENOMEM;
	f = &all->functions[g->name];
	f->name = g->name;
	f->count++;
	all->count++;
	/* Not all at once at the end: the list has room for as many as remain. */
	if (d->nlist == sizeof(d->list) / sizeof(*d->list))
		keep_longest(d);
	to = &d->list[d->nlist++];
	*to = (struct report_goroutine){
		.id = g->id,
		.name = g->name,
		.from = time_sub(d->now, g->stats.total),
		.to = d->now,
		.total = g->stats.total,
		.lost = g->stats.lost,
	};
	memcpy(to->part, g->stats.part, sizeof(to->part));
	if (report__count(d, g))
		return -ENOMEM;
	return latency_stats__add(&f->stats, &g->stats);
}

/* With what is lost, if records were, as put_part_names(). */
static void put_parts(const struct report_data *d, struct json *j,
		      const int64_t part[LATENCY_PARTS], int64_t lost)
{
	json__open(j, "parts", '[');
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		json__i64(j, NULL, part[i]);
	if (latency__has_gaps(d->latencies.latency))
		json__i64(j, NULL, lost);
	json__close(j, ']');
}

static void put_part_names(const struct report_data *d, struct json *j)
{
	json__open(j, "parts", '[');
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		json__string(j, NULL, parts[i]);
	if (latency__has_gaps(d->latencies.latency))
		json__string(j, NULL, "lost");
	json__close(j, ']');
}

static int put_functions(struct report_data *d, struct json *j)
{
	const struct function **functions;
	struct trace_string name;
	size_t n;

	functions = functions__sorted(&d->latencies, &n);
	if (!functions)
		return -ENOMEM;
	d->more_functions = n > REPORT_FUNCTIONS_MAX;
	n = d->more_functions ? REPORT_FUNCTIONS_MAX : n;
	json__open(j, "functions", '[');
	for (size_t i = 0; i < n; i++) {
		name = latency__name(d->latencies.latency, functions[i]->name);
		json__open(j, NULL, '{');
		json__bytes(j, "name", name.data, name.len);
		json__u64(j, "count", functions[i]->count);
		json__i64(j, "total", functions[i]->stats.total);
		put_parts(d, j, functions[i]->stats.part, functions[i]->stats.lost);
		json__close(j, '}');
	}
	json__close(j, ']');
	free(functions);
	return 0;
}

static void put_list(struct report_data *d, struct json *j)
{
	struct trace_string name;

	json__open(j, "list", '[');
	for (const struct report_goroutine *g = d->list; g < d->list + d->nlist; g++) {
		name = latency__name(d->latencies.latency, g->name);
		json__open(j, NULL, '{');
		json__u64(j, "id", g->id);
		json__bytes(j, "name", name.data, name.len);
		json__u64(j, "from", report__time(d, g->from));
		json__u64(j, "to", report__time(d, g->to));
		json__i64(j, "total", g->total);
		put_parts(d, j, g->part, g->lost);
		json__close(j, '}');
	}
	json__close(j, ']');
}

int report__print_goroutines(struct report_data *d, struct json *j)
{
	int err;

	keep_longest(d);
	json__open(j, "goroutines", '{');
	put_part_names(d, j);
	err = put_functions(d, j);
	put_list(d, j);
	json__u64(j, "omitted", d->latencies.count - d->nlist);
	json__close(j, '}');
	return err;
}

/* ---- requests ---- */

static void put_lengths(struct json *j, const struct lengths *l)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	size_t n = lengths__buckets(l, buckets);

	json__u64(j, "count", l->count);
	json__i64(j, "total", l->sum);
	json__i64(j, "mean", l->count ? l->sum / (int64_t)l->count : 0);
	json__i64(j, "p50", lengths__share(l, 0.5));
	json__i64(j, "p90", lengths__share(l, 0.9));
	json__i64(j, "p99", lengths__share(l, 0.99));
	json__i64(j, "max", l->max);
	json__open(j, "histogram", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(j, NULL, '[');
		json__i64(j, NULL, buckets[i].from);
		json__u64(j, NULL, buckets[i].count);
		json__close(j, ']');
	}
	json__close(j, ']');
}

static void put_worst(struct report_data *d, struct json *j, uint32_t name)
{
	const struct request_single *worst;
	size_t n;

	worst = requests__worst(d->requests, &n);
	json__open(j, "worst", '[');
	for (size_t i = 0; i < n; i++) {
		if (worst[i].name != name)
			continue;
		json__open(j, NULL, '{');
		json__u64(j, "id", worst[i].id);
		if (worst[i].creator == TRACE_NO_G)
			json__null(j, "goroutine");
		else
			json__u64(j, "goroutine", worst[i].creator);
		json__u64(j, "from", report__time(d, worst[i].begin));
		json__u64(j, "to", report__time(d, worst[i].end));
		put_parts(d, j, worst[i].time.part, worst[i].time.lost);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static int put_name(struct report_data *d, struct json *j, const struct request_name *n)
{
	struct trace_string name = requests__name(d->requests, n->name);
	struct request_sum sum;
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	json__open(j, NULL, '{');
	json__bytes(j, "name", name.data, name.len);
	put_lengths(j, &n->lengths);
	json__u64(j, "errors", n->failed);
	put_parts(d, j, sum.time.part, sum.time.lost);
	put_worst(d, j, n->name);
	json__close(j, '}');
	request_sum__deinit(&sum);
	return 0;
}

int report__print_requests(struct report_data *d, struct json *j)
{
	const struct request_name **names;
	size_t n;
	int err = 0;

	names = requests__sorted(d->requests, LENGTHS_TOTAL, &n);
	if (!names)
		return -ENOMEM;
	json__open(j, "requests", '{');
	put_part_names(d, j);
	json__open(j, "names", '[');
	for (size_t i = 0; !err && i < n; i++)
		if (names[i]->lengths.count)
			err = put_name(d, j, names[i]);
	json__close(j, ']');
	json__close(j, '}');
	free(names);
	return err;
}

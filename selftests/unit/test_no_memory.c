// SPDX-License-Identifier: GPL-2.0
/*
 * What reads and writes traces when there is no memory: see no_memory.h.
 */
#include "unit/test.h"
#include "analysis/intervals.h"
#include "analysis/latency.h"
#include "analysis/statistics.h"
#include "analysis/summary.h"
#include "analysis/waits.h"
#include "reader/index.h"
#include "reader/start_functions.h"
#include "reader/timeline.h"
#include "rewrite/rewrite.h"
#include "text/text.h"

#include "unit/rewrite_fixture.h"

#include "unit/no_memory.h"

static const char *trace; /* what the jobs read */

/* ---- the jobs ---- */

static int open_reader(struct reader **ret)
{
	struct input *in;
	int code = input__open(&in, trace, &why);

	return code ?: reader__open(ret, in, NULL, &why);
}

/* Each event of the trace is given to `fn`. */
static int each_event(int (*fn)(void *ctx, const struct trace_event *ev), void *ctx)
{
	struct trace_event ev;
	struct reader *r;
	int code = open_reader(&r);

	if (code)
		return code;
	while ((code = reader__next(r, &ev, &why)) > 0) {
		code = fn(ctx, &ev);
		if (code)
			break;
	}
	reader__destroy(r);
	return code;
}

static int add_event(void *ctx, const struct trace_event *ev)
{
	struct seen s;

	if (ev->type != EV_SYNC)
		seen__take(&s, ev);
	add_number((uint64_t)ev->time);
	add_number(ev->type);
	for (unsigned int i = 0; ev->type != EV_SYNC && i < EV_ARGS_MAX - 1; i++)
		add_number(s.arg[i]);
	return 0;
}

static int read_it(void)
{
	return each_event(add_event, NULL);
}

/* One number for all of them. */
static int summarized(void *ctx, const struct summary_goroutine *g)
{
	result += g->id * (uint64_t)(g->stats.total + 1);
	return 0;
}

static int to_summary(void *ctx, const struct trace_event *ev)
{
	return summary__event(ctx, ev, &why);
}

static int summarize(void)
{
	struct summary *s =
		summary__create(&(struct summary_opts){ .regions = true, .done = summarized });
	const struct summary_task *task;
	int code = s ? each_event(to_summary, s) : -ENOMEM;

	if (!code)
		code = summary__finish(s, &why);
	for (size_t i = 0; !code && (task = summary__task(s, i)); i++)
		add_number(task->id);
	summary__destroy(s);
	return code;
}

static int to_statistics(void *ctx, const struct trace_event *ev)
{
	return statistics__event(ctx, ev);
}

static int count(void)
{
	struct statistics s;
	int code;

	statistics__init(&s);
	code = each_event(to_statistics, &s);
	add(s.meta, s.meta ? 1 : 0);
	statistics__deinit(&s);
	return code;
}

static int measured(void *ctx, const struct latency_goroutine *g)
{
	result += g->id * (uint64_t)(g->stats.total + 1);
	return 0;
}

/* Events and items, as `gotrace latency` takes them. */
static int each_step(struct timeline *t, struct latency *l)
{
	const struct kernel_threads *threads = timeline__threads(t);
	struct timeline_step step;
	int code;

	while ((code = timeline__next(t, &step, &why)) > 0) {
		result += timeline__lossy(t);
		if (step.event)
			code = latency__event(l, step.event, threads, &why);
		else
			code = latency__item(l, step.item, timeline__time(t, step.item->time),
					     timeline__until(t), threads, &why);
		if (code)
			return code;
	}
	return code ?: latency__finish(l, &why);
}

static int measure(void)
{
	const struct latency_opts opts = { INT64_MIN, INT64_MAX, measured, NULL };
	struct timeline *t = NULL;
	struct latency *l;
	struct reader *r;
	int code = open_reader(&r);

	if (code)
		return code;
	l = latency__create(&opts);
	code = l ? timeline__create(&t, r) : -ENOMEM;
	if (!code)
		code = each_step(t, l);
	timeline__destroy(t);
	latency__destroy(l);
	reader__destroy(r);
	return code;
}

static int to_intervals(void *ctx, const struct trace_event *ev)
{
	return intervals__event(ctx, ev);
}

static int find_intervals(void)
{
	struct intervals *iv =
		intervals__create(&(struct intervals_opts){ .kind = INTERVAL_SCHED });
	int code = iv ? each_event(to_intervals, iv) : -ENOMEM;
	bool kernel;

	if (!code)
		add_number((uint64_t)intervals__counts(iv, &kernel)->lengths.sum);
	intervals__destroy(iv);
	return code;
}

/* The waits by both of the analyses that `gotrace waits` needs. */
struct explained {
	struct waits *waits;
	struct path_history history;
	struct path_fold fold;
};

static int to_waits(void *ctx, const struct trace_event *ev)
{
	static const struct kernel_threads none;
	struct explained *e = ctx;

	return waits__event(e->waits, ev) ?:
					    path_fold__event(&e->fold, ev, &none, (uint64_t)ev->time);
}

static int explain(struct explained *e)
{
	uint64_t budget = WAITS_STEPS_MAX;
	const struct wait *all;
	struct wait_causes causes;
	size_t n = 0;
	int code = waits__finish(e->waits, INT64_MAX, &e->history, &all, &n);

	for (size_t i = 0; !code && i < n; i++) {
		code = wait__causes(&e->history, &all[i], &budget, &causes);
		add_number(all[i].goroutine);
		add_number((uint64_t)all[i].from);
		add_number(code ? 0 : causes.n);
	}
	return code;
}

static int find_waits(void)
{
	const struct waits_opts opts = { .kind = { true, true, true, true },
					 .runtime = true,
					 .longest = 5 };
	struct explained e = { .waits = waits__create(&opts) };
	int code = path_history__init(&e.history, SIZE_MAX);

	if (!code) {
		path_fold__init(&e.fold, &e.history);
		code = e.waits ? each_event(to_waits, &e) : -ENOMEM;
		path_fold__deinit(&e.fold);
	}
	code = code ?: explain(&e);
	waits__destroy(e.waits);
	path_history__deinit(&e.history);
	return code;
}

static int to_rewrite(void *ctx, const struct trace_event *ev)
{
	return rewrite__event(ctx, ev);
}

static int write_again(void)
{
	const struct rewrite_opts opts = { .version = 25, .from = INT64_MIN };
	const char *path = scratch("again");
	struct trace_file *file = NULL;
	struct rewrite *rw = NULL;
	int code = trace_file__open(&file, path, FILE_ANY);

	code = code ?: rewrite__create(&rw, file, &opts);
	code = code ?: each_event(to_rewrite, rw);
	code = code ?: rewrite__end(rw);
	code = code ?: trace_file__commit(file);
	rewrite__destroy(rw);
	trace_file__destroy(file);
	if (!code)
		add_file(path);
	return code;
}

/* A place in the trace, by its index. */
static int find_place(struct index *ix)
{
	struct reader_place place;
	struct start_functions functions;
	struct order state;
	int code = index__place(ix, 2050, &place, &state, &functions, &why);

	if (code < 0)
		return code;
	add_number(place.offset);
	add_number(state.g.n);
	order__deinit(&state);
	start_functions__deinit(&functions);
	return 0;
}

static int make_index(void)
{
	struct index_totals totals;
	char *name = index__name(trace);
	struct index *ix;
	int code = name ? index__write(trace, name, &totals, &why) : -ENOMEM;

	if (!code)
		add_file(name);
	free(name);
	code = code ?: index__open(&ix, trace, &why);
	if (code)
		return code;
	code = find_place(ix);
	index__destroy(ix);
	return code;
}

static int to_text(struct outbuf *text)
{
	struct input *in;
	int code = input__open(&in, trace, &why);

	if (code)
		return code;
	code = text__write(in, text, &why);
	input__destroy(in);
	return code;
}

static int from_text(const struct outbuf *text, struct outbuf *bytes)
{
	struct input *in;
	int code = input__open_memory(&in, text->data, text->len, &why);

	if (code)
		return code;
	code = text__read(in, bytes, &why);
	input__destroy(in);
	return code;
}

/* As text, and the text as a trace. */
static int convert(void)
{
	struct outbuf text = {}, bytes = {};
	int code;

	code = to_text(&text);
	code = code ?: from_text(&text, &bytes);
	add(text.data, text.len);
	add(bytes.data, bytes.len);
	outbuf__deinit(&text);
	outbuf__deinit(&bytes);
	return code;
}

JOB(read_it)
JOB(summarize)
JOB(count)
JOB(measure)
JOB(find_intervals)
JOB(find_waits)
JOB(write_again)
JOB(make_index)
JOB(convert)

static void make_trace(void)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s", write_example(25));
	trace = path;
}

GROUP(make_trace, NULL)

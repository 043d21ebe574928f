/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-made events for the unit tests of the summary, and the result as text: one line per
 * goroutine, then one per region.
 */
#ifndef SELFTESTS_SUMMARY_FIXTURE_H
#define SELFTESTS_SUMMARY_FIXTURE_H

#include "unit/scratch.h"
#include "unit/tracker_fixture.h"
#include "analysis/record_store.h"
#include "analysis/summary.h"

enum { NONE, MAIN, WORKER, GC_WORKER, CHAN, FOREVER, KIND, TASK, STEP, INNER, STRINGS };
/* clang-format off */
static const char *const strings[STRINGS] = {
	[NONE] = "",	      [MAIN] = "main.main",  [WORKER] = "main.worker",
	[GC_WORKER] = "runtime.gcBgMarkWorker",	     [CHAN] = "chan receive",
	[FOREVER] = "forever", [KIND] = "sweep",     [TASK] = "request",
	[STEP] = "step",      [INNER] = "inner",
};
/* clang-format on */

static struct summary *summary;
static struct record_store *store;
static struct error error;

static inline int keep(void *context, const struct summary_goroutine *g)
{
	return record_store__add(store, summary__pack, g);
}

static inline void end(void)
{
	summary__destroy(summary);
	record_store__destroy(store);
	dictionary__deinit(&dictionary);
	summary = NULL;
	store = NULL;
	memset(&dictionary, 0, sizeof(dictionary));
}

static inline void begin(bool regions)
{
	struct summary_opts opts = { .regions = regions, .done = keep };

	end();
	add_strings(strings, STRINGS);
	add_start_functions(MAIN, GC_WORKER, CHAN);
	store = record_store__create();
	summary = summary__create(&opts);
	assert_non_null(store);
	assert_non_null(summary);
	on_m = 1;
	on_p = TRACE_NO_P;
	on_g = TRACE_NO_G;
	memset(&error, 0, sizeof(error));
}

static void summary_setup(void)
{
	begin(false);
}

FIXTURE(summary_setup, end)

static inline void on(uint64_t p, uint64_t g)
{
	on_p = p;
	on_g = g;
}

static inline int try_event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	if (type == EV_GO_STATUS || type == EV_GO_STATUS_STACK)
		ev.old = GO_STATE_UNDETERMINED;
	return summary__event(summary, &ev, &error);
}

static inline void event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	assert_int_equal(try_event(time, type, a, b, c), 0);
}

/* Goroutine g is created, starts on p 1 ns later, and is in the context of further events. */
static inline void start_new(uint64_t g, uint64_t p, int64_t time)
{
	on(p, TRACE_NO_G);
	event(time, EV_GO_CREATE, g, WORKER, 0);
	event(time + 1, EV_GO_START, g, 1, 0);
	on(p, g);
}

/* A status in a later generation has no effect. */
static inline void repeat_status(int64_t time, uint64_t g, uint8_t status, uint8_t state)
{
	struct trace_event ev = made_event(time, EV_GO_STATUS, g, 1, status);

	ev.old = state;
	assert_int_equal(summary__event(summary, &ev, &error), 0);
}

static inline void put_time(FILE *f, const char *name, int64_t time, int64_t never)
{
	if (time != never)
		fprintf(f, " %s=%" PRId64, name, time);
}

static inline void put_stats(FILE *f, const struct summary_stats *s)
{
	struct trace_string kind;

	put_time(f, "exec", s->exec, 0);
	put_time(f, "wait", s->sched_wait, 0);
	put_time(f, "sys", s->syscall, 0);
	put_time(f, "sysblock", s->syscall_block, 0);
	put_time(f, "total", s->total, 0);
	put_time(f, "gcwork", s->gc_work, 0);
	put_time(f, "twice", s->go_twice, 0);
	for (uint32_t i = 0; i < s->block.n; i++) {
		kind = summary__kind(summary, s->block.at[i].kind);
		fprintf(f, " block[%.*s]=%" PRId64, (int)kind.len, kind.data, s->block.at[i].ns);
	}
	for (uint32_t i = 0; i < s->ranges.n; i++) {
		kind = summary__kind(summary, s->ranges.at[i].kind);
		fprintf(f, " range[%.*s]=%" PRId64, (int)kind.len, kind.data, s->ranges.at[i].ns);
	}
	fputc('\n', f);
}

static inline void put_goroutine(FILE *f, struct summary_goroutine *g)
{
	struct trace_string name = summary__name(summary, g->name);
	struct summary_region r;

	fprintf(f, "%" PRIu64 " %.*s@%" PRIx64, g->id, (int)name.len, name.data, g->pc);
	put_time(f, "created", g->created, 0);
	put_time(f, "started", g->started, 0);
	put_time(f, "ended", g->ended, 0);
	put_stats(f, &g->stats);
	while (buf__left(&g->regions)) {
		assert_int_equal(summary_region__unpack(&g->regions, &r), 1);
		name = summary__name(summary, r.name);
		fprintf(f, "  %" PRIu64 ":%.*s", r.task, (int)name.len, name.data);
		put_time(f, "start", r.start, SUMMARY_NEVER);
		put_time(f, "end", r.end, SUMMARY_NEVER);
		put_stats(f, &r.stats);
		summary_stats__deinit(&r.stats);
	}
	assert_int_equal(summary_region__unpack(&g->regions, &r), 0);
	summary_stats__deinit(&g->stats);
}

/* Expects this result. */
static inline void expect(const char *want)
{
	struct summary_goroutine g;
	FILE *f = capture();

	assert_int_equal(summary__finish(summary, &error), 0);
	record_store__sort(store);
	for (size_t i = 0; i < record_store__count(store); i++) {
		assert_int_equal(summary__unpack(record_store__get(store, i), &g), 0);
		put_goroutine(f, &g);
	}
	expect_captured(want);
}

static inline void expect_text(struct trace_string s, const char *want)
{
	assert_int_equal(s.len, strlen(want));
	assert_memory_equal(s.data, want, s.len);
}

#endif

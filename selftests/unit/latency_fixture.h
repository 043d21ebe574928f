/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-made events and items for the unit tests of durations, and the result as text: one line per
 * goroutine.
 */
#ifndef SELFTESTS_LATENCY_FIXTURE_H
#define SELFTESTS_LATENCY_FIXTURE_H

#include "unit/tracker_fixture.h"
#include "analysis/latency.h"
#include "analysis/record_store.h"

enum { NONE, MAIN, WORKER, MARKER, CHAN, FOREVER, DEDICATED, IDLE, STRINGS };
static const char *const strings[STRINGS] = {
	[NONE] = "",
	[MAIN] = "main.main",
	[WORKER] = "main.worker",
	[MARKER] = "runtime.gcBgMarkWorker",
	[CHAN] = "chan receive",
	[FOREVER] = "forever",
	[DEDICATED] = "GC (dedicated)",
	[IDLE] = "GC (idle)",
};

enum { FUTEX = 202, READ = 0, NAMELESS = 9999 };

static struct latency *latency;
static struct record_store *done;
static struct kernel_threads threads;
static struct error error;

/* The slices of a goroutine that is alive: each begins where the one before ends, and differs. */
struct sliced {
	int64_t part[LATENCY_PARTS];
	struct latency_slice last;
};
static struct map sliced; /* by ID */

static inline int note_slice(void *context, const struct latency_slice *slice)
{
	struct sliced *s = map__get(&sliced, slice->id);

	if (!s) {
		s = map__put_new(&sliced, slice->id, sizeof(*s));
		assert_non_null(s);
	} else {
		assert_true(slice->from >= s->last.to);
		assert_true(slice->from > s->last.to || slice->part != s->last.part ||
			    slice->state != s->last.state || slice->reason != s->last.reason ||
			    slice->m != s->last.m || slice->unknown != s->last.unknown);
	}
	assert_true(slice->to > slice->from);
	s->part[slice->part] += slice->to - slice->from;
	s->last = *slice;
	return 0;
}

static inline int keep(void *context, const struct latency_goroutine *g)
{
	static const struct sliced none;
	struct sliced *s = map__remove(&sliced, g->id);
	int64_t sum = 0;

	for (unsigned int i = 0; i < LATENCY_PARTS; i++) {
		sum += g->stats.part[i];
		assert_int_equal((s ?: &none)->part[i], g->stats.part[i]);
	}
	free(s);
	assert_int_equal(sum, g->stats.total);
	assert_true(g->ended >= g->created);
	assert_int_equal(record_store__add(done, latency__pack, g), 0);
	return 0;
}

static inline void end(void)
{
	latency__destroy(latency);
	map__free(&sliced);
	record_store__destroy(done);
	kernel_threads__deinit(&threads);
	dictionary__deinit(&dictionary);
	latency = NULL;
	sliced = (struct map){};
	done = NULL;
	threads = (struct kernel_threads){};
	memset(&dictionary, 0, sizeof(dictionary));
}

static inline void begin_in(int64_t from, int64_t to)
{
	struct latency_opts opts = { .from = from, .to = to, .done = keep, .slice = note_slice };

	end();
	add_strings(strings, STRINGS);
	add_start_functions(MAIN, MARKER, CHAN);
	done = record_store__create();
	latency = latency__create(&opts);
	assert_non_null(done);
	assert_non_null(latency);
	on_m = on_g = UINT64_MAX;
}

static inline void begin(void)
{
	begin_in(INT64_MIN, INT64_MAX);
}

FIXTURE(begin, end)

static inline void on(uint64_t m, uint64_t g)
{
	on_m = m;
	on_g = g;
}

static inline void event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	assert_int_equal(latency__event(latency, &ev, &threads, &error), 0);
	if (type == EV_SYNC)
		assert_int_equal(latency__forget(latency, &threads, false, &error), 0);
}

static int64_t until = INT64_MAX; /* the time of the event that follows the next items */

static inline void item_at(int64_t time, struct kernel_item item)
{
	assert_int_equal(kernel_threads__apply(&threads, &item), 0);
	assert_int_equal(latency__item(latency, &item, time, until, &threads, &error), 0);
}

static inline void item(int64_t time, uint32_t tid, uint8_t kind, struct kernel_item more)
{
	more.time = (uint64_t)time;
	more.tid = tid;
	more.kind = kind;
	item_at(time, more);
}

static inline void core(int64_t time, uint32_t tid, uint16_t cpu)
{
	item(time, tid, KERNEL_ON, (struct kernel_item){ .cpu = cpu });
}

static inline void off(int64_t time, uint32_t tid, uint8_t why)
{
	item(time, tid, KERNEL_OFF, (struct kernel_item){ .why = why });
}

static inline void wake(int64_t time, uint32_t tid)
{
	item(time, tid, KERNEL_WAKING, (struct kernel_item){ .other = 1 });
}

static inline void call(int64_t time, uint32_t tid, uint32_t number)
{
	item(time, tid, KERNEL_SYS_ENTER, (struct kernel_item){ .number = number });
}

static inline void ret(int64_t time, uint32_t tid, uint32_t number)
{
	item(time, tid, KERNEL_SYS_EXIT, (struct kernel_item){ .number = number });
}

/* Goroutine g is created and starts 1 ns later on m, which has a CPU. */
static inline void start_new(uint64_t g, uint64_t m, int64_t time)
{
	on(m, TRACE_NO_G);
	event(time, EV_GO_CREATE, g, WORKER, 0);
	event(time + 1, EV_GO_START, g, 1, 0);
	on(m, g);
}

static inline void put_time(FILE *f, const char *name, int64_t ns)
{
	if (ns)
		fprintf(f, " %s=%" PRId64, name, ns);
}

static inline void put_goroutine(FILE *f, const struct latency_goroutine *g)
{
	static const char *const parts[] = { "oncpu",	  "gorun",    "kernrun", "throttled",
					     "kernblock", "sysblock", "goblock" };
	const struct latency_stats *s = &g->stats;
	struct trace_string name = latency__name(latency, g->name);

	fprintf(f, "%" PRIu64 " %.*s", g->id, (int)name.len, name.data);
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		put_time(f, parts[i], s->part[i]);
	put_time(f, "total", s->total);
	put_time(f, "oncall", s->syscall_oncpu);
	put_time(f, "assist", s->gc_assist);
	put_time(f, "unknown", s->unknown);
	put_time(f, "moved", (int64_t)s->migrations);
	put_time(f, "waits", (int64_t)latency_stats__delays(s));
	put_time(f, "longest", s->longest);
	for (uint32_t i = 0; i < s->reasons.n; i++) {
		name = latency__reason(latency, s->reasons.at[i].kind);
		fprintf(f, " %s[%.*s]=%" PRId64, parts[latency_reason__part(s->reasons.at[i].kind)],
			(int)name.len, name.data, s->reasons.at[i].ns);
	}
	fputc('\n', f);
}

/* The whole result, which the caller frees. */
static inline char *outcome(void)
{
	struct latency_goroutine g;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(latency__finish(latency, &error), 0);
	record_store__sort(done);
	for (size_t i = 0; i < record_store__count(done); i++) {
		assert_int_equal(latency__unpack(record_store__get(done, i), &g), 0);
		put_goroutine(f, &g);
		latency_stats__deinit(&g.stats);
	}
	fclose(f);
	return text;
}

/* Expects this result. */
static inline void expect(const char *want)
{
	char *text = outcome();

	assert_string_equal(text, want);
	free(text);
}

#endif

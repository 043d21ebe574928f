// SPDX-License-Identifier: GPL-2.0
/*
 * The trace's side of an alignment: see side.h.
 *
 * The whole trace is read, by Go's rules, so that nothing is added to a broken one. A switch between two
 * threads of the target is in it twice, as an OFF and an ON of one moment; it counts once.
 */
#include "align/side.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/array.h"
#include "trace/header.h"
#include "trace/private_read.h"
#include "trace/timeline.h"

#define ONE_MOMENT  2000	 /* ns between the two items of one switch */
#define STRINGS_MAX (1ull << 62) /* ids beyond it leave no room */

static int add_thread(struct side *s, uint64_t tid)
{
	if (!tid || tid > UINT32_MAX || map__get(&s->threads, tid))
		return 0;
	return map__put(&s->threads, tid, s);
}

/* ---- the kernel's items ---- */

static int add_switch(struct side *s, const struct kernel_item *item)
{
	const bool on = item->kind == KERNEL_ON;
	const struct fit_switch sw = { item->time, on ? item->other : item->tid,
				       on ? item->tid : item->other, item->cpu };
	const struct fit_switch *last =
		s->latest[sw.cpu] ? &s->switches[s->latest[sw.cpu] - 1] : NULL;

	if (last && last->prev == sw.prev && last->next == sw.next &&
	    sw.time - last->time < ONE_MOMENT)
		return 0;
	if (array__grow(&s->switches, s->nswitches, &s->switches_cap, sizeof(sw)))
		return -ENOMEM;
	s->switches[s->nswitches++] = sw;
	s->latest[sw.cpu] = s->nswitches;
	return 0;
}

static int add_items(struct side *s, struct kernel_reader *r)
{
	struct kernel_thread thread;
	struct kernel_item item;
	int err = 0;

	while (!err && kernel_reader__thread(r, &thread)) {
		err = add_thread(s, thread.tid);
		err = err ?: join_waits__thread(&s->waits, &thread);
	}
	while (!err && kernel_reader__item(r, &item)) {
		if (item.kind == KERNEL_ON || item.kind == KERNEL_OFF)
			err = add_switch(s, &item);
		err = err ?: add_thread(s, item.tid);
		err = err ?: join_waits__item(&s->waits, &item);
	}
	return err;
}

/* ---- generations ---- */

static uint64_t largest_string(const struct dictionary *words)
{
	const struct map *sparse = &words->string_ids.sparse;
	uint64_t largest = words->string_ids.top;

	for (size_t i = 0; i < sparse->cap; i++)
		if (sparse->slot[i].value && sparse->slot[i].key > largest)
			largest = sparse->slot[i].key;
	return largest;
}

/* What the private data says of the clock, and of what was done before. */
struct said {
	bool ours, aligned;
};

static int read_private(const struct dictionary *words, struct said *ret)
{
	struct private_reader r;
	struct private_record record;
	int code;

	private_reader__init(&r, words);
	while ((code = private_reader__next(&r, &record)) > 0) {
		ret->ours |= record.kind == PRIVATE_TICKS;
		ret->aligned |= record.kind == PRIVATE_ALIGNMENT;
	}
	private_reader__deinit(&r);
	return code;
}

/* CLOCK_MONOTONIC at `time` of the trace, as the readers of what is written have it. */
static uint64_t mono(const struct trace_clock *clock, int64_t time)
{
	return (uint64_t)time + (uint64_t)timeline__ahead(clock);
}

static int add_generation(struct side *s, const struct trace_event *ev, struct error *err)
{
	struct side_generation gen = { .number = ev->sync->generation,
				       .from = mono(&ev->sync->clock, ev->time),
				       .unused = largest_string(ev->words) + 1 };
	struct kernel_reader *kernel;
	struct said said = {};
	int code = read_private(ev->words, &said);

	if (!code && said.aligned)
		return error__set(err, -EALREADY,
				  "it is aligned already; align the trace that it was made of");
	/* gotrace convert writes a snapshot of 1970 if it does not know any better */
	if (!code && !said.ours && !(ev->sync->clock.known && ev->sync->clock.sec))
		return error__set(
			err, -EPROTONOSUPPORT,
			"it does not say what its times are on CLOCK_MONOTONIC, as traces "
			"of gotrace-bpf and of Go 1.25 and later do");
	if (gen.unused > STRINGS_MAX)
		return error__set(err, -ERANGE,
				  "generation %" PRIu64 " has no ids left for strings", gen.number);
	if (!code && array__grow(&s->generation, s->ngenerations, &s->generations_cap, sizeof(gen)))
		code = -ENOMEM;
	if (code)
		return code;
	s->generation[s->ngenerations++] = gen;
	code = kernel_reader__open(&kernel, ev->words);
	if (code <= 0)
		return code;
	s->has_kernel = true;
	code = add_items(s, kernel);
	kernel_reader__close(kernel);
	return code;
}

static int read_events(struct side *s, struct reader *r, struct error *err)
{
	struct trace_clock clock = {};
	uint64_t m = TRACE_NO_M;
	struct trace_event ev = {};
	int code;

	while ((code = reader__next(r, &ev, err)) > 0) {
		if (ev.m != m && ev.m != TRACE_NO_M) {
			m = ev.m;
			code = add_thread(s, m);
		} else if (ev.type == EV_SYNC && ev.words) {
			clock = ev.sync->clock;
			code = add_generation(s, &ev, err);
		}
		if (code < 0)
			return code;
	}
	s->to = mono(&clock, ev.time);
	return code;
}

static int by_time(const void *a, const void *b)
{
	const struct fit_switch *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

int side__read(struct side *ret, struct reader *r, struct error *err)
{
	struct side s = { .version = reader__version(r) };
	int code;

	if (header__is_v1(s.version))
		return error__set(err, -EPROTONOSUPPORT,
				  "a trace of Go 1.21 or older: make one of today's format of it "
				  "first, by gotrace convert");
	code = join_waits__init(&s.waits);
	s.latest = calloc(PERF_CPUS, sizeof(*s.latest));
	if (!s.latest)
		code = -ENOMEM;
	code = code ?: read_events(&s, r, err);
	if (!code && !s.ngenerations)
		code = error__set(err, -ENODATA, "it has no events");
	code = code ?: join_waits__end(&s.waits, s.to);
	free(s.latest);
	s.latest = NULL;
	if (code) {
		side__deinit(&s);
		return code == -ENOMEM ? error__set(err, code, "no memory") : code;
	}
	if (s.nswitches)
		qsort(s.switches, s.nswitches, sizeof(*s.switches), by_time);
	*ret = s;
	return 0;
}

void side__deinit(struct side *s)
{
	free(s->generation);
	free(s->switches);
	map__deinit(&s->threads);
	join_waits__deinit(&s->waits);
}

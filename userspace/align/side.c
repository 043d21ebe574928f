// SPDX-License-Identifier: GPL-2.0
/*
 * The trace as one side of an alignment: see side.h.
 *
 * The whole trace is read by Go's rules, so that nothing is added to an invalid one. A switch
 * between two threads of the target is in the trace twice, as an OFF and an ON at the same time;
 * it counts once.
 */
#include "align/side.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/header.h"
#include "format/private_read.h"
#include "lib/array.h"
#include "reader/timeline.h"

#define ONE_MOMENT  2000	 /* ns between the two items of one switch */
#define STRINGS_MAX (1ull << 62) /* beyond it there is no room for new IDs */

static int add_thread(struct side *s, uint64_t tid)
{
	if (!tid || tid > UINT32_MAX || map__get(&s->threads, tid))
		return 0;
	return map__put(&s->threads, tid, s);
}

/* ---- kernel events ---- */

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
	}
	while (!err && kernel_reader__item(r, &item)) {
		if (item.kind == KERNEL_ON || item.kind == KERNEL_OFF)
			err = add_switch(s, &item);
		if (!err && !kernel_item__is_of_cpu(&item))
			err = add_thread(s, item.tid);
	}
	return err;
}

/* ---- generations ---- */

static uint64_t largest_string(const struct dictionary *dictionary)
{
	const struct map *sparse = &dictionary->string_ids.sparse;
	uint64_t largest = dictionary->string_ids.top;

	for (size_t i = 0; i < sparse->cap; i++)
		if (sparse->slot[i].value && sparse->slot[i].key > largest)
			largest = sparse->slot[i].key;
	return largest;
}

/* What the private data contain about the clock and earlier alignments. */
struct said {
	bool ours, aligned;
};

static int read_private(const struct dictionary *dictionary, struct said *ret)
{
	struct private_reader r;
	struct private_record record;
	int err;

	private_reader__init(&r, dictionary);
	while ((err = private_reader__next(&r, &record)) > 0) {
		ret->ours |= record.kind == PRIVATE_TICKS;
		ret->aligned |= record.kind == PRIVATE_ALIGNMENT;
	}
	private_reader__deinit(&r);
	return err;
}

/* CLOCK_MONOTONIC at `time` of the trace, as readers of the output compute it. */
static uint64_t mono(const struct trace_clock *clock, int64_t time)
{
	return (uint64_t)time + (uint64_t)timeline__mono_offset(clock);
}

static int add_generation(struct side *s, const struct trace_event *ev, struct error *error)
{
	struct side_generation gen = { .number = ev->sync->generation,
				       .from = mono(&ev->sync->clock, ev->time),
				       .unused = largest_string(ev->dictionary) + 1 };
	struct kernel_reader *kernel;
	struct said said = {};
	int err = read_private(ev->dictionary, &said);

	if (!err && said.aligned)
		return error__set(error, -EALREADY,
				  "the trace is already aligned; align the original trace instead");
	/* if it knows nothing better, gotrace convert writes a snapshot of 1970 */
	if (!err && !said.ours && !(ev->sync->clock.known && ev->sync->clock.sec))
		return error__set(
			error, -EPROTONOSUPPORT,
			"the trace does not relate its timestamps to CLOCK_MONOTONIC; those of "
			"gotrace-bpf and of Go 1.25 and later do");
	if (gen.unused > STRINGS_MAX)
		return error__set(error, -ERANGE, "generation %" PRIu64 " has no unused string IDs",
				  gen.number);
	if (!err && array__grow(&s->generation, s->ngenerations, &s->generations_cap, sizeof(gen)))
		err = -ENOMEM;
	if (err)
		return err;
	s->generation[s->ngenerations++] = gen;
	err = kernel_reader__open(&kernel, ev->dictionary);
	if (err <= 0)
		return err;
	s->has_kernel = true;
	err = add_items(s, kernel);
	kernel_reader__close(kernel);
	return err;
}

static int read_events(struct side *s, struct reader *r, struct error *error)
{
	struct trace_clock clock = {};
	uint64_t m = TRACE_NO_M;
	struct trace_event ev = {};
	int err;

	while ((err = reader__next(r, &ev, error)) > 0) {
		if (ev.m != m && ev.m != TRACE_NO_M) {
			m = ev.m;
			err = add_thread(s, m);
		} else if (ev.type == EV_SYNC && ev.dictionary) {
			clock = ev.sync->clock;
			err = add_generation(s, &ev, error);
		}
		if (err < 0)
			return err;
	}
	s->to = mono(&clock, ev.time);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct fit_switch *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

int side__read(struct side *ret, struct reader *r, struct error *error)
{
	struct side s = { .version = reader__version(r) };
	int err;

	if (header__is_v1(s.version))
		return error__set(error, -EPROTONOSUPPORT,
				  "traces of Go 1.21 and older cannot be aligned; convert the "
				  "trace first, with gotrace convert");
	s.latest = calloc(PERF_CPUS, sizeof(*s.latest));
	err = s.latest ? read_events(&s, r, error) : -ENOMEM;
	if (!err && !s.ngenerations)
		err = error__set(error, -ENODATA, "the trace has no events");
	free(s.latest);
	s.latest = NULL;
	if (err) {
		side__deinit(&s);
		return err == -ENOMEM ? error__set(error, err, "out of memory") : err;
	}
	array__sort(s.switches, s.nswitches, sizeof(*s.switches), by_time);
	*ret = s;
	return 0;
}

void side__deinit(struct side *s)
{
	free(s->generation);
	free(s->switches);
	map__deinit(&s->threads);
}

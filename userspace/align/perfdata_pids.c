// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of threads in a file that perf recorded in a PID namespace of its own. The kernel numbers
 * the thread of a sample by perf's namespace, 0 if it is outside of it, but the fields of the events
 * by the initial one (tools/perf cannot translate them, and prints both). A thread that leaves a CPU
 * has both numbers in one sample: the fields are translated by these.
 *
 * Input: all events, sorted by time. Output: perf_data__sched(), with the numbers that gotrace-bpf
 * uses in that namespace (gotrace/pid_ns.h).
 */
#include <stdlib.h>

#include "align/perfdata_impl.h"
#include "gotrace/pid_ns.h"

/* The thread has a number in perf's namespace; ~0 is of one that is ending. */
static bool has_both(const struct perf_sched *ev)
{
	return ev->kind == PERF_SWITCH && ev->tid && ev->by && ev->by != UINT32_MAX;
}

static bool is_of_namespace(const struct perf_data *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (has_both(&d->sched[i]) && d->sched[i].tid != d->sched[i].by)
			return true;
	return false;
}

static uint32_t translate(const struct map *numbers, uint32_t tid)
{
	uintptr_t own = (uintptr_t)map__get(numbers, tid);

	if (!tid || own)
		return (uint32_t)own;
	return tid > UINT32_MAX - GT_PID_OUTSIDE ? tid : tid + GT_PID_OUTSIDE;
}

static void translate_event(const struct map *numbers, struct perf_sched *ev)
{
	/* An event without a field for its thread has that of the sample. */
	if (ev->kind != PERF_OTHER_SCHED || ev->tid != ev->by)
		ev->tid = translate(numbers, ev->tid);
	if (ev->kind == PERF_SWITCH || ev->kind == PERF_FORK)
		ev->next = translate(numbers, ev->next);
}

/*
 * From the last event to the first: a number belongs to the thread that leaves a CPU with it next,
 * as numbers are used again. After the last time, it belongs to the latest one.
 */
static int translate_all(struct perf_data *d)
{
	struct map numbers = {};
	int err = 0;

	for (size_t i = 0; !err && i < d->n; i++)
		if (has_both(&d->sched[i]))
			err = map__put(&numbers, d->sched[i].tid,
				       (void *)(uintptr_t)d->sched[i].by);
	for (size_t i = d->n; !err && i--;) {
		struct perf_sched *ev = &d->sched[i];

		if (has_both(ev))
			err = map__put(&numbers, ev->tid, (void *)(uintptr_t)ev->by);
		translate_event(&numbers, ev);
	}
	map__deinit(&numbers);
	return err;
}

/* A waker outside of the namespace has the number 0 in its samples, as the idle thread. */
static int name_wakers(struct perf_data *d)
{
	uint32_t *running = calloc(PERF_CPUS, sizeof(*running));
	int err = running ? 0 : -ENOMEM;

	for (size_t i = 0; running && i < d->n; i++) {
		struct perf_sched *ev = &d->sched[i];

		if (ev->kind == PERF_SWITCH)
			running[ev->cpu] = ev->next;
		else if (!ev->by)
			ev->by = running[ev->cpu];
	}
	free(running);
	return err;
}

int perf__use_own_numbers(struct perf_data *d, struct error *error)
{
	int err;

	if (!is_of_namespace(d))
		return 0;
	err = translate_all(d);
	if (!err)
		err = name_wakers(d);
	return err ? perf__no_memory(d, error) : 0;
}

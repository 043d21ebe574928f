// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of threads in a file that perf recorded in a PID namespace of its own. The kernel numbers
 * the thread of a sample by perf's namespace, 0 if it is outside of it, but the fields of the events
 * by the initial one (tools/perf cannot translate them, and prints both). A thread that leaves a CPU
 * has both numbers in one sample: the fields are translated by these.
 *
 * The input is all events, sorted by time, and the losses; the numbers become those that gotrace-bpf
 * uses in that namespace (gotrace/pid_ns.h).
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"
#include "gotrace/pid_ns.h"

/*
 * Whether `by` and `tid` name the same thread. `by` is 0 outside of perf's namespace, and ~0 for a
 * thread that is ending: the event of its exit still has both numbers.
 */
static bool has_both(const struct perf_sched *ev)
{
	return (ev->kind == PERF_SWITCH || ev->kind == PERF_EXIT) && ev->tid &&
	       ev->by != UINT32_MAX;
}

static bool is_of_namespace(const struct perf_data *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (has_both(&d->sched[i]) && d->sched[i].by && d->sched[i].tid != d->sched[i].by)
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

/* A number that is now that of a thread outside of the namespace is removed. */
static int learn(struct map *numbers, const struct perf_sched *ev)
{
	if (!has_both(ev))
		return 0;
	if (ev->by)
		return map__put(numbers, ev->tid, (void *)(uintptr_t)ev->by);
	map__remove(numbers, ev->tid);
	return 0;
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
		err = learn(&numbers, &d->sched[i]);
	for (size_t i = d->n; !err && i--;) {
		err = learn(&numbers, &d->sched[i]);
		translate_event(&numbers, &d->sched[i]);
	}
	map__deinit(&numbers);
	return err;
}

/*
 * A waker outside of the namespace has the number 0 in its samples, as the idle thread: it is what
 * the CPU runs. Nothing is known of that before the first switch, and after a loss.
 */
static int name_wakers(struct perf_data *d)
{
	const size_t size = PERF_CPUS * sizeof(uint32_t);
	uint32_t *running = malloc(size); /* by CPU; ~0: unknown */
	size_t loss = 0;

	if (!running)
		return -ENOMEM;
	memset(running, 0xff, size);
	for (size_t i = 0; i < d->n; i++) {
		struct perf_sched *ev = &d->sched[i];
		size_t before = loss;

		while (loss < d->nlosses && d->losses[loss].to <= ev->time)
			loss++;
		if (loss > before)
			memset(running, 0xff, size);
		if (ev->kind == PERF_SWITCH)
			running[ev->cpu] = ev->next;
		else if (!ev->by)
			ev->by = running[ev->cpu];
	}
	free(running);
	return 0;
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the events of perf that concern the target: see join.h.
 *
 * Input: align/side.c and align/perfdata.c. Output: align/write.c. A thread waits for the CPU on
 * which it last ran, for the one that it gets, and for those to whose run queue it is moved
 * meanwhile (sched_migrate_task).
 */
#include "align/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* ---- when threads waited ---- */

void join_waits__deinit(struct join_waits *w)
{
	kernel_threads__deinit(&w->threads);
	free(w->at);
}

static int add_wait(struct join_waits *w, uint32_t tid, uint64_t from, uint64_t to, uint32_t cpu)
{
	if (array__grow(&w->at, w->n, &w->cap, sizeof(*w->at)))
		return -ENOMEM;
	w->at[w->n++] = (struct join_wait){ from, to, tid, cpu };
	return 0;
}

static bool waits(const struct kernel_thread *thread)
{
	return thread && thread->since &&
	       (thread->run == KERNEL_RUNNABLE || thread->run == KERNEL_THROTTLED);
}

int join_waits__thread(struct join_waits *w, const struct kernel_thread *thread)
{
	const struct kernel_thread *known = kernel_threads__find(&w->threads, thread->tid);

	return known && known->run == thread->run ? 0 : kernel_threads__set(&w->threads, thread);
}

int join_waits__item(struct join_waits *w, const struct kernel_item *item)
{
	const struct kernel_thread *thread = kernel_threads__find(&w->threads, item->tid);
	struct kernel_thread before = {};
	int err = 0;

	if (item->kind == KERNEL_CPU)
		return 0;
	if (thread)
		before = *thread;
	err = kernel_threads__apply(&w->threads, item);
	thread = kernel_threads__find(&w->threads, item->tid);
	if (err || !waits(&before) || (thread->run == before.run && thread->since == before.since))
		return err;
	err = add_wait(w, item->tid, before.since, item->time, before.cpu);
	if (!err && thread->run == KERNEL_RUNNING && thread->cpu != before.cpu)
		err = add_wait(w, item->tid, before.since, item->time, thread->cpu);
	return err;
}

void join_waits__lose(struct join_waits *w, uint64_t time)
{
	kernel_threads__lose_before(&w->threads, time);
}

int join_waits__end(struct join_waits *w, uint64_t time)
{
	const struct kernel_thread *thread;
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&w->threads.map, &i, &value);) {
		thread = value;
		if (waits(thread) && thread->since < time)
			err = add_wait(w, thread->tid, thread->since, time, thread->cpu);
	}
	return err;
}

/* ---- the target's threads according to perf ---- */

static struct trace_string name_of(const struct join_perf *perf, uint32_t comm)
{
	const char *name = perf_data__comm(perf->data, comm);

	return (struct trace_string){ name, name ? (uint32_t)strlen(name) : 0 };
}

/* The kernel's TASK_* bits. They do not show that a cgroup is throttled. */
static uint8_t why_off(const struct perf_sched *ev)
{
	if (ev->preempted)
		return GT_OFF_PREEMPTED;
	if (ev->state & 0x30) /* X (dead), Z (zombie) */
		return GT_OFF_DEAD;
	if (ev->state & 0x0c) /* T, t */
		return GT_OFF_STOPPED;
	return ev->state & 0x02 ? GT_OFF_DISK : GT_OFF_SLEEPING;
}

static unsigned int switch_items(const struct join_perf *perf, const struct map *target,
				 const struct perf_sched *ev, struct kernel_item ret[2])
{
	const uint64_t time = fit__time(&perf->clock, ev->time);
	unsigned int n = 0;

	if (ev->tid && map__get(target, ev->tid))
		ret[n++] = (struct kernel_item){
			.time = time,
			.kind = KERNEL_OFF,
			.tid = ev->tid,
			.cpu = ev->cpu,
			.why = why_off(ev),
			.other = ev->next,
			.other_pid = ev->next ? perf_data__process(perf->data, ev->next) : 0,
			.name = name_of(perf, ev->next_comm),
		};
	if (ev->next && map__get(target, ev->next))
		ret[n++] = (struct kernel_item){
			.time = time,
			.kind = KERNEL_ON,
			.tid = ev->next,
			.cpu = ev->cpu,
			.other = ev->tid,
		};
	return n;
}

static unsigned int thread_item(const struct join_perf *perf, const struct map *target,
				const struct perf_sched *ev, struct kernel_item *ret)
{
	const bool fork = ev->kind == PERF_FORK;
	const uint32_t tid = fork ? ev->next : ev->tid;

	if (!map__get(target, tid))
		return 0;
	*ret = (struct kernel_item){
		.time = fit__time(&perf->clock, ev->time),
		.kind = fork ? KERNEL_CREATED : KERNEL_ENDED,
		.tid = tid,
		.cpu = ev->cpu,
		.other = fork ? ev->tid : 0,
		.name = name_of(perf, fork ? ev->next_comm : ev->comm),
	};
	return 1;
}

unsigned int join__items(const struct join_perf *perf, const struct map *target, size_t i,
			 struct kernel_item ret[2])
{
	const struct perf_sched *ev = &perf->sched[i];

	if (ev->kind == PERF_SWITCH)
		return switch_items(perf, target, ev, ret);
	if (ev->kind == PERF_FORK || ev->kind == PERF_EXIT)
		return thread_item(perf, target, ev, ret);
	if ((ev->kind != PERF_WAKING && ev->kind != PERF_WAKEUP) || !map__get(target, ev->tid))
		return 0;
	*ret = (struct kernel_item){
		.time = fit__time(&perf->clock, ev->time),
		.kind = KERNEL_WAKING,
		.tid = ev->tid,
		.cpu = ev->cpu,
		.other = ev->by == UINT32_MAX ? 0 : ev->by,
		.other_pid = ev->pid == UINT32_MAX ? 0 : ev->pid,
		.interrupt = !ev->by, /* the idle thread wakes others only in interrupts */
	};
	return 1;
}

/* ---- gaps in perf's file ---- */

/* A thread that already has a CPU cannot get it, and one without a CPU cannot leave it. */
static int count_gap(struct map *has_cpu, struct join_gaps *gaps, uint32_t tid, bool gets)
{
	static char yes, no; /* absent: unknown */
	void *before = map__get(has_cpu, tid), *now = gets ? &yes : &no;

	gaps->switches++;
	gaps->lacking += before == now;
	return before == now ? 0 : map__put(has_cpu, tid, now);
}

int join__gaps(const struct join_perf *perf, const struct map *target, struct join_gaps *ret)
{
	const struct perf_sched *ev;
	struct map has_cpu = {};
	int err = 0;

	*ret = (struct join_gaps){};
	for (ev = perf->sched; !err && ev < perf->sched + perf->n; ev++) {
		if (ev->kind != PERF_SWITCH)
			continue;
		if (map__get(target, ev->tid))
			err = count_gap(&has_cpu, ret, ev->tid, false);
		else
			ret->others = true;
		if (!err && map__get(target, ev->next))
			err = count_gap(&has_cpu, ret, ev->next, true);
	}
	map__deinit(&has_cpu);
	return err;
}

/* ---- who occupied the CPUs ---- */

struct cpus {
	size_t *order;	/* indices of switches, by CPU, then by time */
	size_t *first;	/* of a CPU in `order`; one more entry than CPUs */
	int32_t *marks; /* by position in `order`: waits that begin there minus those that ended */
};

static int cpus__init(struct cpus *c, const struct join_perf *perf)
{
	c->order = malloc(perf->n * sizeof(*c->order) + 1);
	c->first = calloc(PERF_CPUS + 2, sizeof(*c->first));
	c->marks = calloc(perf->n + 2, sizeof(*c->marks));
	if (!c->order || !c->first || !c->marks)
		return -ENOMEM;
	for (size_t i = 0; i < perf->n; i++)
		if (perf->sched[i].kind == PERF_SWITCH)
			c->first[perf->sched[i].cpu + 2]++;
	for (size_t cpu = 2; cpu < PERF_CPUS + 2; cpu++)
		c->first[cpu] += c->first[cpu - 1];
	for (size_t i = 0; i < perf->n; i++)
		if (perf->sched[i].kind == PERF_SWITCH)
			c->order[c->first[perf->sched[i].cpu + 1]++] = i;
	return 0;
}

static void cpus__deinit(struct cpus *c)
{
	free(c->order);
	free(c->first);
	free(c->marks);
}

/* The first switch of the CPU that is not before `time`. */
static size_t first_from(const struct cpus *c, const struct join_perf *perf, uint32_t cpu,
			 uint64_t time)
{
	size_t low = c->first[cpu], high = c->first[cpu + 1], middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (fit__time(&perf->clock, perf->sched[c->order[middle]].time) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * From the switch after which the CPU was occupied as the wait began, to the one after the wait,
 * unless the thread itself has got the CPU by then.
 */
static void mark(struct cpus *c, const struct join_perf *perf, const struct join_wait *wait)
{
	const uint32_t cpu = wait->cpu;
	size_t begin, end;

	if (cpu >= PERF_CPUS || c->first[cpu] == c->first[cpu + 1])
		return;
	begin = first_from(c, perf, cpu, wait->from + 1);
	end = first_from(c, perf, cpu, wait->to);
	if (end < c->first[cpu + 1] &&
	    (end <= begin || perf->sched[c->order[end - 1]].next != wait->tid))
		end++;
	begin -= begin > c->first[cpu];
	if (begin >= end)
		return;
	c->marks[begin]++;
	c->marks[end]--;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct join_wait *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* The last wait of the thread that began before; NULL: none. */
static const struct join_wait *wait_at(const struct join_wait *w, size_t n, uint32_t tid,
				       uint64_t time)
{
	const struct join_wait wanted = { .tid = tid, .from = time };
	size_t low = 0, high = n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (by_thread_and_time(&w[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && w[low - 1].tid == tid && time <= w[low - 1].to ? &w[low - 1] : NULL;
}

/* CPUs to whose run queue a thread was moved while it waited. */
static int mark_migrations(struct cpus *c, const struct join_perf *perf, const struct map *target,
			   const struct join_waits *waits)
{
	struct join_wait *sorted = malloc(waits->n * sizeof(*sorted) + 1);
	const struct perf_sched *ev;
	const struct join_wait *wait;
	struct join_wait moved;

	if (!sorted)
		return -ENOMEM;
	if (waits->n)
		memcpy(sorted, waits->at, waits->n * sizeof(*sorted));
	array__sort(sorted, waits->n, sizeof(*sorted), by_thread_and_time);
	for (ev = perf->sched; ev < perf->sched + perf->n; ev++) {
		if (ev->kind != PERF_MIGRATE || !map__get(target, ev->tid))
			continue;
		moved.from = fit__time(&perf->clock, ev->time);
		wait = wait_at(sorted, waits->n, ev->tid, moved.from);
		if (!wait)
			continue;
		moved = (struct join_wait){ moved.from, wait->to, ev->tid, ev->next };
		mark(c, perf, &moved);
	}
	free(sorted);
	return 0;
}

/* Selects the switch at a position in c->order, which is within a wait or not. */
static void select_switch(const struct cpus *c, const struct join_perf *perf,
			  const struct map *target, size_t at, bool waited, uint8_t *wanted)
{
	const struct perf_sched *ev = &perf->sched[c->order[at]];
	const struct perf_sched *before =
		at > c->first[ev->cpu] ? &perf->sched[c->order[at - 1]] : NULL;
	uint8_t *last = before ? &wanted[c->order[at - 1]] : NULL;
	bool open = before && *last == JOIN_TASK;

	if (open && before->next != ev->tid)
		*last = JOIN_UNKNOWN;
	if (map__get(target, ev->next))
		return;
	wanted[c->order[at]] = waited ? JOIN_TASK : open ? JOIN_UNKNOWN : JOIN_NOT;
}

int join__cpus(const struct join_perf *perf, const struct map *target,
	       const struct join_waits *waits, uint8_t **ret)
{
	uint8_t *wanted = calloc(perf->n + 1, 1);
	struct cpus c = {};
	int64_t open = 0;
	int err = wanted ? cpus__init(&c, perf) : -ENOMEM;

	for (size_t i = 0; !err && i < waits->n; i++)
		mark(&c, perf, &waits->at[i]);
	err = err ?: mark_migrations(&c, perf, target, waits);
	for (size_t i = 0; !err && i < c.first[PERF_CPUS]; i++) {
		open += c.marks[i];
		select_switch(&c, perf, target, i, open > 0, wanted);
	}
	cpus__deinit(&c);
	if (err) {
		free(wanted);
		return err;
	}
	*ret = wanted;
	return 0;
}

struct kernel_item join__cpu_item(const struct join_perf *perf, size_t i, enum join_wanted how)
{
	const struct perf_sched *ev = &perf->sched[i];
	struct kernel_item item = {
		.time = fit__time(&perf->clock, ev->time),
		.kind = KERNEL_CPU,
		.tid = KERNEL_NO_THREAD,
		.cpu = ev->cpu,
	};

	if (how == JOIN_UNKNOWN)
		return item;
	item.tid = ev->next;
	item.other_pid = ev->next ? perf_data__process(perf->data, ev->next) : 0;
	item.name = name_of(perf, ev->next_comm);
	return item;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the events of perf that concern the target: see join.h.
 *
 * Input: align/side.c and align/perfdata.c. Output: align/write.c.
 */
#include "align/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

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

/* `i` is the next switch of its CPU after `last`. */
static void follow(const struct join_perf *perf, size_t last, size_t i, uint64_t from,
		   uint8_t *wanted)
{
	if (fit__time(&perf->clock, perf->sched[i].time) <= from)
		wanted[last] = JOIN_NOT;
	else if (wanted[last] == JOIN_TASK && perf->sched[last].next != perf->sched[i].tid)
		wanted[last] = JOIN_UNKNOWN;
}

int join__cpus(const struct join_perf *perf, const struct map *target, uint64_t from, uint8_t **ret)
{
	uint8_t *wanted = calloc(perf->n + 1, 1);
	size_t *last = calloc(PERF_CPUS, sizeof(*last)); /* index plus 1 of its last switch */

	for (size_t i = 0; wanted && last && i < perf->n; i++) {
		const struct perf_sched *ev = &perf->sched[i];

		if (ev->kind != PERF_SWITCH)
			continue;
		if (!map__get(target, ev->next))
			wanted[i] = JOIN_TASK;
		if (last[ev->cpu])
			follow(perf, last[ev->cpu] - 1, i, from, wanted);
		last[ev->cpu] = i + 1;
	}
	if (!wanted || !last) {
		free(wanted);
		wanted = NULL;
	}
	free(last);
	*ret = wanted;
	return wanted ? 0 : -ENOMEM;
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

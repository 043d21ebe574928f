// SPDX-License-Identifier: GPL-2.0
/*
 * Which tasks held the CPU while a thread waited for it, in a trace of `gotrace align`.
 *
 * Each CPU has a log of what it ran, from the first event that align added on. At the end of a wait
 * its time is divided among the tasks in the log of the CPU that the thread waited for: as in
 * path_causes.c, a preempted thread waits for the CPU that it had, a woken one for that which it
 * gets. Called by latency.c and latency_part.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/latency_impl.h"
#include "lib/array.h"

#define TASKS_MAX 128  /* distinct names: a longer list is slow to search */
#define LOG_MAX	  8192 /* entries of a CPU; the time before the oldest one is unknown */

/* kinds of durations that are no name of a task: IDs of l->tasks, in this order */
enum { TASK_UNKNOWN = 1, TASK_IDLE, TASK_OWN, TASK_OTHERS };

/* `kind` had the CPU from `time` on. */
struct occupant {
	int64_t time;
	uint32_t kind;
};

struct cpu_log {
	struct occupant *at;
	size_t n, cap;
};

int cpu_tasks__init(struct latency *l)
{
	static const char *const names[] = { "(unknown)", "(idle)", "(the program itself)",
					     "(others)" };

	l->tasks = intern__create();
	for (uint32_t i = 0; l->tasks && i < sizeof(names) / sizeof(*names); i++)
		if (intern__cstring(l->tasks, names[i]) != TASK_UNKNOWN + i)
			return -ENOMEM;
	return l->tasks ? 0 : -ENOMEM;
}

void cpu_tasks__deinit(struct latency *l)
{
	struct cpu_log *log;
	void *value;

	for (size_t i = 0; map__next(&l->cpus, &i, &value);) {
		log = value;
		free(log->at);
	}
	map__free(&l->cpus);
	intern__destroy(l->tasks);
}

static int task_kind(struct latency *l, const struct kernel_item *item, uint32_t tid, uint32_t *ret)
{
	struct trace_string name = item->name;
	char text[32];

	*ret = !tid ? TASK_IDLE : tid == KERNEL_NO_THREAD ? TASK_UNKNOWN : TASK_OWN;
	if (*ret != TASK_OWN || item->kind == KERNEL_ON || kernel_threads__find(l->threads, tid))
		return 0;
	if (!name.len) {
		name.len = (uint32_t)snprintf(text, sizeof(text), "process %u", item->other_pid);
		name.data = text;
	}
	if (intern__text(l->tasks, name, ret))
		return -ENOMEM;
	if (*ret > TASKS_MAX)
		*ret = TASK_OTHERS;
	return 0;
}

static struct cpu_log *cpu_log(struct latency *l, uint16_t cpu)
{
	struct cpu_log *log = map__get(&l->cpus, cpu);

	return log ? log : map__put_new(&l->cpus, cpu, sizeof(*log));
}

int cpu_tasks__item(struct latency *l, const struct kernel_item *item, int64_t time)
{
	uint32_t tid = item->kind == KERNEL_OFF ? item->other : item->tid, kind;
	struct cpu_log *log;
	int err;

	l->machine |= item->kind == KERNEL_CPU;
	if (!l->machine ||
	    (item->kind != KERNEL_CPU && item->kind != KERNEL_ON && item->kind != KERNEL_OFF))
		return 0;
	err = task_kind(l, item, tid, &kind);
	log = err ? NULL : cpu_log(l, item->cpu);
	if (log && log->n >= LOG_MAX) {
		log->n -= LOG_MAX / 2;
		memmove(log->at, log->at + LOG_MAX / 2, log->n * sizeof(*log->at));
	}
	if (!log || array__grow(&log->at, log->n, &log->cap, sizeof(*log->at)))
		return -ENOMEM;
	if (log->n && log->at[log->n - 1].time > time)
		time = log->at[log->n - 1].time;
	log->at[log->n++] = (struct occupant){ .time = time, .kind = kind };
	return 0;
}

void cpu_tasks__begin_wait(struct live *g, const struct kernel_thread *t)
{
	g->wait_cpu = t->cpu;
	g->wait_woken = t->woken;
}

/* How many entries have begun by `time`. */
static size_t begun_by(const struct cpu_log *log, int64_t time)
{
	size_t low = 0, high = log->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (log->at[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int cpu_tasks__end_wait(struct latency *l, struct live *g, const struct kernel_thread *t)
{
	bool moved = g->wait_woken && t && t->run == KERNEL_RUNNING;
	const struct cpu_log *log = map__get(&l->cpus, moved ? t->cpu : g->wait_cpu);
	int64_t end = earliest(l->now, l->opts.to), at = time_sub(end, g->delay), next;
	uint32_t kind = TASK_UNKNOWN;
	size_t i, n = log ? log->n : 0;
	int err = 0;

	if (!l->machine || !g->delay)
		return 0;
	err = live__expand(g);
	i = log ? begun_by(log, at) : 0;
	if (i)
		kind = log->at[i - 1].kind;
	for (; !err && at < end; i++) {
		next = i < n && log->at[i].time < end ? log->at[i].time : end;
		if (next > at)
			err = durations__add(&g->stats->tasks, kind, time_sub(next, at));
		at = next;
		kind = i < n ? log->at[i].kind : kind;
	}
	return err;
}

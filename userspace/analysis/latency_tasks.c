// SPDX-License-Identifier: GPL-2.0
/*
 * Which tasks held the CPU while a thread waited for it.
 *
 * Each CPU has a log of what it ran: while threads of the target waited for it, if the recorder has sent
 * that, or in a trace of `gotrace align` from the first event that align added on. The time of a wait is
 * divided among the tasks in the log of the CPU that the thread waited for: as in path_causes.c, a
 * preempted thread waits for the CPU that it had, a woken one for that which it gets, unless the trace
 * shows that it was moved to another one. Called by latency.c and latency_part.c.
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

/* `kind` had the CPU from `time` on; before: already then, and what the entry before shows had ended. */
struct occupant {
	int64_t time;
	uint32_t kind;
	bool before;
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
	free(l->task_reasons);
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
	l->occupants |= l->threads->waits;
	if (!latency__has_tasks(l) ||
	    (!kernel_item__is_of_cpu(item) && item->kind != KERNEL_ON && item->kind != KERNEL_OFF))
		return 0;
	if (l->machine && kernel_item__is_unknown(item)) /* perf has it */
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
	log->at[log->n++] = (struct occupant){ time, kind, item->before };
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

int cpu_tasks__moved(struct latency *l, struct live *g, const struct kernel_item *item)
{
	int err;

	if (!g || g->part != PART_KERNEL_RUNNABLE)
		return 0;
	if (g->wait_woken)
		g->wait_cpu = (uint16_t)item->other;
	g->wait_woken = false;
	err = part__add(l, g);
	g->wait_cpu = item->cpu;
	return err;
}

bool cpu_tasks__is_pending(const struct latency *l, const struct live *g)
{
	const struct kernel_thread *t = live__thread(l, g);

	return l->occupants && !l->machine && g->part == PART_KERNEL_RUNNABLE && g->wait_woken &&
	       t && t->run == KERNEL_RUNNABLE && t->woken;
}

/* The CPU that its thread waits for; NULL: not known yet. */
static const struct cpu_log *log_of(const struct latency *l, const struct live *g)
{
	const struct kernel_thread *t = live__thread(l, g);

	if (g->wait_woken && t && t->run == KERNEL_RUNNING)
		return map__get(&l->cpus, t->cpu);
	return g->wait_woken && !l->machine ? NULL : map__get(&l->cpus, g->wait_cpu);
}

/* 1 + the kind of "CPU held by NAME". */
static int reason_of(struct latency *l, uint32_t task, uint32_t *ret)
{
	static const char by[] = "CPU held by ";
	struct trace_string name = intern__text_at(l->tasks, task);
	char text[sizeof(by) + 64];
	int n, err;

	if (!l->task_reasons)
		l->task_reasons = calloc(TASKS_MAX + 1, sizeof(*l->task_reasons));
	if (!l->task_reasons)
		return -ENOMEM;
	*ret = l->task_reasons[task];
	if (*ret)
		return 0;
	n = snprintf(text, sizeof(text), "%s%.*s", by, (int)(name.len < 64 ? name.len : 63),
		     name.data);
	err = naming__text_kind(&l->naming, text, (size_t)n, ret);
	l->task_reasons[task] = err ? 0 : ++*ret;
	return err;
}

int cpu_tasks__piece(struct latency *l, const struct live *g, int64_t from, int64_t to,
		     struct cpu_piece *ret)
{
	const struct cpu_log *log = log_of(l, g);
	size_t i = log ? begun_by(log, from) : 0;
	uint32_t reason;
	int err;

	*ret = (struct cpu_piece){ .to = to, .task = TASK_UNKNOWN, .kind = g->kind };
	if (i)
		ret->task = log->at[i - 1].kind;
	if (log && i < log->n && log->at[i].time < to) {
		ret->to = log->at[i].time;
		if (log->at[i].before)
			ret->task = log->at[i].kind;
	}
	if (ret->task < TASK_OWN)
		return 0;
	err = reason_of(l, ret->task, &reason);
	if (!err)
		ret->kind = reason - 1;
	return err;
}

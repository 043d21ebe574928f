// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs of an export: which thread each of them executes, from context switches.
 *
 * Each item says which thread has the CPU from then on, and those of the target's threads also which one
 * had it before. If that is not the one of the item before, switches in between are missing: they were lost,
 * or no event shows switches between other processes. What had the CPU meanwhile is then unknown, so a
 * slice is written when the next item of its CPU is known.
 *
 * `gotrace align` adds items of another recording. A switch from a thread of the target is then in the trace
 * twice, with times that differ by the error of the clocks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/durations.h"
#include "export/export_impl.h"

#define ONE_SWITCH 10000 /* ns between two items of the same switch, at most */

static struct exported_cpu *export__cpu(struct export *e, uint64_t id)
{
	struct exported_cpu *cpu = map__get(&e->cpus, id);

	if (cpu)
		return cpu;
	cpu = map__put_new(&e->cpus, id, sizeof(*cpu));
	if (!cpu)
		return NULL;
	cpu->id = id;
	export__lane(e, &cpu->lane, EXPORT_CPUS, 0, id, "CPU %" PRIu64, id);
	return cpu;
}

/* Writes the slice of what had the CPU up to a time; none if it was idle. */
static void write_run(struct export *e, struct exported_cpu *c, const struct cpu_run *run,
		      int64_t to)
{
	enum state state = run->tid == KERNEL_NO_THREAD ? STATE_KERNEL_UNKNOWN :
			   run->other			? STATE_OTHER_PROCESS :
							  STATE_ON_CPU;
	struct export_event slice = { .name = { run->name, run->name_len }, .state = state };

	if (!run->tid || run->since >= to)
		return;
	if (state == STATE_KERNEL_UNKNOWN)
		slice.name = text_of(state_table[state].name);
	else if (!slice.name.len)
		slice.name = text_of("thread");
	if (state != STATE_KERNEL_UNKNOWN)
		add_number(&slice, "thread", run->tid);
	if (state == STATE_OTHER_PROCESS)
		add_text(&slice, "process", text_of("another one"));
	lane__begin(e, &c->lane, run->since, &slice);
	lane__end(e, &c->lane, to);
}

/* No item has confirmed that the thread before the present one had the CPU up to then. */
static void end_doubt(struct export *e, struct exported_cpu *c, bool confirmed)
{
	if (c->doubt && !confirmed)
		c->before.tid = KERNEL_NO_THREAD;
	if (c->doubt)
		write_run(e, c, &c->before, c->now.since);
	c->doubt = false;
}

static void end_run(struct export *e, struct exported_cpu *c, int64_t time)
{
	end_doubt(e, c, false);
	write_run(e, c, &c->now, time);
}

/* What the item says of the thread that has the CPU from then on, which is one of the target or not. */
static struct cpu_run run_after(const struct export *e, const struct kernel_item *item)
{
	struct cpu_run run = { .since = e->now,
			       .tid = item->kind == KERNEL_OFF ? item->other : item->tid };
	const struct kernel_thread *k =
		item->kind == KERNEL_CPU ? NULL : kernel_threads__find(e->kernel, run.tid);
	struct trace_string name = item->kind == KERNEL_ON ? (struct trace_string){} : item->name;

	if (k)
		name = (struct trace_string){ k->name, k->name_len };
	run.other = !k;
	run.name_len = (uint8_t)(name.len < KERNEL_NAME_MAX ? name.len : KERNEL_NAME_MAX);
	if (run.name_len)
		memcpy(run.name, name.data, run.name_len);
	return run;
}

/* A second item of the switch by which the present thread got the CPU. */
static bool is_again(const struct exported_cpu *c, const struct cpu_run *next)
{
	return c->now.tid == next->tid && time_sub(next->since, c->now.since) <= ONE_SWITCH;
}

int export__switch(struct export *e, const struct kernel_item *item)
{
	struct exported_cpu *c = export__cpu(e, item->cpu);
	struct cpu_run next = run_after(e, item);
	/* The thread that had the CPU until then; KERNEL_NO_THREAD: the item does not have it. */
	uint32_t prev = item->kind == KERNEL_ON	 ? item->other :
			item->kind == KERNEL_OFF ? item->tid :
						   KERNEL_NO_THREAD;

	if (!c)
		return -ENOMEM;
	if (e->in_loss)
		return 0;
	if (item->before && c->now.tid != next.tid)
		c->now.tid = KERNEL_NO_THREAD; /* since an unknown time */
	if (c->begun && is_again(c, &next)) {
		end_doubt(e, c, prev == c->before.tid);
		next.since = c->now.since;
		c->now = next;
		return 0;
	}
	end_doubt(e, c, false);
	if (prev != KERNEL_NO_THREAD && prev != c->now.tid)
		c->now.tid = KERNEL_NO_THREAD;
	/* A thread of the target does not leave without an item of its own, which may follow. */
	c->doubt = prev == KERNEL_NO_THREAD && c->now.tid && c->now.tid != KERNEL_NO_THREAD &&
		   !c->now.other;
	if (c->doubt)
		c->before = c->now;
	else if (c->begun)
		write_run(e, c, &c->now, next.since);
	c->now = next;
	c->begun = true;
	return 0;
}

/* Whether the thread that has the CPU is still there, according to a table of threads. */
static bool agrees(const struct export *e, const struct exported_cpu *c)
{
	const struct kernel_thread *k = kernel_threads__find(e->kernel, c->now.tid);

	return !k || (k->run == KERNEL_RUNNING && k->cpu == c->id);
}

int export__refresh_cpus(struct export *e, bool loss, int64_t time)
{
	size_t n;
	struct map_slot *slot = map__sorted(&e->cpus, &n);

	for (size_t i = 0; slot && i < n; i++) {
		struct exported_cpu *c = slot[i].value;

		if (c->now.tid == KERNEL_NO_THREAD || (!loss && agrees(e, c)))
			continue;
		end_run(e, c, time);
		c->now = (struct cpu_run){ .since = time, .tid = KERNEL_NO_THREAD };
		c->begun = true;
	}
	free(slot);
	return slot ? 0 : -ENOMEM;
}

int export__finish_cpus(struct export *e)
{
	size_t n;
	struct map_slot *slot = map__sorted(&e->cpus, &n);

	for (size_t i = 0; slot && i < n; i++)
		end_run(e, slot[i].value, e->now);
	free(slot);
	return slot ? 0 : -ENOMEM;
}

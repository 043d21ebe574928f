// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of an export, from kernel events.
 *
 * format/kernel.h computes the state of each thread after each item. When it changes, a new slice
 * begins on the thread's track of states; and while a goroutine that is running or in a system call
 * has a thread without a CPU, a slice within that of the goroutine shows why. System calls
 * and page faults have tracks of their own, since they outlast such states.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/export_impl.h"

struct exported_thread *export__thread(struct export *e, uint64_t id)
{
	struct exported_thread *t = map__get(&e->threads, id);

	if (t)
		return t;
	t = map__put_new(&e->threads, id, sizeof(*t));
	if (!t)
		return NULL;
	t->id = id;
	t->goroutine = TRACE_NO_G;
	export__lane(e, &t->lane, EXPORT_THREADS, 0, id, "Thread %" PRIu64, id);
	return t;
}

static struct lane *child_lane(struct export *e, struct exported_thread *t, struct lane *lane,
			       uint64_t rank, const char *name)
{
	export__lane(e, lane, EXPORT_THREADS, t->lane.track, rank, "%s of thread %" PRIu64, name,
		     t->id);
	return lane;
}

/* ---- states of threads ---- */

static bool waits(uint8_t run)
{
	return run > KERNEL_RUNNING && run < KERNEL_GONE;
}

/* The state to show: during a loss none is known, except that a thread has ended. */
static uint8_t run_of(const struct export *e, const struct kernel_thread *k)
{
	return e->in_loss && k->run != KERNEL_GONE ? KERNEL_UNKNOWN : k->run;
}

/* The slice for a state, with what it waits for. */
static void fill_state(struct export *e, const struct kernel_thread *k, uint8_t run,
		       struct export_event *slice)
{
	static const enum state of_run[] = {
		[KERNEL_UNKNOWN] = STATE_KERNEL_UNKNOWN, [KERNEL_RUNNING] = STATE_ON_CPU,
		[KERNEL_RUNNABLE] = STATE_CPU_WAIT,	 [KERNEL_THROTTLED] = STATE_THROTTLED,
		[KERNEL_SLEEPING] = STATE_SLEEPING,	 [KERNEL_BLOCKED] = STATE_BLOCKED,
		[KERNEL_STOPPED] = STATE_STOPPED,
	};
	const char *sleep = kernel__sleep(k->in_fault ? GT_SLEEP_PAGE : k->sleep);
	struct trace_string call = {};

	slice->state = of_run[run];
	slice->name = text_of(state_table[slice->state].name);
	if (run == KERNEL_RUNNING)
		add_number(slice, "CPU", k->cpu);
	if (waits(run) && k->call < KERNEL_BAD_CALL)
		call = kernel_threads__syscall(e->kernel, k->call);
	if (call.len)
		add_text(slice, "system call", call);
	else if (waits(run) && sleep)
		add_text(slice, "in", text_of(sleep));
}

/* Within the slice of the goroutine's state: what its thread waits for, or that this is unknown. */
static void nest(struct export *e, const struct exported_thread *t, struct exported *g,
		 const struct kernel_thread *k, int64_t time)
{
	struct export_event slice = {};

	while (g->lane.depth > 1)
		lane__end(e, &g->lane, time);
	if (!g->lane.depth || (!waits(t->run) && !t->lost))
		return;
	fill_state(e, k, t->run, &slice);
	lane__begin(e, &g->lane, time, &slice);
}

void export__run_on(struct export *e, struct exported_thread *t, struct exported *g, int64_t time)
{
	const struct kernel_thread *k = (waits(t->run) || t->lost) && t->id <= UINT32_MAX ?
						kernel_threads__find(e->kernel, (uint32_t)t->id) :
						NULL;

	if (k && run_of(e, k) == t->run)
		nest(e, t, g, k, time);
}

/* `run`: run_of(). A state that is unknown is shown as such if there was a known one before. */
static void set_state(struct export *e, struct exported_thread *t, const struct kernel_thread *k,
		      uint8_t run, int64_t time)
{
	struct export_event slice = { .flow_from = t->flow };
	struct exported *g;

	if (t->run == KERNEL_RUNNABLE)
		e->counters[COUNTER_THREADS].value--;
	if (run == KERNEL_RUNNABLE)
		e->counters[COUNTER_THREADS].value++;
	t->lost = run == KERNEL_UNKNOWN && t->run != KERNEL_GONE;
	t->run = run;
	t->flow = 0;
	lane__close(e, &t->state, time);
	if (run == KERNEL_RUNNING || waits(run) || t->lost) {
		fill_state(e, k, run, &slice);
		lane__begin(e, child_lane(e, t, &t->state, 1, "state"), time, &slice);
	}
	g = t->goroutine == TRACE_NO_G ? NULL : export__goroutine(e, t->goroutine);
	if (g && g->thread == t)
		nest(e, t, g, k, time);
}

/* ---- items ---- */

static void begin_call(struct export *e, struct exported_thread *t, const struct kernel_thread *k)
{
	struct lane *lane = child_lane(e, t, &t->calls, 2, "system calls");
	struct trace_string name = kernel_threads__syscall(e->kernel, k->call);
	struct export_event slice = { .name = name.len ? name : text_of("system call") };

	lane__close(e, lane, e->now);
	if (!name.len)
		add_number(&slice, "number", k->call);
	lane__begin(e, lane, e->now, &slice);
}

static void begin_fault(struct export *e, struct exported_thread *t)
{
	struct lane *lane = child_lane(e, t, &t->faults, 3, "page faults");
	struct export_event slice = { .name = text_of("page fault") };

	lane__close(e, lane, e->now);
	lane__begin(e, lane, e->now, &slice);
}

/* A thread that wakes another one has a CPU, even if no event has shown that it got one. */
static void show_waker(struct export *e, const struct kernel_item *item)
{
	uint32_t tid = kernel_item__waker(item);
	struct exported_thread *t = tid ? map__get(&e->threads, tid) : NULL;
	const struct kernel_thread *k = t ? kernel_threads__find(e->kernel, tid) : NULL;

	if (k && run_of(e, k) != t->run)
		set_state(e, t, k, run_of(e, k), e->now);
}

/* An arrow from the thread that woke this one, whose next state it leads to. */
static void wake(struct export *e, struct exported_thread *t, const struct kernel_item *item)
{
	struct exported_thread *by;
	struct export_event instant = { .name = text_of("wake up") };

	if (item->interrupt || item->other == item->tid)
		return;
	by = map__get(&e->threads, item->other);
	if (!by || !by->state.depth)
		return;
	t->flow = instant.flow_to = ++e->flows;
	add_number(&instant, "thread", item->tid);
	lane__instant(e, &by->state, &instant);
}

static void name_thread(struct export *e, struct exported_thread *t, const struct kernel_thread *k)
{
	char name[KERNEL_NAME_MAX + 32];
	int len = snprintf(name, sizeof(name), "Thread %" PRIu64 " %.*s", t->id, k->name_len,
			   k->name);

	e->sink->ops->track(e->sink, &(struct export_track){
					     .id = t->lane.track,
					     .group = EXPORT_THREADS,
					     .name = { name, (uint32_t)len },
					     .rank = t->id,
				     });
	t->named = true;
}

static void apply_kind(struct export *e, struct exported_thread *t, const struct kernel_item *item,
		       const struct kernel_thread *k)
{
	switch (item->kind) {
	case KERNEL_SYS_ENTER:
		begin_call(e, t, k);
		break;
	case KERNEL_SYS_EXIT:
		lane__close(e, &t->calls, e->now);
		break;
	case KERNEL_FAULT_BEGIN:
		begin_fault(e, t);
		break;
	case KERNEL_FAULT_END:
		lane__close(e, &t->faults, e->now);
		break;
	case KERNEL_ENDED:
		lane__close(e, &t->calls, e->now);
		lane__close(e, &t->faults, e->now);
		break;
	case KERNEL_NAMED:
		name_thread(e, t, k);
		break;
	}
}

int export__item(struct export *e, const struct timeline *t, const struct kernel_item *item)
{
	int64_t time = timeline__time(t, item->time), until = timeline__until(t);
	const struct kernel_thread *k;
	struct exported_thread *thread;
	uint8_t run;

	time = time < until ? time : until;
	if (time > e->now)
		e->now = time;
	if (kernel_item__is_of_cpu(item))
		return export__switch(e, item);
	k = kernel_threads__find(e->kernel, item->tid);
	thread = export__thread(e, item->tid);
	if (!thread)
		return -ENOMEM;
	if (!k)
		return 0;
	if (!thread->named && k->name_len)
		name_thread(e, thread, k);
	show_waker(e, item);
	run = run_of(e, k);
	if (item->kind == KERNEL_WAKING && run != thread->run)
		wake(e, thread, item);
	if (run != thread->run)
		set_state(e, thread, k, run, e->now);
	apply_kind(e, thread, item, k);
	if (item->kind == KERNEL_ON || item->kind == KERNEL_OFF)
		return export__switch(e, item);
	return 0;
}

/* ---- all threads ---- */

/* An item of the step sets the state of its thread later, at its own time. */
static void refresh_thread(struct export *e, struct exported_thread *t,
			   const struct timeline_step *step, int64_t time)
{
	static const struct kernel_thread gone = { .run = KERNEL_GONE, .call = KERNEL_NO_CALL };
	const struct kernel_thread *k =
		t->id <= UINT32_MAX ? kernel_threads__find(e->kernel, (uint32_t)t->id) : NULL;

	k = k ?: &gone;
	if (step->loss && (t->run == KERNEL_RUNNING || waits(t->run)))
		set_state(e, t, k, KERNEL_UNKNOWN, time);
	if (!step->item && run_of(e, k) != t->run)
		set_state(e, t, k, run_of(e, k), e->now);
	if (k->call == KERNEL_NO_CALL)
		lane__close(e, &t->calls, e->now);
	if (!k->in_fault)
		lane__close(e, &t->faults, e->now);
}

/* The threads of a generation's table. 0 or -ENOMEM. */
static int add_threads(struct export *e)
{
	size_t n;
	struct map_slot *k = map__sorted(&e->kernel->map, &n);
	int err = k ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++) {
		const struct kernel_thread *thread = k[i].value;
		bool known = thread->run > KERNEL_UNKNOWN && thread->run < KERNEL_GONE;

		if (known && !export__thread(e, thread->tid))
			err = -ENOMEM;
	}
	free(k);
	return err;
}

int export__refresh(struct export *e, const struct timeline_step *step, int64_t time)
{
	size_t n;
	struct map_slot *t;

	if (step->table && add_threads(e))
		return -ENOMEM;
	e->visits += e->threads.n + e->cpus.n;
	if (e->visits > EXPORT_VISITS_MAX)
		return 0;
	t = map__sorted(&e->threads, &n);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		refresh_thread(e, t[i].value, step, time);
	free(t);
	return export__refresh_cpus(e, step->loss, time);
}

int export__finish_threads(struct export *e)
{
	size_t n;
	struct map_slot *slot = map__sorted(&e->threads, &n);

	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct exported_thread *t = slot[i].value;

		lane__close(e, &t->lane, e->now);
		lane__close(e, &t->state, e->now);
		lane__close(e, &t->calls, e->now);
		lane__close(e, &t->faults, e->now);
	}
	free(slot);
	return export__finish_cpus(e);
}

void export__free_threads(struct export *e)
{
	map__free(&e->threads);
	map__free(&e->cpus);
}

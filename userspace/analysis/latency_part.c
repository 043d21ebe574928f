// SPDX-License-Identifier: GPL-2.0
/*
 * The part that a goroutine's time is added to, and the reason, by its state and its thread's.
 *
 * Called by analysis/latency.c whenever one of the two has changed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/latency_impl.h"

/* distinct names at most, which leaves kinds for all other reasons */
#define PREEMPTORS_MAX 128

static bool in_window(const struct latency *l)
{
	return l->now > l->opts.from && l->now <= l->opts.to;
}

static int add_worker(struct latency *l, const struct live *g, int64_t ns)
{
	int err = durations__add(&l->worker_wall, g->label, ns);

	return err ? err :
		     durations__add(&l->worker_oncpu, g->label, g->part == PART_ONCPU ? ns : 0);
}

int part__add_place(struct latency *l, struct live *g, uint32_t reason, uint32_t place, int64_t ns)
{
	uint32_t number;
	int err;

	if (!l->opts.places)
		return 0;
	err = place_table__number(&l->places, reason, place, &number);
	return err ? err : durations__add(&g->stats->places, number, ns);
}

static bool part_has_places(uint8_t part)
{
	return part == PART_GO_BLOCKED || part == PART_SYSCALL_BLOCKED;
}

/* The part is one of those with reasons. */
static int add_reason(struct latency *l, struct live *g, int64_t ns)
{
	uint32_t reason = (uint32_t)g->part << 16 | g->kind;
	int err = durations__add(&g->stats->reasons, reason, ns);

	if (err || !part_has_places(g->part))
		return err;
	return part__add_place(l, g, reason, g->place, ns);
}

static int add_assist(struct latency *l, struct live *g, int64_t ns)
{
	g->stats->gc_assist = time_add(g->stats->gc_assist, ns);
	return part__add_place(l, g, (uint32_t)PART_ONCPU << 16, g->assist_place, ns);
}

int part__end_slice(struct latency *l, struct live *g)
{
	struct live_slice *present = &g->slice;
	struct latency_slice slice;

	if (!l->opts.slice || present->to == present->from)
		return 0;
	slice = (struct latency_slice){
		.id = g->go.id,
		.m = present->m,
		.from = present->from,
		.to = present->to,
		.name = present->named ? g->go.name : 0,
		.reason = present->reason,
		.place = present->place,
		.call = present->call,
		.part = present->part,
		.state = present->state,
		.unknown = present->unknown,
		.assist = present->assist,
		.in_call = present->in_call,
		.by = present->by,
	};
	present->from = present->to;
	return l->opts.slice(l->opts.context, &slice);
}

/* With opts.places: the place that time in its part counts for, or LATENCY_NO_PLACE. 0 or -ENOMEM. */
static int find_place(struct latency *l, const struct live *g, uint16_t *ret)
{
	bool assist = g->part == PART_ONCPU && g->in_assist;
	uint32_t reason = (uint32_t)g->part << 16, place;

	*ret = LATENCY_NO_PLACE;
	if (!l->opts.places || (!assist && !part_has_places(g->part)))
		return 0;
	if (!assist)
		reason |= g->kind;
	if (place_table__number(&l->places, reason, assist ? g->assist_place : g->place, &place))
		return -ENOMEM;
	*ret = (uint16_t)place;
	return 0;
}

/* Continues the present slice if nothing has changed, which an event need not do. */
static int add_slice(struct latency *l, struct live *g, int64_t from, int64_t to)
{
	bool reasons = latency_part__has_reasons((enum latency_part)g->part);
	struct live_slice next = {
		.from = from,
		.to = to,
		.m = g->m,
		.reason = reasons ? (uint16_t)g->kind : 0,
		.part = g->part,
		.call = g->call,
		.state = g->go.state,
		.unknown = g->unknown,
		.assist = l->opts.places && g->in_assist,
		.in_call = l->opts.places && g->in_call && g->part == PART_ONCPU,
		.named = g->go.name,
		.by = TRACE_NO_G,
	}, *present = &g->slice;
	int err = find_place(l, g, &next.place);

	if (err)
		return err;
	if (present->to == from && present->from != present->to && present->part == next.part &&
	    present->state == next.state && present->reason == next.reason &&
	    present->m == next.m && present->unknown == next.unknown &&
	    present->place == next.place && present->assist == next.assist &&
	    present->in_call == next.in_call && present->call == next.call) {
		present->to = to;
		present->named = next.named;
		return 0;
	}
	err = part__end_slice(l, g);
	*present = next;
	return err;
}

/* Time in which records are missing. 0 or -ENOMEM, of opts.slice(). */
static int add_lost(struct latency *l, struct live *g, int64_t from, int64_t to)
{
	const struct latency_slice slice = {
		.id = g->go.id,
		.m = TRACE_NO_M,
		.from = from,
		.to = to,
		.by = TRACE_NO_G,
		.name = g->go.name,
		.place = LATENCY_NO_PLACE,
		.lost = true,
	};

	g->lost = time_add(g->lost, time_sub(to, from));
	if (!l->opts.slice)
		return 0;
	return part__end_slice(l, g) ?: l->opts.slice(l->opts.context, &slice);
}

/* 1: added; 0: it needs more than brief sums; or -ENOMEM. */
static int add_brief(struct latency *l, struct live *g, int64_t ns)
{
	uint32_t reason = (uint32_t)g->part << 16;
	uint16_t place;

	if (g->call || (g->part == PART_ONCPU && (g->in_call || g->in_assist)))
		return 0;
	if (latency_part__has_reasons(g->part))
		reason |= g->kind;
	if (find_place(l, g, &place))
		return -ENOMEM;
	return live__add_brief(g, reason, place, ns);
}

static int add_full(struct latency *l, struct live *g, int64_t ns)
{
	struct latency_stats *stats = g->stats;

	stats->part[g->part] = time_add(stats->part[g->part], ns);
	if (g->unknown)
		stats->unknown = time_add(stats->unknown, ns);
	if (g->part == PART_ONCPU && g->in_call)
		stats->syscall_oncpu = time_add(stats->syscall_oncpu, ns);
	if (g->call && durations__add(&stats->calls, (uint32_t)g->part << 16 | g->call, ns))
		return -ENOMEM;
	if (g->part == PART_ONCPU && g->in_assist && add_assist(l, g, ns))
		return -ENOMEM;
	return latency_part__has_reasons(g->part) ? add_reason(l, g, ns) : 0;
}

int part__add_to(struct latency *l, const struct live *g, struct latency_stats *stats)
{
	int64_t from = latest(g->since, l->opts.from), to = earliest(l->now, l->opts.to), ns;
	struct stretch stretch;
	struct live at = *g;
	int err = 0;

	at.stats = stats;
	at.full = true;
	while (!err && gaps__next(&l->tracker.gaps, g->go.id, g->go.record, &from, to, &stretch)) {
		ns = time_sub(stretch.to, stretch.from);
		if (stretch.lost)
			stats->lost = time_add(stats->lost, ns);
		else
			err = add_full(l, &at, ns);
	}
	return err;
}

/* 0 or -ENOMEM, also of opts.slice(). */
static int add_span(struct latency *l, struct live *g, int64_t from, int64_t to)
{
	int64_t ns = time_sub(to, from);
	int added;

	if (l->opts.slice && add_slice(l, g, from, to))
		return -ENOMEM;
	if (g->part == PART_KERNEL_RUNNABLE)
		g->delay = time_add(g->delay, ns);
	if (g->label && add_worker(l, g, ns))
		return -ENOMEM;
	if (g->full)
		return add_full(l, g, ns);
	added = add_brief(l, g, ns);
	if (added)
		return added < 0 ? added : 0;
	return live__expand(g) ?: add_full(l, g, ns);
}

/* Time that its thread waits for a CPU, divided by what had it. */
static int add_wait(struct latency *l, struct live *g, int64_t from, int64_t to)
{
	uint32_t kind = g->kind;
	struct cpu_piece piece;
	int err = live__expand(g);

	while (!err && from < to) {
		g->kind = kind;
		err = cpu_tasks__piece(l, g, from, to, &piece);
		if (err)
			break;
		g->kind = piece.kind;
		err = durations__add(&g->stats->tasks, piece.task, time_sub(piece.to, from));
		err = err ? err : add_span(l, g, from, piece.to);
		from = piece.to;
	}
	g->kind = kind;
	return err;
}

int part__add(struct latency *l, struct live *g)
{
	int64_t from = latest(g->since, l->opts.from), to = earliest(l->now, l->opts.to);
	bool waits = g->part == PART_KERNEL_RUNNABLE && latency__has_tasks(l);
	struct stretch stretch;
	int err = 0;

	g->since = l->now;
	while (!err && gaps__next(&l->tracker.gaps, g->go.id, g->go.record, &from, to, &stretch)) {
		if (stretch.lost)
			err = add_lost(l, g, stretch.from, stretch.to);
		else if (waits)
			err = add_wait(l, g, stretch.from, stretch.to);
		else
			err = add_span(l, g, stretch.from, stretch.to);
	}
	return err;
}

static int text_kind(struct latency *l, const char *text, uint32_t *ret)
{
	return naming__text_kind(&l->naming, text, strlen(text), ret);
}

static int call_kind(struct latency *l, const struct kernel_thread *t, uint32_t *ret)
{
	struct trace_string name = kernel_threads__syscall(l->threads, t->call);
	char number[32];

	if (name.len)
		return naming__text_kind(&l->naming, name.data, name.len, ret);
	snprintf(number, sizeof(number), "system call %u", t->call);
	return text_kind(l, number, ret);
}

/* What its thread sleeps in. */
static int sleep_kind(struct latency *l, const struct kernel_thread *t, uint32_t *ret)
{
	const char *sleep;

	if (t->run == KERNEL_STOPPED)
		return text_kind(l, kernel__sleep(t->sleep) ?: "stopped", ret);
	if (!t->in_fault && t->call != KERNEL_NO_CALL)
		return call_kind(l, t, ret);
	sleep = kernel__sleep(t->in_fault ? GT_SLEEP_PAGE : t->sleep);
	return text_kind(l, sleep ?: LATENCY_NOT_RECORDED, ret);
}

/* It made way for a thread of another program, of that name. */
static int preemptor_kind(struct latency *l, const struct trace_string *name, uint32_t *ret)
{
	static const char by[] = "preempted by ";
	char text[sizeof(by) + UINT8_MAX];
	size_t len = name->len < UINT8_MAX ? name->len : UINT8_MAX;
	uint32_t id;

	if (!len)
		return text_kind(l, "preempted", ret);
	id = intern__string(l->preemptors, name->data, len);
	if (!id)
		return -ENOMEM;
	if (id > PREEMPTORS_MAX)
		return text_kind(l, "preempted by others", ret);
	memcpy(text, by, sizeof(by) - 1);
	memcpy(text + sizeof(by) - 1, name->data, len);
	return naming__text_kind(&l->naming, text, sizeof(by) - 1 + len, ret);
}

/* Why a thread waits for a CPU, by the event with which it left its own. */
static int off_kind(struct latency *l, const struct kernel_item *item, uint32_t *ret)
{
	if (item->why == GT_OFF_YIELDED)
		return text_kind(l, "yielded", ret);
	if (latency__has_tasks(l))
		return text_kind(l, "preempted", ret);
	if (kernel_threads__find(l->threads, item->other))
		return text_kind(l, "preempted by the program itself", ret);
	return preemptor_kind(l, &item->name, ret);
}

int part__note_wait(struct latency *l, const struct kernel_item *item)
{
	const struct kernel_thread *t = kernel_threads__find(l->threads, item->tid);
	uint32_t kind;
	int err;

	if (!t || t->run != KERNEL_RUNNABLE || t->woken) {
		map__remove(&l->waits, item->tid);
		return 0;
	}
	if (item->kind != KERNEL_OFF)
		return 0;
	err = off_kind(l, item, &kind);
	return err ? err : map__put(&l->waits, item->tid, (void *)(uintptr_t)(1 + kind));
}

/* Why its thread waits for a CPU; one that waited when the trace began did not say. */
static int wait_kind(struct latency *l, const struct kernel_thread *t, uint32_t *ret)
{
	uintptr_t noted = t->woken ? 0 : (uintptr_t)map__get(&l->waits, t->tid);

	if (!noted)
		return text_kind(l, t->woken ? "woken" : "preempted", ret);
	*ret = (uint32_t)(noted - 1);
	return 0;
}

/*
 * A wait in a run queue is over, or begins. One of no length whose end counts at another time than
 * its own lies between two events, or after the last one: not in this state. A goroutine that leaves
 * its thread ran there, so its wait ended earlier, with a switch that the kernel did not report.
 */
static int set_part(struct latency *l, struct live *g, enum latency_part part)
{
	bool waited = g->part == PART_KERNEL_RUNNABLE && (g->delay || !l->moved);
	bool on_thread = part != PART_GO_BLOCKED && part != PART_GO_RUNNABLE;
	int err = 0;

	if (waited && on_thread && part != PART_KERNEL_RUNNABLE && in_window(l))
		err = live__expand(g) ?: latency_stats__count_delay(g->stats, g->delay);
	if (part != g->part)
		g->delay = 0;
	g->part = (uint8_t)part;
	return err;
}

int part__guess(struct latency *l, struct live *g)
{
	bool call = g->go.state == GO_STATE_SYSCALL;

	g->in_call = false;
	g->call = 0;
	g->unknown = true;
	if (call && text_kind(l, LATENCY_NOT_RECORDED, &g->kind))
		return -ENOMEM;
	return set_part(l, g, call ? PART_SYSCALL_BLOCKED : PART_ONCPU);
}

/* Counts a migration if it is back on another CPU. */
static int note_cpu(struct latency *l, struct live *g, const struct kernel_thread *t)
{
	if (g->has_cpu && g->cpu != t->cpu && t->run == KERNEL_RUNNING && in_window(l)) {
		if (live__expand(g))
			return -ENOMEM;
		g->stats->migrations++;
	}
	if (!g->has_cpu || t->run == KERNEL_RUNNING) {
		g->cpu = t->cpu;
		g->has_cpu = true;
	}
	return 0;
}

static int choose_by_thread(struct latency *l, struct live *g, const struct kernel_thread *t,
			    const struct kernel_item *item)
{
	bool call = g->go.state == GO_STATE_SYSCALL, waited = g->part == PART_KERNEL_RUNNABLE;
	uint32_t kind = 0;
	int err = 0;

	g->in_call = call || t->call != KERNEL_NO_CALL;
	g->unknown = l->in_loss;
	if (note_cpu(l, g, t))
		return -ENOMEM;
	if (l->opts.places && t->call != KERNEL_NO_CALL && call_kind(l, t, &kind))
		return -ENOMEM;
	g->call = (uint16_t)kind;
	switch (t->run) {
	case KERNEL_RUNNING:
		return set_part(l, g, PART_ONCPU);
	case KERNEL_RUNNABLE: /* why it began to wait is known then only */
		if (!waited)
			cpu_tasks__begin_wait(g, t);
		if (!waited || (item && item->kind == KERNEL_OFF))
			err = wait_kind(l, t, &g->kind);
		return err ? err : set_part(l, g, PART_KERNEL_RUNNABLE);
	case KERNEL_THROTTLED:
		return set_part(l, g, PART_THROTTLED);
	default:
		err = sleep_kind(l, t, &g->kind);
		return err ? err :
			     set_part(l, g, call ? PART_SYSCALL_BLOCKED : PART_KERNEL_BLOCKED);
	}
}

int part__choose(struct latency *l, struct live *g, const struct kernel_item *item)
{
	const struct kernel_thread *t = NULL;

	if (g->go.state == GO_STATE_RUNNING || g->go.state == GO_STATE_SYSCALL) {
		t = live__thread(l, g);
		if (!t || t->run == KERNEL_UNKNOWN || t->run == KERNEL_GONE)
			return part__guess(l, g);
		return choose_by_thread(l, g, t, item);
	}
	g->in_call = g->unknown = false;
	g->call = 0;
	g->kind = g->go_kind;
	return set_part(l, g, g->go.state == GO_STATE_WAITING ? PART_GO_BLOCKED : PART_GO_RUNNABLE);
}

int part__end(struct latency *l, struct live *g)
{
	int err = part__add(l, g);

	return err ? err : part__end_slice(l, g);
}

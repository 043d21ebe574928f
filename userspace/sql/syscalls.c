// SPDX-License-Identifier: GPL-2.0
/*
 * The table `syscalls`: system calls as Go's runtime sees them, and as the kernel does.
 *
 * Go's have no names. Those of the kernel, which a trace with kernel events has, are of any thread,
 * and include calls that Go does not announce. `source` tells the two apart, so that none is
 * counted twice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/durations.h"
#include "analysis/goroutine_tracker.h"
#include "lib/map.h"
#include "sql/tables.h"

enum { SOURCE, START, NS, NAME, THREAD, G, RESULT, STACK };

static const struct column columns[] = {
	[SOURCE] = { "source", "VARCHAR", "go or kernel" },
	[START] = { "start_ns", "BIGINT", "clock of the trace; null: unknown" },
	[NS] = { "ns", "BIGINT", "duration; null: it began before the trace, or events were lost" },
	[NAME] = { "name", "VARCHAR", "kernel only" },
	[THREAD] = { "thread", "BIGINT", "" },
	[G] = { "g", "BIGINT", "kernel: the goroutine that its thread ran; null: none" },
	[RESULT] = { "result", "BIGINT", "kernel only: what it returned; below 0: an errno" },
	[STACK] = { "stack", "BIGINT", "go only: stacks.stack" },
};

/* A goroutine in a system call. */
struct caller {
	int64_t since;
	uint64_t thread;
	int64_t stack;
	bool unbegun; /* the begin of the call is not in the trace */
};

struct producer {
	struct rows *rows;
	struct map callers; /* by goroutine */
	struct stack_numbers numbers;
	int64_t lost_to; /* what began before is uncertain */
	struct duckdb_text go, kernel;
};

static void destroy(void *producer)
{
	struct producer *p = producer;

	map__free(&p->callers);
	stack_numbers__clear(&p->numbers);
	free(p);
}

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	(void)source;
	(void)reader;
	if (!p)
		return NULL;
	p->rows = rows;
	p->lost_to = INT64_MIN;
	p->go = text__static("go");
	p->kernel = text__static("kernel");
	return p;
}

static int enter(struct producer *p, const struct trace_event *ev, const struct semantics *m)
{
	struct caller *caller = map__get(&p->callers, m->id);

	if (!caller) /* otherwise another goroutine with that ID, which never ended */
		caller = map__put_new(&p->callers, m->id, sizeof(*caller));
	if (!caller)
		return -ENOMEM;
	caller->since = ev->time;
	caller->unbegun = m->from == GO_STATE_UNDETERMINED;
	caller->thread = transition__thread(ev);
	caller->stack = p->rows->wanted[STACK] ? stack_numbers__get(&p->numbers, ev->dictionary,
								    m->transition_stack) :
						 ROW_NULL;
	return 0;
}

static int leave(struct producer *p, const struct trace_event *ev, const struct semantics *m)
{
	struct caller *caller = map__remove(&p->callers, m->id);
	struct rows *r = p->rows;
	bool known;

	if (!caller) /* its first state is unknown */
		return 0;
	if (rows__add(r)) {
		free(caller);
		return -ENOMEM;
	}
	known = !caller->unbegun && caller->since >= p->lost_to;
	row__text(r, SOURCE, p->go);
	row__number(r, START, known ? caller->since : ROW_NULL);
	row__number(r, NS, known ? time_sub(ev->time, caller->since) : ROW_NULL);
	row__text(r, NAME, text__null());
	row__id(r, THREAD, caller->thread);
	row__id(r, G, m->id);
	row__number(r, RESULT, ROW_NULL);
	row__number(r, STACK, caller->stack);
	free(caller);
	return 0;
}

/* A status repeats a known state in each generation. */
static int note_event(struct producer *p, const struct trace_event *ev)
{
	struct semantics m;
	int err = 0;

	semantics__of(ev, &m);
	if (m.kind != SEMANTICS_STATE_TRANSITION || m.resource != RESOURCE_GOROUTINE ||
	    m.from == m.to)
		return 0;
	if (m.from == GO_STATE_SYSCALL)
		err = leave(p, ev, &m);
	else if (m.from == GO_STATE_UNDETERMINED || m.from == GO_STATE_NOT_EXIST)
		free(map__remove(&p->callers, m.id));
	return !err && m.to == GO_STATE_SYSCALL ? enter(p, ev, &m) : err;
}

static void put_name(struct rows *r, const struct timeline *t, uint32_t call)
{
	struct trace_string name = kernel_threads__syscall(timeline__threads(t), call);
	char text[16];

	if (!name.len)
		name = (struct trace_string){ text, (uint32_t)snprintf(text, sizeof(text),
								       "%" PRIu32, call) };
	row__copy(r, NAME, name);
}

/* The end of a call in the kernel. Its time is that of the kernel's event. */
static int add_kernel(struct producer *p, const struct timeline *t, const struct kernel_item *item)
{
	int64_t end = timeline__time(t, item->time);
	uint64_t ns = timeline__duration(t);
	bool known = ns <= INT64_MAX && !timeline__in_loss(t);
	struct rows *r = p->rows;

	if (rows__add(r))
		return -ENOMEM;
	row__text(r, SOURCE, p->kernel);
	row__number(r, START, known ? time_sub(end, (int64_t)ns) : ROW_NULL);
	row__number(r, NS, known ? (int64_t)ns : ROW_NULL);
	put_name(r, t, item->number);
	row__id(r, THREAD, item->tid);
	row__id(r, G, timeline__goroutine(t, item->tid));
	row__number(r, RESULT, (int64_t)item->value);
	row__number(r, STACK, ROW_NULL);
	return 0;
}

static int step(void *producer, const struct timeline *t, const struct timeline_step *step,
		struct error *error)
{
	const struct trace_event *ev = step->event;
	struct producer *p = producer;
	int err = 0;

	if (ev) {
		if (ev->type == EV_SYNC)
			stack_numbers__clear(&p->numbers);
		p->lost_to = timeline__go_lost_to(t);
		err = note_event(p, ev);
	} else if (step->item->kind == KERNEL_SYS_EXIT) {
		err = add_kernel(p, t, step->item);
	}
	return err ? producer__out_of_memory(error) : 0;
}

static const struct producer_ops ops = { .create = create, .step = step, .destroy = destroy };

const struct table syscalls_table = {
	.name = "syscalls",
	.what = "a system call that has ended",
	.columns = columns,
	.ncolumns = sizeof(columns) / sizeof(*columns),
	.ops = &ops,
};

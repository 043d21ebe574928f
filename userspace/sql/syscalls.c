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

/* a goroutine */
struct caller {
	struct tracked_goroutine go;
	uint64_t thread;
	int64_t stack;
	bool unbegun; /* the begin of its state is not in the trace */
};

struct producer {
	struct rows *rows;
	struct goroutine_tracker tracker; /* of struct caller */
	struct intern *names;
	struct stack_numbers numbers;
	int64_t lost_to; /* what began before is uncertain */
	struct duckdb_text go, kernel;
};

static int leave(void *context, void *goroutine, const struct trace_event *ev,
		 const struct semantics *m)
{
	struct producer *p = context;
	const struct caller *g = goroutine;
	struct rows *r = p->rows;
	bool known = !g->unbegun && g->go.since >= p->lost_to;

	(void)ev;
	(void)m;
	if (g->go.state != GO_STATE_SYSCALL)
		return 0;
	if (rows__add(r))
		return -ENOMEM;
	row__text(r, SOURCE, p->go);
	row__number(r, START, known ? g->go.since : ROW_NULL);
	row__number(r, NS, known ? time_sub(p->tracker.now, g->go.since) : ROW_NULL);
	row__text(r, NAME, text__null());
	row__id(r, THREAD, g->thread);
	row__id(r, G, g->go.id);
	row__number(r, RESULT, ROW_NULL);
	row__number(r, STACK, g->stack);
	return 0;
}

static int enter(void *context, void *goroutine, const struct trace_event *ev,
		 const struct semantics *m)
{
	struct producer *p = context;
	struct caller *g = goroutine;

	if (m->to != GO_STATE_SYSCALL)
		return 0;
	g->unbegun = m->from == GO_STATE_UNDETERMINED;
	g->thread = transition__thread(ev);
	g->stack = p->rows->wanted[STACK] ?
			   stack_numbers__get(&p->numbers, ev->dictionary, m->transition_stack) :
			   ROW_NULL;
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct caller),
	.leave = leave,
	.enter = enter,
};

static void destroy(void *producer)
{
	struct producer *p = producer;

	goroutine_tracker__deinit(&p->tracker);
	intern__destroy(p->names);
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
	p->names = intern__create();
	goroutine_tracker__init(&p->tracker, &client, p, p->names);
	if (p->names)
		return p;
	destroy(p);
	return NULL;
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
		err = goroutine_tracker__event(&p->tracker, &client, ev, ev->time);
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

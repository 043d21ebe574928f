// SPDX-License-Identifier: GPL-2.0
/*
 * The tables `stacks`, the frames of the stacks that other tables refer to, and `samples`, CPU
 * samples.
 *
 * A stack has the same number in each generation and file, so `stacks` has it once per file.
 */
#include <stdlib.h>

#include "format/private_read.h"
#include "reader/semantics.h"
#include "sql/tables.h"

enum { STACK, DEPTH, FUNCTION, SOURCE, LINE, PC };

static const struct column stack_columns[] = {
	[STACK] = { "stack", "BIGINT", "number of the stack: the same in each trace" },
	[DEPTH] = { "depth", "BIGINT", "0: the innermost frame" },
	[FUNCTION] = { "function", "VARCHAR", "" },
	[SOURCE] = { "source", "VARCHAR", "file of the source" },
	[LINE] = { "line", "BIGINT", "" },
	[PC] = { "pc", "BIGINT", "" },
};

enum { TIME, THREAD, P, G, SAMPLE_STACK, CPU };

static const struct column sample_columns[] = {
	[TIME] = { "time_ns", "BIGINT", "clock of the trace" },
	[THREAD] = { "thread", "BIGINT", "" },
	[P] = { "p", "BIGINT", "" },
	[G] = { "g", "BIGINT", "null: the thread ran no goroutine" },
	[SAMPLE_STACK] = { "stack", "BIGINT", "stacks.stack" },
	[CPU] = { "cpu_ns", "BIGINT", "CPU time that it stands for; null: rate unknown" },
};

struct producer {
	struct rows *rows;
	struct stack_numbers numbers;
	struct map written; /* by number: stacks that the table has */
	int64_t sample_ns;  /* CPU time of a sample of the generation; ROW_NULL: unknown */
};

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	(void)source;
	(void)reader;
	if (p)
		*p = (struct producer){ .rows = rows, .sample_ns = ROW_NULL };
	return p;
}

static void destroy(void *producer)
{
	struct producer *p = producer;

	stack_numbers__clear(&p->numbers);
	map__deinit(&p->written);
	free(p);
}

static int add_frame(struct rows *r, const struct dictionary *d, int64_t number, uint64_t stack,
		     size_t depth)
{
	const struct trace_frame *frame = dictionary__frame(d, stack, depth);
	struct trace_string function = {}, file = {};

	dictionary__string(d, frame->func, &function);
	dictionary__string(d, frame->file, &file);
	if (rows__add(r))
		return -ENOMEM;
	row__number(r, STACK, number);
	row__number(r, DEPTH, (int64_t)depth);
	row__copy(r, FUNCTION, function);
	row__copy(r, SOURCE, file);
	row__id(r, LINE, frame->line);
	row__id(r, PC, frame->pc);
	return 0;
}

static int add_stack(struct producer *p, const struct dictionary *d, uint64_t stack)
{
	int64_t number;
	size_t n;
	int err = 0;

	if (map__get(&p->numbers.known, stack))
		return 0;
	number = stack_numbers__get(&p->numbers, d, stack);
	if (number == ROW_NULL || map__get(&p->written, (uint64_t)number))
		return 0;
	n = dictionary__frames(d, stack);
	for (size_t i = 0; !err && i < n; i++)
		err = add_frame(p->rows, d, number, stack, i);
	return err ?: map__put(&p->written, (uint64_t)number, p);
}

/* Of the running goroutine, and of the one that changed its state. */
static int stack_step(void *producer, const struct timeline *t, const struct timeline_step *step,
		      struct error *error)
{
	const struct trace_event *ev = step->event;
	struct producer *p = producer;
	struct semantics m;
	int err = 0;

	(void)t;
	if (!ev || !ev->dictionary)
		return 0;
	if (ev->type == EV_SYNC)
		stack_numbers__clear(&p->numbers);
	semantics__of(ev, &m);
	if (m.stack)
		err = add_stack(p, ev->dictionary, m.stack);
	if (!err && m.transition_stack)
		err = add_stack(p, ev->dictionary, m.transition_stack);
	return err ? producer__out_of_memory(error) : 0;
}

static int begin_generation(struct producer *p, const struct trace_event *sync)
{
	uint64_t ns = 0;
	int err = sync->dictionary ? private_read__sample_period(sync->dictionary, &ns) : 0;

	stack_numbers__clear(&p->numbers);
	p->sample_ns = ns ? (int64_t)ns : ROW_NULL;
	return err;
}

static int sample_step(void *producer, const struct timeline *t, const struct timeline_step *step,
		       struct error *error)
{
	const struct trace_event *ev = step->event;
	struct producer *p = producer;

	(void)t;
	if (ev && ev->type == EV_SYNC && begin_generation(p, ev))
		return producer__out_of_memory(error);
	if (!ev || ev->type != EV_CPU_SAMPLE)
		return 0;
	if (rows__add(p->rows))
		return producer__out_of_memory(error);
	row__number(p->rows, TIME, ev->time);
	row__context(p->rows, THREAD, ev);
	row__number(p->rows, SAMPLE_STACK,
		    stack_numbers__get(&p->numbers, ev->dictionary, ev->arg[0]));
	row__number(p->rows, CPU, p->sample_ns);
	return 0;
}

static const struct producer_ops stack_ops = {
	.create = create,
	.step = stack_step,
	.destroy = destroy,
};

static const struct producer_ops sample_ops = {
	.create = create,
	.step = sample_step,
	.destroy = destroy,
};

const struct table stacks_table = {
	.name = "stacks",
	.what = "a frame of a stack that an event has",
	.columns = stack_columns,
	.ncolumns = sizeof(stack_columns) / sizeof(*stack_columns),
	.ops = &stack_ops,
};

const struct table samples_table = {
	.name = "samples",
	.what = "a CPU sample",
	.columns = sample_columns,
	.ncolumns = sizeof(sample_columns) / sizeof(*sample_columns),
	.ops = &sample_ops,
};

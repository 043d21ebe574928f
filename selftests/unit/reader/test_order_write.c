// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the event order for a writer: the sequence numbers that it assigns, and that an event
 * without a legal place changes nothing. test_order.c tests the rules themselves.
 */
#include "unit/test.h"
#include "reader/order.h"
#include "reader/order_save.h"

#define NO_M TRACE_NO_M

struct line {
	uint64_t gen, m;
	enum ev type;
	uint64_t arg[EV_ARGS_MAX - 1];
	uint64_t number; /* expected, if the event has one */
};

static const struct trace_string name = { "region", 6 }, another = { "another", 7 };

/* The place of the sequence number among the arguments; -1: none. */
static int number_at(enum ev type)
{
	const struct ev_spec *spec = spec__event(type);

	for (int i = 1; i < spec->nargs; i++)
		if (spec->arg[i].type == ARG_SEQ)
			return i - 1;
	return -1;
}

static int write_line(struct order *o, const struct line *line, const struct trace_string *text,
		      uint64_t *arg)
{
	struct order_place at = { .gen = line->gen, .m = line->m, .name = text };

	memcpy(arg, line->arg, sizeof(line->arg));
	return order__write(o, (uint8_t)line->type, arg, &at);
}

static void must_write(struct order *o, const struct line *lines, size_t n)
{
	uint64_t arg[EV_ARGS_MAX - 1];
	int at;

	for (size_t i = 0; i < n; i++) {
		at = number_at(lines[i].type);
		if (write_line(o, &lines[i], &name, arg) != 1)
			fail_msg("event %zu is illegal", i);
		if (at >= 0 && arg[at] != lines[i].number)
			fail_msg("event %zu has the number %llu", i, (unsigned long long)arg[at]);
		assert_true(o->extras <= ORDER_EXTRA);
	}
}

#define MUST_WRITE(o, lines) must_write(o, lines, sizeof(lines) / sizeof(*(lines)))

TEST(numbers_count_from_each_status)
{
	static const struct line lines[] = {
		{ 1, 1, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
		{ 1, 1, EV_GO_STATUS, { 1, 1, GO_RUNNING }, 0 },
		{ 1, 1, EV_GO_CREATE, { 2, 99, 98 }, 0 },
		{ 1, 1, EV_GO_BLOCK, { 97, 96 }, 0 },
		{ 1, 1, EV_GO_START, { 2 }, 1 },
		{ 1, 1, EV_GO_UNBLOCK, { 1, 0, 99 }, 1 },
		{ 1, 1, EV_GO_STOP, { 5, 5 }, 0 },
		{ 1, 1, EV_GO_START, { 1 }, 2 },
		{ 1, 1, EV_GO_SYSCALL_BEGIN, { 0, 99 }, 1 },
		{ 1, 1, EV_GO_SYSCALL_END, {}, 0 },
		{ 1, 1, EV_GO_SYSCALL_BEGIN, { 0, 99 }, 2 },
		{ 1, 2, EV_PROC_STEAL, { 0, 0, 1 }, 3 },
		{ 1, 2, EV_PROC_START, { 0 }, 4 },
		{ 1, 2, EV_GO_START, { 2 }, 2 },
		{ 2, 2, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
		{ 2, 2, EV_GO_STATUS, { 2, 2, GO_RUNNING }, 0 },
		{ 2, 2, EV_GO_STOP, { 5, 5 }, 0 },
		{ 2, 2, EV_GO_START, { 2 }, 1 },
		{ 2, 2, EV_GO_SYSCALL_BEGIN, { 0, 99 }, 1 },
	};
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, lines);
	order__deinit(&o);
}

TEST(switches_have_the_number_of_the_next)
{
	static const struct line lines[] = {
		{ 1, 1, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
		{ 1, 1, EV_GO_STATUS, { 1, 1, GO_RUNNING }, 0 },
		{ 1, 1, EV_GO_CREATE_BLOCKED, { 2, 99, 98 }, 0 },
		{ 1, 1, EV_GO_SWITCH, { 2 }, 1 },
		{ 1, 1, EV_GO_SWITCH, { 1 }, 1 },
		{ 1, 1, EV_GO_SWITCH, { 2 }, 2 },
		{ 1, 1, EV_GO_SWITCH_DESTROY, { 1 }, 2 },
	};
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, lines);
	assert_null(map__get(&o.g, 2));
	order__deinit(&o);
}

/* Those of the GC continue across generations. */
TEST(gc_counts_on)
{
	static const struct line lines[] = {
		{ 1, NO_M, EV_GC_ACTIVE, {}, 1 },
		{ 1, 1, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
		{ 1, 1, EV_GO_STATUS, { 1, 1, GO_RUNNING }, 0 },
		{ 2, 1, EV_GC_ACTIVE, {}, 2 },
		{ 2, 1, EV_GC_END, {}, 3 },
		{ 2, 1, EV_GC_BEGIN, {}, 4 },
	};
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, lines);
	order__deinit(&o);
}

/* Two generations: goroutine 1 in a system call on thread 1 with P 0, P 1 in one on no thread. */
static const struct line before[] = {
	{ 1, 1, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
	{ 1, 1, EV_GO_STATUS, { 1, 1, GO_RUNNING }, 0 },
	{ 1, 1, EV_GO_SYSCALL_BEGIN, { 0, 0 }, 1 },
	{ 1, 2, EV_PROC_STATUS, { 2, PROC_RUNNING }, 0 },
	{ 1, 2, EV_GO_STATUS, { 3, 2, GO_RUNNING }, 0 },
	{ 1, 2, EV_USER_REGION_BEGIN, { 7, 55, 44 }, 0 },
	{ 1, 2, EV_USER_TASK_BEGIN, { 8, 0, 55, 44 }, 0 },
	{ 1, NO_M, EV_PROC_STATUS, { 1, PROC_SYSCALL }, 0 },
	{ 1, NO_M, EV_GO_STATUS, { 4, 0, GO_RUNNABLE }, 0 },
	{ 2, NO_M, EV_GO_STATUS, { 4, 0, GO_RUNNABLE }, 0 },
	{ 2, 1, EV_PROC_STATUS, { 0, PROC_SYSCALL }, 0 },
};

TEST(illegal_events_change_nothing)
{
	static const struct line lines[] = {
		{ 2, 2, EV_PROC_STEAL, { 0, 0, 2 }, 0 },	    /* it has another P */
		{ 2, 2, EV_PROC_STEAL, { 0, 0, 77 }, 0 },	    /* unknown */
		{ 2, 2, EV_PROC_STEAL, { 1, 0, 1 }, 0 },	    /* no status in generation 2 */
		{ 2, 2, EV_PROC_STATUS, { 1, PROC_ABANDONED }, 0 }, /* on no thread */
		{ 2, 2, EV_GO_STATUS, { 9, 2, GO_WAITING }, 0 },    /* new in generation 2 */
		{ 1, 1, EV_GO_STATUS, { 9, 2, GO_SYSCALL }, 0 },    /* goroutine 3 is there */
		{ 1, 1, EV_GO_STATUS, { 9, NO_M, GO_SYSCALL }, 0 },
		{ 2, 2, EV_GO_STATUS, { 1, 2, GO_SYSCALL }, 0 }, /* from thread 1 to thread 2 */
		{ 2, 2, EV_GO_STATUS, { 4, 2, GO_RUNNING }, 0 },
		{ 2, 2, EV_GO_START, { 4 }, 0 }, /* a goroutine is there */
		{ 2, 2, EV_GO_UNBLOCK, { 4 }, 0 },
		{ 2, 1, EV_GO_SYSCALL_BEGIN, {}, 0 },
		{ 2, 2, EV_GO_SYSCALL_BEGIN, {}, 0 }, /* no status of P 2 in generation 2 */
		{ 2, 2, EV_GO_SWITCH, { 4 }, 0 },
		{ 2, 2, EV_GO_CREATE, { 4 }, 0 },
		{ 2, 2, EV_STW_END, {}, 0 },
		{ 2, 2, EV_GC_END, {}, 0 },
		{ 2, 2, EV_USER_TASK_BEGIN, { 8 }, 0 },
		{ 2, 2, EV_USER_REGION_END, { 7, 55, 44 }, 0 }, /* of another name */
		{ 2, 2, EV_SYNC, {}, 0 },
	};
	struct outbuf old = {}, now = {};
	uint64_t arg[EV_ARGS_MAX - 1];
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, before);
	assert_int_equal(order__save(&o, &old), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (write_line(&o, &lines[i], &another, arg) > 0)
			fail_msg("event %zu is legal", i);
		now.len = 0;
		assert_int_equal(order__save(&o, &now), 0);
		if (now.len != old.len || memcmp(now.data, old.data, old.len))
			fail_msg("event %zu has changed the state", i);
	}
	outbuf__deinit(&old);
	outbuf__deinit(&now);
	order__deinit(&o);
}

/* Ids of strings and stacks are not those of a dictionary; regions are compared by name. */
TEST(regions_end_by_name)
{
	static const struct line end = { 2, 2, EV_USER_REGION_END, { 7, 1, 2 }, 0 };
	uint64_t arg[EV_ARGS_MAX - 1];
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, before);
	assert_int_equal(write_line(&o, &end, &another, arg), -EBADMSG);
	assert_int_equal(write_line(&o, &end, &name, arg), 1);
	order__deinit(&o);
}

/* A goroutine's thread is known as long as it is on it. */
TEST(goroutines_have_a_thread)
{
	static const struct line lines[] = {
		{ 1, 2, EV_GO_STOP, { 0, 0 }, 0 },
		{ 1, NO_M, EV_GO_STATUS, { 9, 6, GO_SYSCALL }, 0 },
	};
	const struct order_g *g;
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, before);
	g = map__get(&o.g, 3);
	assert_int_equal(g->holder->id, 2);
	assert_int_equal(g->holder->g, 3);
	must_write(&o, lines, 1);
	assert_true(g->holder->g != 3);
	assert_int_equal(write_line(&o, &lines[1], &name, (uint64_t[EV_ARGS_MAX - 1]){}), 1);
	g = map__get(&o.g, 9);
	assert_int_equal(g->holder->id, 6);
	order__deinit(&o);
}

/* A rewrite that begins in the middle forgets what no event can report. */
TEST(pauses_tasks_and_ps_are_forgotten)
{
	static const struct line lines[] = {
		{ 1, 1, EV_PROC_STATUS, { 0, PROC_RUNNING }, 0 },
		{ 1, 1, EV_GO_STATUS, { 1, 1, GO_RUNNING }, 0 },
		{ 1, 1, EV_STW_BEGIN, { 1 }, 0 },
		{ 1, 1, EV_GC_MARK_ASSIST_BEGIN, {}, 0 },
		{ 1, 1, EV_STW_BEGIN, { 2 }, 0 },
		{ 1, 1, EV_USER_TASK_BEGIN, { 8, 0, 55, 44 }, 0 },
		{ 1, 2, EV_PROC_STATUS, { 1, PROC_RUNNING }, 0 },
		{ 1, 2, EV_GC_SWEEP_BEGIN, {}, 0 },
		{ 1, 2, EV_PROC_STOP, {}, 0 },
	};
	static const struct line after[] = {
		{ 1, 1, EV_GC_MARK_ASSIST_END, {}, 0 },
		{ 1, 1, EV_STW_BEGIN, { 2 }, 0 },
		{ 1, 1, EV_USER_TASK_BEGIN, { 8, 0, 55, 44 }, 0 },
		{ 1, 2, EV_PROC_STATUS, { 1, PROC_IDLE }, 0 },
	};
	struct order_g *g;
	struct order o;

	order__init(&o);
	MUST_WRITE(&o, lines);
	g = map__get(&o.g, 1);
	assert_int_equal(order__pauses(&g->ranges), 2);
	assert_int_equal(order__close_pauses(&g->ranges), 2);
	assert_int_equal(order__pauses(&g->ranges), 0);
	order__forget_tasks(&o);
	order__forget_p(&o, map__get(&o.p, 1));
	assert_int_equal(o.task.n + o.p.n, 1);
	MUST_WRITE(&o, after);
	order__deinit(&o);
}

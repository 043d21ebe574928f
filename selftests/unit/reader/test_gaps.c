// SPDX-License-Identifier: GPL-2.0
/*
 * Known and lost time between the records of a goroutine, and what a trace contains about gaps.
 */
#include "unit/test.h"
#include "gotrace/record.h"
#include "reader/gaps.h"
#include "reader/timeline.h"
#include "unit/timeline_fixture.h"
#include "writer/private_write.h"

static int setup(void **state)
{
	start(25, 1);
	return 0;
}

FIXTURE(setup, stop)

/* Gaps from 100 to 110, whose effect ends at 150, and from 200 to 220. */
static struct gap two[] = { { 100, 110, 150 }, { 200, 220, INT64_MAX } };
static const struct gaps gaps = { .at = two, .n = 2, .any = true };

TEST(lost_until_the_next_record)
{
	static const struct {
		int64_t record, from, to, lost;
	} cases[] = {
		{ 0, 0, 100, 0 },      { 0, 0, 130, 30 },     { 0, 0, 180, 50 },
		{ 0, 0, 300, 150 },    { 105, 105, 140, 35 }, { 110, 110, 190, 0 },
		{ 110, 110, 210, 10 }, { 205, 205, 260, 55 }, { 220, 220, 900, 0 },
		{ 0, 120, 160, 30 },   { 0, 160, 190, 0 },    { 99, 300, 300, 0 },
		{ 0, 300, 200, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			gaps__lost(&gaps, TRACE_NO_G, cases[i].record, cases[i].from, cases[i].to),
			cases[i].lost);
}

TEST(stretches)
{
	static const struct stretch want[] = {
		{ 50, 100, false }, { 100, 150, true }, { 150, 200, false }, { 200, 260, true }
	};
	struct stretch stretch;
	int64_t from = 50;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_true(gaps__next(&gaps, 1, 20, &from, 260, &stretch));
		assert_int_equal(stretch.from, want[i].from);
		assert_int_equal(stretch.to, want[i].to);
		assert_int_equal(stretch.lost, want[i].lost);
	}
	assert_false(gaps__next(&gaps, 1, 20, &from, 260, &stretch));
}

/* The event of goroutine 7 at 90 belongs to 80. */
TEST(late_events)
{
	static struct late_event late[] = { { 7, 80, 90 } };
	static const struct gaps g = { .at = two, .n = 2, .late = late, .nlate = 1 };

	assert_int_equal(gaps__lost(&g, 7, 10, 10, 90), 10);
	assert_int_equal(gaps__lost(&g, 7, 10, 10, 85), 5);
	assert_int_equal(gaps__lost(&g, 8, 10, 10, 90), 0);
	assert_int_equal(gaps__record(&g, 7, 90), 80);
	assert_int_equal(gaps__record(&g, 7, 95), 80); /* a reader delivers it later */
	assert_int_equal(gaps__record(&g, 7, 300), 300);
	assert_int_equal(gaps__record(&g, 8, 90), 90);
}

static void generation(uint64_t t, const struct private_gap *gap, size_t ngaps,
		       const struct private_loss *loss, const struct private_correction *correction)
{
	ok(writer__open(x.w, t, 2000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	if (ngaps)
		ok(private__gaps(x.w, gap, ngaps));
	if (loss)
		ok(private__losses(x.w, loss, 1));
	if (correction)
		ok(private__correction(x.w, correction));
	ok(writer__close(x.w));
	intern__end_generation(x.in);
}

/* Reads the trace to its end. */
static struct timeline *read_all(struct reader **ret)
{
	struct timeline_step step;
	struct timeline *t;
	struct error error;

	ok(trace_file__commit(x.file));
	t = open_timeline(ret);
	while (timeline__next(t, &step, &error) > 0)
		;
	return t;
}

static void assert_gap(const struct gaps *g, size_t i, int64_t from, int64_t to, int64_t until)
{
	assert_int_equal(g->at[i].from, from);
	assert_int_equal(g->at[i].to, to);
	assert_int_equal(g->at[i].until, until);
}

/* Losses add nothing to gaps, unless nothing was recorded; kernel events are no loss of Go's. */
TEST(of_a_trace)
{
	static const struct private_gap first[] = { { 64100, 64110 }, { 64105, 64120 } },
					second[] = { { 65900, 66010 },
						     { 66020, 66030, GAP_KERNEL },
						     { 66040, 66050, GAP_GOROUTINES + 9 } };
	static const struct private_loss wide = { GT_PARK, 5, 64000, 69000 },
					 pause = { 0, 0, 66100, 66200 };
	static const struct private_correction c = { .from = 66015, .to = 66060 };
	struct reader *r;
	struct timeline *t;
	const struct gaps *g;

	generation(64000, first, 2, &wide, NULL);
	generation(66000, second, 3, &pause, &c);
	t = read_all(&r);
	g = timeline__gaps(t);
	assert_int_equal(g->n, 3);
	assert_gap(g, 0, 64100, 64120, 66060);
	assert_gap(g, 1, 65900, 66010, 66060);
	assert_gap(g, 2, 66100, 66200, INT64_MAX);
	assert_int_equal(g->nlate, 1);
	assert_int_equal(g->late[0].g, 9);
	close_timeline(t, r);
}

/* Recorders of earlier versions wrote no gaps. */
TEST(of_an_earlier_recorder)
{
	static const struct private_loss loss = { GT_PARK, 5, 64100, 64300 };
	struct reader *r;
	struct timeline *t;

	generation(64000, NULL, 0, &loss, NULL);
	t = read_all(&r);
	assert_int_equal(timeline__gaps(t)->n, 1);
	assert_gap(timeline__gaps(t), 0, 64100, 64300, INT64_MAX);
	close_timeline(t, r);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots of a flight recorder's checkpoint that are older than its records: which pair is taken,
 * and what of it is still likely.
 */
#include "unit/test.h"
#include "blackbox/blackbox_impl.h"
#include "target/layout/layout.h"

#define T0   1000
#define T1   2000
#define G(n) (0xc000000000ull + (n) * 0x400)
#define M(n) (0xcc00000000ull + (n) * 0x800)
#define P(n) (0xc800000000ull + (n) * 0x2000)

static struct touched touched;

static void teardown(void)
{
	touched__deinit(&touched);
}

FIXTURE(NULL, teardown)

/* A record of a thread about an object, within the window. */
static void touch(uint64_t time, uint16_t kind, uint32_t tid, uint64_t object, uint64_t next)
{
	struct {
		struct gt_record rec;
		struct gt_switch sw;
	} r = { { .time = time, .tid = tid, .kind = kind, .object = object }, { .next = next } };

	assert_int_equal(touched__add(&touched, &r.rec, T0), 0);
}

/* ---- which records count ---- */

TEST(records_of_the_window)
{
	touch(T0 - 1, GT_READY, 1, G(1), 0);
	touch(T0, GT_READY, 2, G(2), 0);
	touch(T0 + 1, GT_SWITCH, 3, G(3), G(4));
	touch(T0 + 1, GT_PARK, 4, G(5), G(6)); /* what stands there is no next one */
	touch(T0 + 1, GT_SYSCALL_LOST, 5, 0, 0);
	touch(T0 + 1, GT_READY, 2, G(2), 0);
	assert_null(map__get(&touched.g, G(1)));
	assert_null(map__get(&touched.tid, 1));
	for (uint32_t i = 2; i <= 5; i++) {
		assert_non_null(map__get(&touched.g, G(i)));
		assert_non_null(map__get(&touched.tid, i));
	}
	assert_int_equal(touched.g.n, 4);
	assert_int_equal(touched.tid.n, 4);
}

/* Kernel events, samples and table entries do not count as activity of a goroutine. */
TEST(records_that_do_not_count)
{
	static const uint16_t kinds[] = { GT_CPU_ON,	GT_CPU_OFF, GT_WAKING, GT_SYS_ENTER,
					  GT_FAULT_END, GT_SAMPLE,  GT_STACK,  GT_TEXT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		touch(T0 + 1, kinds[i], 7, G(7), 0);
	assert_int_equal(touched.g.n, 0);
	assert_int_equal(touched.tid.n, 0);
}

/* ---- what stays ---- */

static struct snapshot_g gs[2][8];
static struct snapshot_m ms[4];

static struct snapshot_g goroutine(unsigned int n, uint32_t status, uint64_t m)
{
	return (struct snapshot_g){ .addr = G(n), .goid = n, .status = status, .m = m };
}

/* The first snapshot has goroutines in all states. */
static struct raw_snapshots pair(void)
{
	struct raw_snapshots both = { .present = { true, false } };

	gs[0][0] = goroutine(1, GS_WAITING, 0);
	gs[0][1] = goroutine(2, GS_RUNNABLE, 0);
	gs[0][2] = goroutine(3, GS_RUNNING, M(1));
	gs[0][3] = goroutine(4, GS_SYSCALL, M(2));
	gs[0][4] = goroutine(5, GS_SYSCALL, M(3));
	gs[0][5] = goroutine(6, GS_SYSCALL, M(9)); /* of a thread that was not seen */
	gs[0][6] = goroutine(7, GS_RUNNABLE, 0);
	ms[0] = (struct snapshot_m){ .addr = M(1), .tid = 11, .p = P(1) };
	ms[1] = (struct snapshot_m){ .addr = M(2), .tid = 12, .oldp = P(2) };
	ms[2] = (struct snapshot_m){ .addr = M(3), .tid = 13, .p = P(3), .oldp = P(3) };
	ms[3] = (struct snapshot_m){ .addr = M(9), .tid = 19 }; /* behind the snapshot's end */
	both.snap[0] = (struct snapshot){
		.time = 500, .time_end = 600, .g = gs[0], .ng = 7, .m = ms, .nm = 3
	};
	return both;
}

static void assert_goroutines(const struct snapshot *snap, const char *ids)
{
	char got[16] = "";

	for (size_t i = 0; i < snap->ng; i++)
		got[i] = (char)('0' + snap->g[i].goid);
	assert_string_equal(got, ids);
	assert_int_equal(snap->time, T1);
	assert_int_equal(snap->time_end, T1);
}

TEST(what_is_still_likely)
{
	struct raw_snapshots both = pair();

	touch(T0, GT_SYSCALL_EXIT, 13, G(8), 0); /* the thread of goroutine 5 */
	touch(T0, GT_READY, 14, G(7), 0);
	raw_snapshots__age(&both, &touched, T1);
	assert_goroutines(&both.snap[0], "147");
	assert_int_equal(both.snap[1].time, 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(both.snap[0].m[i].p, 0);
		assert_int_equal(both.snap[0].m[i].oldp, 0);
	}
}

/* A goroutine that the later snapshot has is taken from that one only. */
TEST(the_later_one)
{
	struct raw_snapshots both = pair();

	gs[1][0] = goroutine(1, GS_RUNNABLE, 0);
	gs[1][1] = goroutine(4, GS_WAITING, 0);
	both.present[1] = true;
	both.snap[1] = (struct snapshot){ .time = 700, .time_end = 800, .g = gs[1], .ng = 2 };
	raw_snapshots__age(&both, &touched, T1);
	assert_goroutines(&both.snap[0], "5");
	assert_goroutines(&both.snap[1], "4");
}

/* ---- which pair ---- */

static struct raw_snapshots *choose(struct checkpoint both[2], uint64_t first, uint64_t second,
				    struct blackbox_facts *facts)
{
	memset(both, 0, 2 * sizeof(*both));
	for (int i = 0; i < 2; i++) {
		struct raw_snapshots *pair = &both[i].both;

		pair->snap[0].time = i ? second : first;
		pair->snap[0].time_end = pair->snap[0].time + 10;
		pair->present[0] = pair->snap[0].time != 0;
	}
	*facts = (struct blackbox_facts){ .t0 = T0, .t1 = T1 };
	return checkpoints__choose(both, facts);
}

/* Expects the pair of the checkpoint, or none (-1). */
static void assert_chosen(uint64_t first, uint64_t second, int chosen, bool stale)
{
	struct checkpoint both[2];
	struct blackbox_facts facts;
	struct raw_snapshots *pair = choose(both, first, second, &facts);

	assert_ptr_equal(pair, chosen < 0 ? NULL : &both[chosen].both);
	assert_int_equal(facts.snapshots, pair ? pair->snap[0].time : 0);
	assert_int_equal(facts.stale, stale);
}

TEST(the_pair_that_suits)
{
	assert_chosen(0, 0, -1, false);
	assert_chosen(1500, 0, 0, false);
	assert_chosen(1500, 1400, 1, false); /* the oldest one of the window */
	assert_chosen(1400, 1500, 0, false);
	assert_chosen(1400, 900, 0, false);
	assert_chosen(900, 1400, 1, false);
	assert_chosen(1400, T0, 1, false);
	assert_chosen(T0 - 1, T0, 1, false);
	assert_chosen(T0, T0 - 1, 0, false);
	assert_chosen(900, 800, 0, true); /* the newest one from before */
	assert_chosen(800, 900, 1, true);
	assert_chosen(T1 - 10, 0, 0, false);
	assert_chosen(T1 - 9, 0, -1, false); /* it ended after the window */
	assert_chosen(T1 - 9, 900, 1, true);
}

/* The second snapshot's end is the pair's. */
TEST(the_end_of_a_pair)
{
	struct checkpoint both[2] = {};
	struct blackbox_facts facts = { .t0 = T0, .t1 = T1 };
	struct raw_snapshots *pair = &both[0].both;

	pair->present[0] = pair->present[1] = true;
	pair->snap[0].time = pair->snap[0].time_end = 1500;
	pair->snap[1].time_end = T1 + 1;
	assert_null(checkpoints__choose(both, &facts));
	pair->snap[1].time_end = T1;
	assert_ptr_equal(checkpoints__choose(both, &facts), pair);
	pair->snap[1].time_end = 1499;
	assert_null(checkpoints__choose(both, &facts));
}

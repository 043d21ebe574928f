// SPDX-License-Identifier: GPL-2.0
/*
 * Times corrected along the partial order, where a clock is behind or a simple reader would shift
 * too much.
 */
#include "unit/test.h"
#include "reader/fixup.h"

static int start(void **state)
{
	*state = fixup__create();
	return *state ? 0 : -1;
}

static int stop(void **state)
{
	fixup__destroy(*state);
	return 0;
}

FIXTURE(start, stop)

static int64_t fixed(void **state, const struct trace_event *ev)
{
	int64_t time = -1;

	assert_int_equal(fixup__event(*state, ev, &time), 0);
	return time;
}

#define NONE UINT64_MAX
/* Thread, P, goroutine; then the first argument, by name. `time` is the one of Go's reader. */
#define AT(raw_, type_, m_, p_, g_, ...)                                                           \
	fixed(state, &(struct trace_event){ .time = INT64_MAX,                                     \
					    .raw = (raw_),                                         \
					    .type = (type_),                                       \
					    .m = (m_),                                             \
					    .p = (p_),                                             \
					    .g = (g_),                                             \
					    ##__VA_ARGS__ })

TEST(ordered_times_are_kept)
{
	assert_int_equal(AT(10, EV_PROC_STATUS, 1, NONE, NONE, .arg = { 0, PROC_RUNNING }), 10);
	assert_int_equal(AT(12, EV_GO_CREATE, 1, 0, 1, .arg = { 2 }), 12);
	assert_int_equal(AT(12, EV_GO_BLOCK, 1, 0, 1), 12);
	assert_int_equal(AT(13, EV_GO_START, 1, 0, NONE, .arg = { 2 }), 13);
}

/* A unblocks B's goroutine, which starts on a thread whose clock is behind and creates C. */
TEST(corrections_propagate)
{
	assert_int_equal(AT(100, EV_GO_UNBLOCK, 1, 0, 1, .arg = { 5 }), 100);
	assert_int_equal(AT(40, EV_GO_START, 2, 1, NONE, .arg = { 5 }), 100);
	assert_int_equal(AT(41, EV_GO_CREATE, 2, 1, 5, .arg = { 6 }), 100);
	assert_int_equal(AT(42, EV_GO_START, 3, 2, NONE, .arg = { 6 }), 100);
	assert_int_equal(AT(43, EV_GO_BLOCK, 3, 2, 6), 100);
	assert_int_equal(AT(101, EV_GO_BLOCK, 2, 1, 5), 101);
}

/* A common thread, P or goroutine is sufficient for a dependency. */
TEST(one_common_entity_suffices)
{
	assert_int_equal(AT(100, EV_GO_BLOCK, 1, 2, 3), 100);
	assert_int_equal(AT(50, EV_GO_LABEL, 1, 12, 13), 100);
	assert_int_equal(AT(50, EV_GO_LABEL, 21, 2, 23), 100);
	assert_int_equal(AT(50, EV_GO_LABEL, 31, 32, 3), 100);
	assert_int_equal(AT(99, EV_GO_LABEL, NONE, 12, NONE), 100);
	assert_int_equal(AT(101, EV_GO_LABEL, 41, 42, 43), 101);
}

/* The first event of its kind has no predecessor, whatever its time. */
TEST(before_time_0)
{
	assert_int_equal(AT(-100, EV_GC_BEGIN, 1, 2, 3), -100);
	assert_int_equal(AT(-200, EV_GC_END, 4, 5, 6), -100);
	fixup__destroy(NULL);
}

/* An event of another thread between A and B keeps its time. */
TEST(unrelated_events_are_kept)
{
	assert_int_equal(AT(100, EV_GO_UNBLOCK, 1, 0, 1, .arg = { 5 }), 100);
	assert_int_equal(AT(30, EV_GO_LABEL, 9, 7, 8), 30);
	assert_int_equal(AT(40, EV_GO_START, 2, 1, NONE, .arg = { 5 }), 100);
	assert_int_equal(AT(31, EV_GO_BLOCK, 9, 7, 8), 31);
	assert_int_equal(AT(32, EV_GO_START, 9, 7, NONE, .arg = { 10 }), 32);
}

/* An edge that takes long enough ends the propagation. */
TEST(propagation_ends)
{
	assert_int_equal(AT(100, EV_GO_UNBLOCK, 1, 0, 1, .arg = { 5 }), 100);
	assert_int_equal(AT(99, EV_GO_START, 2, 1, NONE, .arg = { 5 }), 100);
	assert_int_equal(AT(150, EV_GO_UNBLOCK, 2, 1, 5, .arg = { 6 }), 150);
	assert_int_equal(AT(120, EV_GO_START, 1, 0, NONE, .arg = { 6 }), 150);
	assert_int_equal(AT(160, EV_GO_BLOCK, 1, 0, 6), 160);
}

/* Thread 2 steals the P of a system call; thread 1 leaves the call later, by any clock. */
TEST(stolen_p)
{
	assert_int_equal(AT(100, EV_GO_SYSCALL_BEGIN, 1, 0, 1), 100);
	assert_int_equal(
		AT(90, EV_PROC_STEAL, 2, NONE, NONE, .arg = { 0, 1, 1 }, .old = PROC_SYSCALL), 100);
	assert_int_equal(AT(91, EV_PROC_START, 2, NONE, NONE, .arg = { 0 }), 100);
	assert_int_equal(
		AT(200, EV_PROC_STEAL, 3, NONE, NONE, .arg = { 4, 1, 1 }, .old = PROC_SYSCALL),
		200);
	assert_int_equal(AT(150, EV_GO_SYSCALL_END_BLOCKED, 1, NONE, 1), 200);
}

/* ... unless it gave the P up: it may have continued before. */
TEST(abandoned_p)
{
	assert_int_equal(
		AT(200, EV_PROC_STEAL, 2, NONE, NONE, .arg = { 0, 1, 1 }, .old = PROC_ABANDONED),
		200);
	assert_int_equal(AT(150, EV_GO_SYSCALL_END_BLOCKED, 1, NONE, 1), 150);
	assert_int_equal(AT(160, EV_PROC_START, 3, NONE, NONE, .arg = { 0 }), 200);
}

TEST(gc_events)
{
	assert_int_equal(AT(100, EV_GC_BEGIN, 1, 0, 1), 100);
	assert_int_equal(AT(70, EV_GC_END, 2, 1, 2), 100);
	assert_int_equal(AT(71, EV_GO_BLOCK, 2, 1, 2), 100);
	assert_int_equal(AT(90, EV_GC_BEGIN, 3, 2, 3), 100);
}

/* A P moves from thread to thread, and with it the order of all that ran on it. */
TEST(p_moves_between_threads)
{
	assert_int_equal(AT(100, EV_PROC_STOP, 1, 0, NONE), 100);
	assert_int_equal(AT(80, EV_PROC_START, 2, NONE, NONE, .arg = { 0 }), 100);
	assert_int_equal(AT(81, EV_HEAP_ALLOC, 2, 0, NONE), 100);
}

/* Samples and syncs are not ordered. */
TEST(samples_and_syncs_are_unordered)
{
	assert_int_equal(AT(100, EV_GO_LABEL, 1, 0, 1), 100);
	assert_int_equal(AT(60, EV_CPU_SAMPLE, 1, 0, 1), 60);
	assert_int_equal(AT(300, EV_CPU_SAMPLE, 1, 0, 1), 300);
	assert_int_equal(AT(50, EV_SYNC, NONE, NONE, NONE), 50);
	assert_int_equal(AT(101, EV_GO_LABEL, 1, 0, 1), 101);
}

/* On any thread: an event of goroutine 7 or P 7, and then an event about it. */
TEST(entities_of_arguments)
{
	static const uint8_t of_goroutines[] = {
		EV_GO_CREATE,	      EV_GO_CREATE_BLOCKED,
		EV_GO_CREATE_SYSCALL, EV_GO_START,
		EV_GO_UNBLOCK,	      EV_GO_SWITCH,
		EV_GO_SWITCH_DESTROY, EV_GO_STATUS,
		EV_GO_STATUS_STACK,   EV_GC_MARK_ASSIST_ACTIVE,
	};
	static const uint8_t of_ps[] = { EV_PROC_START, EV_PROC_STATUS, EV_GC_SWEEP_ACTIVE };
	static const uint8_t of_the_gc[] = { EV_GC_BEGIN, EV_GC_END, EV_GC_ACTIVE };
	uint64_t m = 10;

	AT(100, EV_GO_BLOCK, 1, NONE, 7);
	for (size_t i = 0; i < sizeof(of_goroutines); i++, m++)
		assert_int_equal(AT(50, of_goroutines[i], m, NONE, NONE, .arg = { 7 }), 100);
	AT(200, EV_PROC_STOP, 1, 7, NONE);
	for (size_t i = 0; i < sizeof(of_ps); i++, m++)
		assert_int_equal(AT(50, of_ps[i], m, NONE, NONE, .arg = { 7 }), 200);
	AT(300, EV_GC_ACTIVE, 1, NONE, NONE);
	for (size_t i = 0; i < sizeof(of_the_gc); i++, m++)
		assert_int_equal(AT(50, of_the_gc[i], m, NONE, NONE), 300);
	assert_int_equal(AT(50, EV_HEAP_GOAL, m, NONE, NONE, .arg = { 7 }), 50);
}

/* A goroutine that ended does not affect a later one with its id. */
TEST(goroutine_id_reused)
{
	assert_int_equal(AT(100, EV_GO_DESTROY, 1, 0, 7), 100);
	assert_int_equal(AT(60, EV_GO_CREATE, 2, 1, 2, .arg = { 7 }), 60);
	assert_int_equal(AT(150, EV_GO_DESTROY_SYSCALL, 3, NONE, 7), 150);
	assert_int_equal(AT(62, EV_GO_CREATE, 4, 2, 3, .arg = { 7 }), 62);
}

TEST(extreme_times)
{
	assert_int_equal(AT(INT64_MIN, EV_GO_LABEL, 1, 0, 1), INT64_MIN);
	assert_int_equal(AT(INT64_MAX, EV_GO_LABEL, 1, 0, 1), INT64_MAX);
	assert_int_equal(AT(-5, EV_GO_LABEL, 1, 0, 1), INT64_MAX);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Records of very many threads that wait, as a process can invent them: all are applied in the end, their
 * number is bounded, and not all are looked at for each record. Waiting itself: test_derived.c,
 * test_rules.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define RELEASE "go1.25.3"
#define THREADS 300
#define FIRST	100 /* thread, and goroutine */

static void begin_with_one(void)
{
	start(25, RELEASE, 1);
	p_start(1, 0);
	execute(1, 1);
}

/* Each thread makes a goroutine runnable that is created later, by a clock that is ahead. */
static void make_wait(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		ready(FIRST + i, FIRST + i);
	flush();
	assert_int_equal(m.seq->hold.n, n);
	assert_int_equal(m.seq->hold.records, n);
}

TEST(many_threads_wait)
{
	begin_with_one();
	make_wait(THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		create_blocked(1, FIRST + i);
	flush();
	assert_int_equal(m.seq->hold.n, 0);
	assert_int_equal(m.seq->hold.records, 0);
	assert_null(m.seq->hold.threads);
	assert_null(m.seq->hold.last);
	expect_no_repair();
}

/* Those of which no goroutine is created are forced. */
TEST(many_are_forced)
{
	begin_with_one();
	make_wait(THREADS);
	m.now += 2000000;
	yield(1, 1, GT_YIELD_GOSCHED);
	flush();
	assert_int_equal(m.seq->hold.n, 0);
	assert_int_equal(stats()->dropped, THREADS);
}

/* All at one time, so that no deadline passes. */
TEST(held_records_are_bounded)
{
	const unsigned int more = 10;
	uint64_t time;

	begin_with_one();
	time = m.now;
	for (unsigned int i = 0; i < 65536 + more; i++) {
		m.now = time;
		ready(FIRST + i % 7, FIRST + i);
	}
	flush();
	assert_int_equal(m.seq->hold.n, 7);
	assert_int_equal(m.seq->hold.records, 65536);
	assert_int_equal(stats()->dropped, more);
	assert_int_equal(stats()->held, 65536 + more);
}

/* The list stays in order of time when its last thread goes, and others come before it. */
TEST(the_last_thread_goes)
{
	begin_with_one();
	ready(10, 20);
	ready(11, 21);
	ready(12, 22);
	flush();
	assert_int_equal(m.seq->hold.last->tid, 12);
	create_blocked(1, 22);
	flush();
	assert_int_equal(m.seq->hold.last->tid, 11);
	ready(10, 23); /* behind the first of thread 10 */
	ready(12, 24);
	flush();
	assert_int_equal(m.seq->hold.last->tid, 12);
	create_blocked(1, 20);
	flush();
	assert_int_equal(m.seq->hold.threads->tid, 11);
	assert_int_equal(m.seq->hold.last->tid, 12);
	create_blocked(1, 21);
	create_blocked(1, 23);
	create_blocked(1, 24);
	flush();
	assert_null(m.seq->hold.last);
	expect_no_repair();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of snapshots after losses: when each is begun, given to the sink, tried again or given up.
 *
 * The process, the sink and the thread are this file's: a read runs when the test lets it, or when
 * it is joined, so that no test waits.
 */
#include <pthread.h>

#include "unit/test.h"
#include "capture/resync.h"
#include "capture/sink.h"
#include "target/process/snapshot.h"

#define MS	 1000000ull
#define SETTLE	 (20 * MS)
#define SECOND	 (40 * MS)
#define INTERVAL (1000 * MS)

static struct {
	struct resync *r;
	uint64_t now, losses;
	/* the thread */
	void *(*fn)(void *ctx);
	void *ctx;
	int create_error;
	unsigned int joins;
	/* reads */
	unsigned int reads;
	int read_error, between; /* result of the next read; value that its callback returned */
	uint64_t takes;		 /* ns that a read takes */
	size_t goroutines;
	unsigned int alive;	  /* read and not released yet */
	struct snapshot *into[2]; /* where the last two reads went to */
	/* the sink */
	unsigned int pairs;
	int sink_error;
	uint64_t given[2]; /* times of the last pair */
} f;

/* ---- what resync.c calls ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *ctx)
{
	if (f.create_error)
		return f.create_error;
	assert_null(f.fn);
	f.fn = fn;
	f.ctx = ctx;
	return 0;
}

static void run_thread(void)
{
	void *(*fn)(void *) = f.fn;

	f.fn = NULL;
	if (fn)
		fn(f.ctx);
}

int pthread_join(pthread_t thread, void **result)
{
	run_thread();
	f.joins++;
	return 0;
}

int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret)
{
	assert_ptr_equal(proc, &f.reads);
	assert_ptr_equal(layout, &f.losses);
	f.reads++;
	f.into[0] = f.into[1];
	f.into[1] = ret;
	f.between = how->between(how->ctx);
	if (f.between || f.read_error)
		return f.between ? f.between : f.read_error;
	*ret = (struct snapshot){ .time = f.now, .time_end = f.now + f.takes, .ng = f.goroutines };
	f.alive++;
	return 0;
}

void snapshot__deinit(struct snapshot *snap)
{
	f.alive -= snap->time != 0;
	*snap = (struct snapshot){};
}

struct sequencer *sink__sequencer(struct sink *s)
{
	return NULL;
}

uint64_t sequencer__go_losses(const struct sequencer *s)
{
	return f.losses;
}

int sink__resnapshot(struct sink *s, struct snapshot *first, struct snapshot *second)
{
	f.pairs++;
	f.given[0] = first->time;
	f.given[1] = second->time;
	return f.sink_error;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	memset(&f, 0, sizeof(f));
	f.takes = MS;
	f.now = 5000 * MS;
	f.r = resync__create((void *)&f.reads, (void *)&f.losses);
	return f.r ? 0 : -1;
}

static int tear_down(void **state)
{
	resync__destroy(f.r);
	assert_int_equal(f.alive, 0);
	return 0;
}

FIXTURE(set_up, tear_down)

static void step_at(uint64_t now, uint64_t watermark)
{
	f.now = now;
	assert_int_equal(resync__step(f.r, now, watermark, NULL), f.sink_error);
}

/* A loss: the first read is begun, 20 ms after it was seen. */
static void lose(uint64_t now)
{
	unsigned int reads = f.reads;

	f.losses++;
	step_at(now, 0);
	step_at(now + SETTLE - 1, 0);
	assert_true(!f.fn && f.reads == reads);
	step_at(now + SETTLE, 0);
}

/* From the first read's begin at f.now to the pair in the sink. */
static void complete(void)
{
	uint64_t end = f.now + f.takes;
	unsigned int pairs = f.pairs;

	run_thread();
	step_at(end, 0);
	step_at(end + SECOND, 0);
	run_thread();
	end = f.now + f.takes;
	step_at(end, 0);
	assert_int_equal(f.pairs, pairs);
	step_at(end, end + 1);
	assert_int_equal(f.pairs, pairs + 1);
}

/* ---- tests ---- */

TEST(nothing_lost)
{
	for (uint64_t now = 0; now < 5000 * MS; now += 100 * MS)
		step_at(now, now);
	assert_null(f.fn);
	assert_int_equal(f.reads, 0);
}

TEST(a_pair)
{
	uint64_t first, end;

	lose(5000 * MS);
	first = f.now;
	assert_non_null(f.fn);
	step_at(first, 0); /* still reading */
	assert_int_equal(f.joins, 0);
	run_thread();
	end = first + f.takes;
	step_at(end, 0);
	assert_int_equal(f.joins, 1);
	step_at(end + SECOND - 1, 0);
	assert_null(f.fn);
	step_at(end + SECOND, 0);
	assert_non_null(f.fn);
	step_at(f.now, UINT64_MAX); /* still reading, though the stream is ahead */
	assert_int_equal(f.pairs, 0);
	run_thread();
	assert_int_equal(f.reads, 2);
	assert_ptr_equal(f.into[1], f.into[0] + 1);
	end = f.now + f.takes;
	step_at(end, UINT64_MAX);
	assert_int_equal(f.joins, 2);
	assert_int_equal(f.pairs, 0);
	step_at(end, end); /* an exec at that very time may still come */
	assert_int_equal(f.pairs, 0);
	step_at(end, end + 1);
	assert_int_equal(f.pairs, 1);
	assert_int_equal(f.given[0], first);
	assert_int_equal(f.given[1], first + MS + SECOND);
	step_at(end + 5 * INTERVAL, UINT64_MAX); /* nothing more was lost */
	assert_null(f.fn);
	assert_int_equal(f.pairs, 1);
}

/* Losses that go on: a pair a second, from the begin of the one to that of the next. */
TEST(once_a_second)
{
	uint64_t first;

	lose(5000 * MS);
	first = f.now;
	f.losses++; /* while it reads: the pair does not cover it */
	complete();
	step_at(first + SECOND + 10 * MS, 0);
	step_at(first + INTERVAL - 1, 0);
	assert_null(f.fn);
	step_at(first + INTERVAL, 0);
	assert_non_null(f.fn);
	complete();
	assert_int_equal(f.given[0], first + INTERVAL);
}

/* Reading takes a fifth of the time at most: 2 * 150 ms, and 170 ns for each goroutine. */
TEST(huge_process)
{
	const uint64_t cost = 2 * 150 * MS + 1000000 * 170;
	uint64_t first;

	f.takes = 150 * MS;
	f.goroutines = 1000000;
	lose(5000 * MS);
	first = f.now;
	complete();
	f.losses++;
	step_at(first + INTERVAL, 0);
	step_at(first + 5 * cost - 1, 0);
	assert_null(f.fn);
	step_at(first + 5 * cost, 0);
	assert_non_null(f.fn);
}

/* The time for more losses to come begins again with each loss after a pair. */
TEST(settles_again)
{
	lose(5000 * MS);
	complete();
	lose(9000 * MS);
	assert_non_null(f.fn);
}

/* A read that fails: tried again a second later, three times, and then not until more is lost. */
TEST(unreadable)
{
	uint64_t begun;

	f.read_error = -EFAULT;
	lose(5000 * MS);
	for (int i = 0; i < 3; i++) {
		begun = f.now;
		assert_non_null(f.fn);
		run_thread();
		step_at(begun + 1, 0);
		step_at(begun + 2, 0); /* the loss is seen again */
		step_at(begun + INTERVAL - 1, 0);
		assert_null(f.fn);
		step_at(begun + INTERVAL, 0);
	}
	run_thread();
	assert_int_equal(f.reads, 4);
	step_at(f.now + 1, 0);
	assert_int_equal(f.joins, 4);
	step_at(f.now + 2 * INTERVAL, 0);
	step_at(f.now + 2 * INTERVAL, 0);
	assert_int_equal(f.reads, 4);
	assert_null(f.fn);

	f.read_error = 0;
	lose(20000 * MS);
	complete();
	assert_int_equal(f.pairs, 1);

	f.read_error = -EFAULT; /* after one that was read there are three tries again */
	lose(30000 * MS);
	for (int i = 0; i < 3; i++) {
		run_thread();
		step_at(f.now + 1, 0);
		step_at(f.now + 2, 0);
		step_at(f.now + 2 * INTERVAL, 0);
		assert_non_null(f.fn);
	}
}

TEST(second_unreadable)
{
	lose(5000 * MS);
	run_thread();
	step_at(f.now, 0);
	step_at(f.now + 1000 * MS, 0);
	assert_non_null(f.fn);
	f.read_error = -ESRCH;
	run_thread();
	step_at(f.now, UINT64_MAX);
	step_at(f.now, UINT64_MAX);
	assert_int_equal(f.pairs, 0);
	assert_int_equal(f.alive, 0);
	f.read_error = 0; /* the whole pair is read again */
	step_at(f.now + SETTLE, 0);
	complete();
	assert_int_equal(f.reads, 4);
}

/* Without a thread each read is done within the step. */
TEST(no_thread)
{
	uint64_t end;

	f.create_error = EAGAIN;
	lose(5000 * MS);
	assert_int_equal(f.reads, 1);
	end = f.now + f.takes;
	step_at(end + SECOND - 1, 0);
	assert_int_equal(f.reads, 1);
	step_at(end + SECOND, 0);
	assert_int_equal(f.reads, 2);
	step_at(f.now, UINT64_MAX);
	assert_int_equal(f.pairs, 1);
	assert_int_equal(f.joins, 0);

	f.read_error = -EFAULT;
	lose(9000 * MS);
	assert_int_equal(f.reads, 3);
	step_at(f.now + 1, UINT64_MAX);
	f.read_error = 0;
	step_at(f.now + INTERVAL, 0); /* another try */
	assert_int_equal(f.reads, 4);
	step_at(f.now + f.takes + SECOND, 0);
	step_at(f.now, UINT64_MAX);
	assert_int_equal(f.pairs, 2);
}

/* A pair that begins while the recording ends: its read is cancelled and waited for. */
TEST(destroyed_while_reading)
{
	lose(5000 * MS);
	resync__destroy(f.r);
	assert_int_equal(f.reads, 1);
	assert_int_equal(f.joins, 1);
	assert_int_equal(f.between, -ECANCELED);

	set_up(NULL);
	lose(5000 * MS);
	run_thread();
	assert_int_equal(f.between, 0);
	step_at(f.now, 0);
	step_at(f.now + 1000 * MS, 0);
	resync__destroy(f.r);
	assert_int_equal(f.reads, 2);
	assert_int_equal(f.joins, 2);
	assert_int_equal(f.between, -ECANCELED);

	set_up(NULL);
	lose(5000 * MS);
	run_thread();
	step_at(f.now, 0);
	resync__destroy(f.r); /* between the reads there is nothing to wait for */
	assert_int_equal(f.joins, 1);
	f.r = NULL;
}

TEST(sink_fails)
{
	f.create_error = EAGAIN;
	lose(5000 * MS);
	step_at(f.now + 1000 * MS, 0);
	f.sink_error = -ENOSPC;
	step_at(f.now, UINT64_MAX);
	assert_int_equal(f.pairs, 1);
}

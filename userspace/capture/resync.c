// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of snapshots after losses: see resync.h.
 *
 * While losses continue, at most one pair is read per second, and reading takes at most a fifth of
 * the time: with a huge process, the time between two pairs is longer.
 */
#include "capture/resync.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sink.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "target/process/snapshot.h"

#define SETTLE	  (20 * MS) /* after a loss was detected: more may follow immediately */
#define SECOND	  (40 * MS) /* from the end of the first snapshot to the second, as at the start */
#define INTERVAL  (1000 * MS) /* between the starts of two pairs */
#define SHARE	  5	      /* reading takes at most 1/SHARE of the time */
#define COMPARING 170	      /* ns per goroutine, to compare the pair with the model */
#define TRIES	  3	      /* retries of pairs that could not be read, until more is lost */

enum phase { IDLE, FIRST, PAUSE, LAST, READ };

struct resync {
	const struct process *process;
	const struct layout *layout;
	enum phase phase;
	pthread_t thread;
	atomic_bool done;      /* the thread has finished */
	atomic_bool cancelled; /* the thread is to stop */
	int err;	       /* of the read */
	struct snapshot snap[2];
	uint64_t covered;	 /* sequencer__go_losses() when the latest pair was begun */
	uint64_t covered_before; /* and the one before it */
	unsigned int failures;	 /* pairs in a row that could not be read */
	uint64_t since;		 /* when new losses were first seen; 0: none */
	uint64_t next;		 /* earliest start of the next pair */
};

struct resync *resync__create(const struct process *process, const struct layout *layout)
{
	struct resync *r = calloc(1, sizeof(*r));

	if (r) {
		r->process = process;
		r->layout = layout;
	}
	return r;
}

static void forget(struct resync *r)
{
	snapshot__deinit(&r->snap[0]);
	snapshot__deinit(&r->snap[1]);
	r->phase = IDLE;
}

/* The pair could not be read: retry, since the losses are still to be corrected. */
static void give_up(struct resync *r)
{
	forget(r);
	if (r->failures++ < TRIES)
		r->covered = r->covered_before;
}

void resync__destroy(struct resync *r)
{
	if (!r)
		return;
	atomic_store(&r->cancelled, true);
	if (r->phase == FIRST || r->phase == LAST)
		pthread_join(r->thread, NULL);
	forget(r);
	free(r);
}

static int is_cancelled(void *argument)
{
	struct resync *r = argument;

	return atomic_load(&r->cancelled) ? -ECANCELED : 0;
}

static void *read_one(void *argument)
{
	struct resync *r = argument;
	struct snapshot_reading how = { .between = is_cancelled, .ctx = r };

	r->err = snapshot__read(r->process, r->layout, &how, &r->snap[r->phase == LAST]);
	atomic_store(&r->done, true);
	return NULL;
}

/* A read has ended. */
static void finish(struct resync *r)
{
	r->phase = r->phase == FIRST ? PAUSE : READ;
	if (!r->err)
		return;
	log__debug("snapshot after a loss: %s", strerror(-r->err));
	give_up(r);
}

/*
 * Reads in the calling thread if no other can be created: late records are better than wrong
 * states.
 */
static void begin(struct resync *r, enum phase phase)
{
	r->phase = phase;
	atomic_store(&r->done, false);
	if (!pthread_create(&r->thread, NULL, read_one, r))
		return;
	read_one(r);
	finish(r);
}

static bool is_wanted(struct resync *r, uint64_t now, uint64_t losses)
{
	if (losses <= r->covered)
		return false;
	if (!r->since)
		r->since = now;
	return now >= r->next && now >= r->since + SETTLE;
}

static int give(struct resync *r, struct sink *sink)
{
	size_t goroutines = r->snap[1].ng;
	int err = sink__resnapshot(sink, &r->snap[0], &r->snap[1]);
	uint64_t cost = r->snap[0].time_end - r->snap[0].time +
			(r->snap[1].time_end - r->snap[1].time) + goroutines * COMPARING;

	log__debug("resynchronized after a loss: %zu goroutines read in %.1f ms", goroutines,
		   (double)cost / 1e6);
	r->failures = 0;
	r->next = r->snap[0].time + (cost * SHARE > INTERVAL ? cost * SHARE : INTERVAL);
	forget(r);
	return err;
}

int resync__step(struct resync *r, uint64_t now, uint64_t watermark, struct sink *sink)
{
	uint64_t losses = sequencer__go_losses(sink__sequencer(sink));

	switch (r->phase) {
	case IDLE:
		if (!is_wanted(r, now, losses))
			return 0;
		r->covered_before = r->covered;
		r->covered = losses;
		r->since = 0;
		r->next = now + INTERVAL;
		begin(r, FIRST);
		return 0;
	case FIRST:
	case LAST:
		if (!atomic_load(&r->done))
			return 0;
		pthread_join(r->thread, NULL);
		finish(r);
		return 0;
	case PAUSE:
		if (now >= r->snap[0].time_end + SECOND)
			begin(r, LAST);
		return 0;
	case READ: /* a GT_EXEC record, if any, has been drained by now */
		return watermark > r->snap[1].time_end ? give(r, sink) : 0;
	}
	return 0;
}

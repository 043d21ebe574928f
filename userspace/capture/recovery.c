// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of snapshots after losses: see recovery.h.
 *
 * While losses go on there is a pair a second at most, and reading takes no more than a fifth of
 * the time: a pair of a huge process waits longer for the next.
 */
#include "capture/recovery.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/sink.h"
#include "lib/log.h"
#include "target/snapshot.h"

#define MS	 1000000ull
#define SETTLE	 (20 * MS)   /* after a loss was seen: more may follow at once */
#define SECOND	 (40 * MS)   /* from the end of the first to the second, as at the start */
#define INTERVAL (1000 * MS) /* between the beginnings of two pairs */
#define SHARE	 5	     /* of the time for reading: one in so many */
#define JUDGING	 170	     /* ns a goroutine, before anything is put right */
#define TRIES	 3	     /* of pairs that can't be read, until more is lost */

enum phase { IDLE, FIRST, PAUSE, LAST, READ };

struct recovery {
	const struct process *process;
	const struct layout *layout;
	enum phase phase;
	pthread_t thread;
	atomic_bool done;      /* the thread has read */
	atomic_bool cancelled; /* what it reads is not wanted any more */
	int code;	       /* of its read */
	struct snapshot snap[2];
	uint64_t covered;	 /* sequencer__go_losses() when the latest pair was begun */
	uint64_t covered_before; /* and the one before it */
	unsigned int failures;	 /* pairs in a row that could not be read */
	uint64_t since;		 /* when more were first seen; 0: not */
	uint64_t next;		 /* not before */
};

struct recovery *recovery__create(const struct process *process, const struct layout *layout)
{
	struct recovery *r = calloc(1, sizeof(*r));

	if (r) {
		r->process = process;
		r->layout = layout;
	}
	return r;
}

static void forget(struct recovery *r)
{
	snapshot__deinit(&r->snap[0]);
	snapshot__deinit(&r->snap[1]);
	r->phase = IDLE;
}

/* Nothing was read: the loss is still there to be put right, by another try. */
static void give_up(struct recovery *r)
{
	forget(r);
	if (r->failures++ < TRIES)
		r->covered = r->covered_before;
}

void recovery__destroy(struct recovery *r)
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
	struct recovery *r = argument;

	return atomic_load(&r->cancelled) ? -ECANCELED : 0;
}

static void *read_one(void *argument)
{
	struct recovery *r = argument;
	struct snapshot_reading how = { .between = is_cancelled, .ctx = r };

	r->code = snapshot__read(r->process, r->layout, &how, &r->snap[r->phase == LAST]);
	atomic_store(&r->done, true);
	return NULL;
}

/* Without a thread it is done here: late records are better than wrong states. */
static void begin(struct recovery *r, enum phase phase)
{
	r->phase = phase;
	atomic_store(&r->done, false);
	if (!pthread_create(&r->thread, NULL, read_one, r))
		return;
	read_one(r);
	r->phase = phase == FIRST ? PAUSE : READ;
	if (r->code)
		give_up(r);
}

static bool is_wanted(struct recovery *r, uint64_t now, uint64_t losses)
{
	if (losses <= r->covered)
		return false;
	if (!r->since)
		r->since = now;
	return now >= r->next && now >= r->since + SETTLE;
}

/* Its thread has ended: false if it read nothing. */
static bool finish(struct recovery *r, enum phase phase)
{
	pthread_join(r->thread, NULL);
	r->phase = phase;
	if (r->code)
		log__debug("snapshot after a loss: %s", strerror(-r->code));
	return !r->code;
}

static int give(struct recovery *r, struct sink *sink)
{
	size_t goroutines = r->snap[1].ng;
	int code = sink__resnapshot(sink, &r->snap[0], &r->snap[1]);
	uint64_t cost = r->snap[0].time_end - r->snap[0].time +
			(r->snap[1].time_end - r->snap[1].time) + goroutines * JUDGING;

	log__debug("states put right after a loss: %zu goroutines read in %.1f ms", goroutines,
		   (double)cost / 1e6);
	r->failures = 0;
	r->next = r->snap[0].time + (cost * SHARE > INTERVAL ? cost * SHARE : INTERVAL);
	forget(r);
	return code;
}

int recovery__step(struct recovery *r, uint64_t now, uint64_t watermark, struct sink *sink)
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
		if (atomic_load(&r->done) && !finish(r, PAUSE))
			give_up(r);
		return 0;
	case PAUSE:
		if (now >= r->snap[0].time_end + SECOND)
			begin(r, LAST);
		return 0;
	case LAST:
		if (atomic_load(&r->done) && !finish(r, READ))
			give_up(r);
		return 0;
	case READ: /* had it executed another program, a record of that had come by now */
		return watermark > r->snap[1].time_end ? give(r, sink) : 0;
	}
	return 0;
}

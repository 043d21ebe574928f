// SPDX-License-Identifier: GPL-2.0
/*
 * Holds back records that do not fit the model yet: see hold.h. Upstream: sequencer.c. Downstream:
 * state.c. Go's reader makes events wait by similar rules.
 */
#include "sequence/hold.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/ahead.h"
#include "sequence/sequencer_impl.h"

#define HOLD_NS	 1000000ull
#define FEW	 64    /* threads that are all looked at after each record */
#define SHARE	 16    /* of more threads: so many per record */
#define HELD_MAX 65536 /* records, which a process can invent: then the oldest is forced */

/*
 * Inserts a thread into the list, ordered by the time of its oldest held record: if several wait
 * for the same, such as a P, the earliest gets it. Most are the last.
 */
static void thread__wait(struct sequencer *s, struct thread *t)
{
	struct thread **link = &s->hold.threads, *last = s->hold.last;

	if (last && last->head->rec.time <= t->head->rec.time)
		link = &last->next_held;
	while (*link && (*link)->head->rec.time <= t->head->rec.time)
		link = &(*link)->next_held;
	t->next_held = *link;
	*link = t;
	if (!t->next_held)
		s->hold.last = t;
	s->hold.n++;
}

/* Takes the thread at *link out of the list. */
static void thread__unlink(struct sequencer *s, struct thread **link)
{
	struct thread *t = *link;

	*link = t->next_held;
	if (s->hold.last == t)
		s->hold.last = link == &s->hold.threads ?
				       NULL :
				       (struct thread *)((char *)link -
							 offsetof(struct thread, next_held));
	s->hold.n--;
}

/* Takes the oldest held record of the thread at *link away. */
static void thread__next(struct sequencer *s, struct thread **link)
{
	struct thread *t = *link;
	struct held *h = t->head;

	thread__unlink(s, link);
	t->head = h->next;
	h->next = s->hold.free;
	s->hold.free = h;
	s->hold.records--;
	if (t->head)
		thread__wait(s, t);
}

/* Applies the oldest held record of the thread at *link. False: it does not fit. */
static bool thread__take(struct sequencer *s, struct thread **link, bool force)
{
	struct thread *t = *link;

	s->losses.forces |= force;
	while (state__apply(s, t, &t->head->rec, force) == WAIT)
		if (!ahead__apply(s, t, &t->head->rec))
			return false;
	thread__next(s, link);
	return true;
}

void hold__add(struct sequencer *s, struct thread *t, const struct gt_record *rec)
{
	struct held *h = s->hold.free;

	if (h)
		s->hold.free = h->next;
	else
		h = malloc(sizeof(*h));
	if (!h) {
		s->error = -ENOMEM;
		return;
	}
	memcpy(&h->rec, rec, sizeof(*rec) + gt_payload_size(rec->kind));
	h->deadline = rec->time + HOLD_NS;
	h->next = NULL;
	if (t->head)
		t->tail->next = h;
	else
		t->head = h;
	t->tail = h;
	if (t->head == h)
		thread__wait(s, t);
	s->stats.held++;
	if (++s->hold.records > HELD_MAX) {
		thread__take(s, &s->hold.threads, true);
		s->losses.forces = false;
	}
}

static bool any_stalls(struct sequencer *s)
{
	for (const struct thread *t = s->hold.threads; t; t = t->next_held)
		if (ahead__is_silent(s, t, &t->head->rec))
			return true;
	return false;
}

/* Whether it is time to look at all threads again: *skipped counts the calls since. */
static bool is_turn(const struct sequencer *s, size_t *skipped)
{
	if (s->hold.n > FEW && s->hold.n / SHARE > (*skipped)++)
		return false;
	*skipped = 0;
	return true;
}

bool hold__stalls(struct sequencer *s)
{
	return is_turn(s, &s->hold.unchecked) && any_stalls(s);
}

/* The window has ended before what the record waits for. */
static void leave_out(struct sequencer *s)
{
	s->stats.left_out_at_end++;
	thread__next(s, &s->hold.threads);
}

/*
 * The oldest held record is overdue. False: some other one waits for a thread that is silent, and
 * this one maybe for that. Of many threads several are forced at once.
 */
static bool end_wait(struct sequencer *s, uint64_t now)
{
	bool stalls = any_stalls(s);
	size_t n = s->hold.n > FEW ? s->hold.n / SHARE : 1;

	if (stalls && now != UINT64_MAX)
		return false;
	for (; n && s->hold.threads && s->hold.threads->head->deadline <= now; n--) {
		if (stalls)
			leave_out(s);
		else
			thread__take(s, &s->hold.threads, true);
	}
	return true;
}

/*
 * Applies what fits, repeatedly: one thread's record may be what another one waits for. Then forces
 * overdue records one at a time, the oldest first, because others may fit after it.
 */
static void retry(struct sequencer *s, uint64_t now)
{
	struct thread **link = &s->hold.threads;

	while (s->hold.threads) {
		if (!*link) {
			if (s->hold.threads->head->deadline > now || !end_wait(s, now))
				return;
			link = &s->hold.threads;
		} else if (!thread__take(s, link, false)) {
			link = &(*link)->next_held;
		} else if (s->hold.n <= FEW) {
			link = &s->hold.threads;
		}
	}
}

void hold__retry(struct sequencer *s, uint64_t now)
{
	retry(s, now);
	s->losses.forces = false;
}

void hold__step(struct sequencer *s, uint64_t now)
{
	if (is_turn(s, &s->hold.skipped))
		hold__retry(s, now);
}

void hold__free_list(struct held *h)
{
	struct held *next;

	for (; h; h = next) {
		next = h->next;
		free(h);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Holds back records that do not fit the model yet: see hold.h. Upstream: sequencer.c. Downstream:
 * state.c. Go's reader makes events wait by similar rules.
 */
#include "sequence/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/sequencer_impl.h"

#define HOLD_NS	    1000000ull
#define SKEW_NS	    10000 /* clocks of CPUs differ by less */
#define PATIENCE_NS 500000000ull
#define PATIENT_MAX 100000 /* held records: 10 MB */

/*
 * Inserts a thread into the list, ordered by the time of its oldest held record: if several wait
 * for the same, such as a P, the earliest gets it.
 */
static void thread__wait(struct sequencer *s, struct thread *t)
{
	struct thread **link = &s->hold.threads;

	while (*link && (*link)->head->rec.time <= t->head->rec.time)
		link = &(*link)->next_held;
	t->next_held = *link;
	*link = t;
}

/* ---- by object ---- */

/* Appends it to those about its object, if it has one. */
static void object__add(struct sequencer *s, struct held *h)
{
	struct held *first = h->rec.object ? map__get(&s->hold.by_object, h->rec.object) : NULL;

	h->same = h->same_before = NULL;
	h->same_last = h;
	if (first) {
		h->same_before = first->same_last;
		first->same_last->same = h;
		first->same_last = h;
	} else if (h->rec.object && map__put(&s->hold.by_object, h->rec.object, h)) {
		s->error = -ENOMEM;
	}
}

static void object__remove(struct sequencer *s, const struct held *h)
{
	struct held *first = h->rec.object ? map__get(&s->hold.by_object, h->rec.object) : NULL;

	if (!first)
		return;
	if (h->same)
		h->same->same_before = h->same_before;
	else
		first->same_last = h->same_before;
	if (h->same_before) {
		h->same_before->same = h->same;
	} else if (h->same) {
		h->same->same_last = h->same_last;
		map__put(&s->hold.by_object, h->rec.object, h->same); /* replaces: has room */
	} else {
		map__remove(&s->hold.by_object, h->rec.object);
	}
}

/* But a goroutine's own thread may tell what the others wait for. */
bool hold__is_overtaking(const struct sequencer *s, const struct thread *t,
			 const struct gt_record *rec)
{
	const struct goroutine *g;
	const struct held *first;

	if (!s->derived || !s->hold.n || !rec->object)
		return false;
	first = map__get(&s->hold.by_object, rec->object);
	if (!first || first->rec.time + SKEW_NS >= rec->time)
		return false;
	g = map__get(&s->model.by_addr, rec->object);
	return !g || g->m != t;
}

const struct gt_record *hold__first(const struct sequencer *s, unsigned int kind, uint64_t object)
{
	const struct held *h = map__get(&s->hold.by_object, object);

	while (h && h->rec.kind != kind)
		h = h->same;
	return h ? &h->rec : NULL;
}

/* ---- by thread ---- */

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
	object__add(s, h);
	s->hold.n++;
	s->stats.held++;
}

/* Takes the oldest held record of the thread at *link away. */
static void thread__next(struct sequencer *s, struct thread **link)
{
	struct thread *t = *link;
	struct held *h = t->head;

	*link = t->next_held;
	t->head = h->next;
	object__remove(s, h);
	h->next = s->hold.free;
	s->hold.free = h;
	s->hold.n--;
	if (t->head)
		thread__wait(s, t);
}

/* Applies the oldest held record of the thread at *link. False: it does not fit. */
static bool thread__take(struct sequencer *s, struct thread **link, bool force)
{
	const struct gt_record *rec = &(*link)->head->rec;

	if (!force && hold__is_overtaking(s, *link, rec))
		return false;
	if (state__apply(s, *link, rec, force) == WAIT)
		return false;
	thread__next(s, link);
	return true;
}

/*
 * Whether a derived record may still come that some held record waits for: from a thread that has
 * sent nothing since. Any other held record may wait for one that is held for this reason.
 */
static bool some_are_expected(const struct sequencer *s)
{
	const struct thread *other;

	if (!s->derived || s->losses.watching || s->hold.n > PATIENT_MAX)
		return false;
	for (const struct thread *t = s->hold.threads; t; t = t->next_held) {
		other = state__awaited(s, t, &t->head->rec);
		if (other && other->heard <= t->head->rec.time)
			return true;
	}
	return false;
}

/* The oldest held record is overdue. False: it is waited for nevertheless. */
static bool end_wait(struct sequencer *s, uint64_t now)
{
	struct thread *t = s->hold.threads;

	if (!some_are_expected(s)) {
		thread__take(s, &s->hold.threads, true);
		return true;
	}
	if (now == UINT64_MAX) { /* the window has ended before the record that it waits for */
		thread__next(s, &s->hold.threads);
		return true;
	}
	if (now < t->head->rec.time + PATIENCE_NS)
		return false;
	thread__take(s, &s->hold.threads, true);
	return true;
}

/*
 * Applies what fits, repeatedly: one thread's record may be what another one waits for. Then forces
 * overdue records one at a time, the oldest first, because others may fit after it.
 */
void hold__retry(struct sequencer *s, uint64_t now)
{
	struct thread **link = &s->hold.threads;

	while (s->hold.threads) {
		if (!*link) {
			if (s->hold.threads->head->deadline > now || !end_wait(s, now))
				return;
			link = &s->hold.threads;
		} else if (thread__take(s, link, false)) {
			link = &s->hold.threads;
		} else {
			link = &(*link)->next_held;
		}
	}
}

void hold__free_list(struct held *h)
{
	struct held *next;

	for (; h; h = next) {
		next = h->next;
		free(h);
	}
}

void hold__deinit(struct sequencer *s)
{
	hold__free_list(s->hold.free);
	map__deinit(&s->hold.by_object);
}

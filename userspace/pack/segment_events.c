// SPDX-License-Identifier: GPL-2.0
/*
 * The timed events of a segment: see segment_impl.h.
 *
 * The events of all threads are merged by time, so that the model sees about the order in which
 * they happened: only then are sequence numbers and the next goroutine predictable. A decoder can
 * merge in the same way because it decodes the time of a thread's next event before it decides
 * whose turn it is.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/encode.h"
#include "lib/array.h"
#include "lib/heap.h"
#include "pack/canonical.h"
#include "pack/segment_impl.h"

#define GOROUTINES_LOG2 16

struct turn {
	uint64_t time;
	size_t thread;
};

static bool is_earlier(const struct turn *a, const struct turn *b)
{
	return a->time != b->time ? a->time < b->time : a->thread < b->thread;
}

DEFINE_HEAP(turns, struct turn, is_earlier)

bool segment__are_events(const void *data, size_t len)
{
	struct buf b = buf__make(data, len);
	uint64_t number;
	uint8_t type;

	while (buf__left(&b)) {
		type = buf__u8(&b);
		if (!event_model__supports(type))
			return false;
		for (unsigned int i = 0; i < spec__event(type)->nargs; i++)
			if (!canonical__take(&b, &number))
				return false;
	}
	return true;
}

int segment__add_to_thread(struct segment *s, size_t i)
{
	struct piece *piece = &s->piece[i];
	size_t found = (uintptr_t)map__get(&s->thread_by_m, piece->m);

	piece->next = SIZE_MAX;
	if (found) {
		piece->thread = found - 1;
		s->piece[s->thread[found - 1].last].next = i;
		s->thread[found - 1].last = i;
		return 0;
	}
	if (array__grow(&s->thread, s->nthreads, &s->threads_cap, sizeof(*s->thread)) ||
	    map__put(&s->thread_by_m, piece->m, (void *)((uintptr_t)s->nthreads + 1)))
		return -ENOMEM;
	piece->thread = s->nthreads;
	s->thread[s->nthreads++] = (struct segment_thread){
		.model = { .m = piece->m, .g = MODEL_NONE, .p = MODEL_NONE },
		.piece = i,
		.last = i,
		.time = piece->time,
	};
	return 0;
}

static void take_event(struct segment_thread *t)
{
	struct model_event *e = &t->event;

	e->type = 0;
	if (!buf__left(&t->in))
		return;
	e->type = buf__u8(&t->in);
	for (unsigned int i = 0; i < spec__event(e->type)->nargs; i++)
		e->number[i] = buf__uleb(&t->in);
}

static int put_event(struct segment *s, struct segment_thread *t)
{
	const struct model_event *e = &t->event;
	size_t before = t->out.len;

	if (outbuf__room(&t->out, EVENT_MAX, NULL))
		return -ENOMEM;
	t->out.data[t->out.len++] = (char)e->type;
	for (unsigned int i = 0; i < spec__event(e->type)->nargs; i++)
		leb__append(&t->out, e->number[i]);
	before = t->out.len - before;
	if (before > s->max)
		return -EBADMSG;
	s->max -= before;
	return 0;
}

/* Begins the next event of the thread, or ends its piece. Returns whether it has another turn. */
static bool begin_next(struct segment *s, struct event_model *m, struct segment_thread *t)
{
	struct piece *piece = &s->piece[t->piece];
	bool decode = s->p.coder->decode;

	if (!t->open) {
		t->open = true;
		if (decode)
			piece->at = t->out.len;
		else
			t->in = buf__make(s->data + piece->at, piece->len);
	}
	if (!decode)
		take_event(t);
	event_model__begin_event(m, &t->model, &t->event);
	t->time += t->event.number[0];
	if (t->event.type)
		return true;
	if (decode)
		piece->len = t->out.len - piece->at;
	t->open = false;
	t->piece = piece->next;
	if (t->piece == SIZE_MAX)
		return false;
	t->time = s->piece[t->piece].time;
	return true;
}

/* Kernel events are likely at these times: see item_model.h. */
static int note_call(struct segment *s, const struct segment_thread *t)
{
	uint8_t type = t->event.type;
	struct items_times *times = type == EV_GO_SYSCALL_BEGIN ? &s->begins : &s->ends;

	if (type != EV_GO_SYSCALL_BEGIN && type != EV_GO_SYSCALL_END)
		return 0;
	if (array__grow(&times->time, times->n, &times->cap, sizeof(*times->time)))
		return -ENOMEM;
	times->time[times->n++] = t->time;
	return 0;
}

static int run(struct segment *s, struct event_model *m, struct turn *turn, size_t n)
{
	struct segment_thread *t;
	int err;

	while (n) {
		t = &s->thread[turn[0].thread];
		if (t->open) {
			event_model__end_event(m, &t->model, &t->event);
			err = s->p.coder->decode ? put_event(s, t) : 0;
			err = err ?: note_call(s, t);
			if (err)
				return err;
		}
		if (coder__is_bad(s->p.coder))
			return -EBADMSG;
		if (!begin_next(s, m, t)) {
			turns__remove(turn, &n, 0);
			continue;
		}
		turn[0].time = t->time;
		turns__down(turn, n, 0);
	}
	return 0;
}

int segment__code_events(struct segment *s)
{
	struct turn *turn = calloc(s->nthreads + 1, sizeof(*turn));
	struct event_model m = {};
	int err = turn ? event_model__init(&m, &s->p, GOROUTINES_LOG2) : -ENOMEM;

	for (size_t i = 0; !err && i < s->nthreads; i++) {
		turn[i] = (struct turn){ s->thread[i].time, i };
		turns__up(turn, i);
	}
	err = err ?: run(s, &m, turn, s->nthreads);
	event_model__deinit(&m);
	free(turn);
	return err;
}

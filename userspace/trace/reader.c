// SPDX-License-Identifier: GPL-2.0
/*
 * Events of all threads to one stream: trace/reader.h.
 *
 * A cursor for each thread of the generation holds its next event. They stand in a heap by time; the
 * earliest is tried (trace/order.c), and when it has to wait, the others in the order of their
 * times. That is what Go's internal/trace/reader.go does (1.26), with the same heap and the same
 * sort (trace/gosort.c), so that events of equal times come out in the same order.
 */
#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "trace/decode.h"
#include "trace/describe.h"
#include "trace/header.h"
#include "trace/heap.h"
#include "trace/order.h"
#include "trace/private_read.h"
#include "trace/v1.h"

struct cursor {
	uint64_t offset;	      /* of its batch */
	struct order_event ev;	      /* the thread's next event */
	uint64_t number[EV_ARGS_MAX]; /* its numbers: dt, and the arguments that `ev` points to */
	struct order_place at;
	struct buf data;	    /* of the batch, behind that event */
	int64_t last;		    /* ns: of that event; 0: the batch has just begun */
	const unsigned char *start; /* of that event */
	const struct gen_thread *thread;
	size_t batch; /* of the thread; SIZE_MAX: before the first */
};

struct reader {
	struct input *in;
	struct reader_opts opts;
	unsigned int version;
	struct v1 *v1; /* NULL: a v2 trace */
	struct decoder *decoder;
	struct generation gen;
	struct order order;
	struct cursor *cursors;
	struct gosort_item *heap; /* by time; what: the cursor */
	size_t nheap, cursors_cap;
	size_t sample;	      /* the next CPU sample */
	uint64_t generations; /* begun */
	unsigned int extra;   /* the next of order.extra */
	int64_t last_time;
	struct trace_sync sync;
	struct reader_place place;
	bool at_sync, done;
	int (*next)(struct reader *r, struct trace_event *ret, struct error *err);
	struct description *description; /* the trace's own, when opts.described and it has one */
	uint64_t *passed_over;		 /* by type; NULL without a description */
	uint8_t nargs[256];		 /* of each type, dt included; 0: no timed event */
	int pending;			 /* the error to return next, and its reason */
	struct error pending_reason;
	struct error left_out;
	struct error reason; /* of the order, without the place */
};

static int next_plain(struct reader *r, struct trace_event *ret, struct error *err);
static int next_bmi(struct reader *r, struct trace_event *ret, struct error *err);
static int next_v1(struct reader *r, struct trace_event *ret, struct error *err);

static void learn_types(struct reader *r)
{
	const struct ev_spec *spec;

	for (unsigned int type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		r->nargs[type] = spec && spec->timed ? spec->nargs : 0;
	}
}

static int open_v2(struct reader *r)
{
	learn_types(r);
	r->next = buf__has_pext() ? next_bmi : next_plain;
	input__consume(r->in, TRACE_HEADER_LEN);
	r->decoder = decoder__create(r->in, r->version);
	if (!r->decoder || generation__init(&r->gen) || order__init(&r->order))
		return -ENOMEM;
	return 0;
}

int reader__open(struct reader **ret, struct input *in, const struct reader_opts *opts,
		 struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct error why = {};
	int e;

	if (!r) {
		input__destroy(in);
		return error__set(err, -ENOMEM, "no memory");
	}
	r->in = in;
	if (opts)
		r->opts = *opts;
	e = header__read(in, &r->version, &why);
	r->next = next_v1;
	if (!e && header__is_v1(r->version))
		e = v1__open(&r->v1, in, r->version, r->opts.binary, &why);
	else if (!e)
		e = open_v2(r);
	if (e) {
		error__set(&why, e, "no memory");
		error__about(err, e, input__name(in), &why);
		reader__destroy(r);
		return e;
	}
	*ret = r;
	return 0;
}

void reader__destroy(struct reader *r)
{
	if (!r)
		return;
	v1__destroy(r->v1);
	order__deinit(&r->order);
	generation__deinit(&r->gen);
	description__destroy(r->description);
	free(r->passed_over);
	decoder__destroy(r->decoder);
	input__destroy(r->in);
	free(r->cursors);
	free(r->heap);
	free(r);
}

/* messages */

/* The number of the event at `start` in its batch, from 1. */
static uint64_t event_number(const struct reader *r, const struct gen_batch *batch,
			     const unsigned char *start)
{
	struct buf b = buf__make(batch->data, batch->len);
	uint64_t n = 1, dt;
	uint8_t type, nargs;

	for (; b.pos < start && !b.bad; n++) {
		type = buf__u8(&b);
		nargs = r->nargs[type];
		if (!nargs && !(r->description && description__skip(r->description, type, &b, &dt)))
			break;
		while (nargs--)
			buf__uleb(&b);
	}
	return n;
}

/* Puts the place of the cursor's event before the reason. */
static int broken_at(const struct reader *r, const struct cursor *c, const char *reason,
		     struct error *err)
{
	const struct gen_batch *batch = &c->thread->batch[c->batch];
	const struct ev_spec *spec = spec__event(*c->start);
	char type[24];

	snprintf(type, sizeof(type), "type %u", *c->start);
	return error__set(err, -EBADMSG,
			  "broken trace at byte %" PRIu64 " (generation %" PRIu64
			  ", batch %u of thread"
			  " %" PRId64 ", event %" PRIu64 ": %s): %s",
			  batch->offset + batch->head + (uint64_t)(c->start - batch->data),
			  r->gen.number, batch->number, (int64_t)c->at.m,
			  event_number(r, batch, c->start), spec ? spec->name : type, reason);
}

static int stuck(const struct reader *r, struct error *err)
{
	const char *behind = decoder__pending(r->decoder);
	char reason[400];

	snprintf(reason, sizeof(reason),
		 "no thread can go on; %zu wait, this one the longest%s%.256s", r->nheap,
		 behind ? "; and behind this generation: " : "", behind ? behind : "");
	return broken_at(r, r->heap[0].what, reason, err);
}

/* cursors */

static int cursor__next(const struct reader *r, struct cursor *c, struct error *err);

/*
 * Moves behind an event that only the trace's own description knows. False: there is no such
 * description, or the bytes do not fit it.
 */
static bool pass_over(const struct reader *r, struct cursor *c)
{
	struct buf rest = c->data;
	uint64_t dt;

	if (!r->description || spec__event(c->ev.type) ||
	    !description__skip(r->description, c->ev.type, &rest, &dt))
		return false;
	c->data = rest;
	c->last = (int64_t)((uint64_t)c->last + (uint64_t)generation__ns(&r->gen, dt));
	r->passed_over[c->ev.type]++;
	return true;
}

/* The thread's next batch that is not empty. False: there is none. */
static __attribute__((noinline)) bool cursor__turn(struct cursor *c)
{
	const struct gen_batch *batch;

	while (!buf__left(&c->data)) {
		if (++c->batch >= c->thread->n)
			return false;
		batch = &c->thread->batch[c->batch];
		c->data = buf__make(batch->data, batch->len);
		c->offset = batch->offset;
		c->last = 0;
	}
	return true;
}

/* A type that is none of ours. As cursor__next(), of what comes behind all such events. */
static __attribute__((noinline)) int cursor__unknown(const struct reader *r, struct cursor *c,
						     struct error *err)
{
	while (pass_over(r, c)) {
		if (!buf__left(&c->data) && !cursor__turn(c))
			return 0;
		if (!c->last)
			c->last = generation__ns(&r->gen, c->thread->batch[c->batch].time);
		c->start = c->data.pos;
		buf__u8_at(&c->data, (uint64_t)(c->data.pos - c->data.start), &c->ev.type);
		if (r->nargs[c->ev.type])
			return cursor__next(r, c, err);
		buf__u8(&c->data);
	}
	return broken_at(r, c, "no event of a thread", err);
}

static __attribute__((noinline)) int cursor__cut(const struct reader *r, const struct cursor *c,
						 struct error *err)
{
	return broken_at(r, c, "its batch ends within it, or a number has more than 64 bits", err);
}

/* Takes the thread's next event apart. 1; 0: there is none; a negative errno. */
static inline __attribute__((always_inline)) int
cursor__take(const struct reader *r, struct cursor *c, bool pext, struct error *err)
{
	if (__builtin_expect(!buf__left(&c->data), 0) && !cursor__turn(c))
		return 0;
	if (__builtin_expect(!c->last, 0))
		c->last = generation__ns(&r->gen, c->thread->batch[c->batch].time);
	c->start = c->data.pos;
	if (__builtin_expect(!buf__event(&c->data, &c->ev.type, r->nargs, c->number, pext), 0))
		return cursor__unknown(r, c, err);
	if (__builtin_expect(c->data.bad, 0))
		return cursor__cut(r, c, err);
	c->last = (int64_t)((uint64_t)c->last + (uint64_t)generation__ns(&r->gen, c->number[0]));
	c->ev.time = c->last;
	return 1;
}

static __attribute__((noinline)) int cursor__next(const struct reader *r, struct cursor *c,
						  struct error *err)
{
	return cursor__take(r, c, false, err);
}

/* generations */

static int make_cursors(struct reader *r, struct error *err)
{
	size_t i, n = r->gen.nthreads;
	struct cursor *c;
	int e;

	if (n > r->cursors_cap) {
		free(r->cursors);
		free(r->heap);
		r->cursors = calloc(n, sizeof(*r->cursors));
		r->heap = calloc(n, sizeof(*r->heap));
		r->cursors_cap = r->cursors && r->heap ? n : 0;
		if (!r->cursors_cap)
			return error__set(err, -ENOMEM, "no memory");
	}
	for (i = 0; i < n; i++) {
		c = &r->cursors[i];
		*c = (struct cursor){
			.thread = &r->gen.threads[i],
			.batch = SIZE_MAX,
			.ev.arg = &c->number[1],
			.at = { &r->gen.words, r->gen.number, r->gen.threads[i].m, NULL },
		};
		e = cursor__next(r, c, err);
		if (e < 0)
			return e;
		if (!e)
			continue;
		r->heap[r->nheap] = (struct gosort_item){ c->ev.time, c };
		heap__up(r->heap, r->nheap++);
	}
	return 0;
}

static int deliver_sync(struct reader *r, int64_t time, const struct dictionary *words,
			struct trace_event *ret)
{
	*ret = (struct trace_event){
		.time = time,
		.raw = time,
		.type = EV_SYNC,
		.m = TRACE_NO_M,
		.p = TRACE_NO_P,
		.g = TRACE_NO_G,
		.words = words,
		.sync = &r->sync,
		.offset = words ? r->gen.offset : 0,
	};
	r->sync.n++;
	r->sync.generation = words ? r->gen.number : 0;
	r->sync.clock = words ? r->gen.clock : (struct trace_clock){};
	return 1;
}

/* What the first generation says of the trace's events. One that is broken describes nothing. */
static int learn_description(struct reader *r)
{
	struct error ignored = {};
	int e = private_read__table(&r->gen.words, &r->description, &ignored);

	if (e == -ENOMEM)
		return e;
	if (e == 1) {
		r->passed_over = calloc(256, sizeof(*r->passed_over));
		if (!r->passed_over)
			return -ENOMEM;
	}
	return 0;
}

static int next_generation(struct reader *r, struct trace_event *ret, struct error *err)
{
	int e;

	e = decoder__next(r->decoder, &r->gen, &r->pending_reason);
	if (e < 0) { /* as Go's reader: a last sync goes before it */
		r->pending = e;
		return deliver_sync(r, r->last_time, NULL, ret);
	}
	if (!e) {
		r->done = true;
		return deliver_sync(r, r->last_time, NULL, ret);
	}
	e = r->opts.described && !r->description && !r->sync.n ? learn_description(r) : 0;
	if (!e)
		e = make_cursors(r, err);
	if (e)
		return e;
	r->sample = 0;
	r->generations++;
	r->place = (struct reader_place){ r->gen.offset, r->gen.number, r->last_time, r->sync.n };
	r->at_sync = true;
	return deliver_sync(r, generation__ns(&r->gen, r->gen.min_time), &r->gen.words, ret);
}

static int deliver_sample(struct reader *r, struct trace_event *ret)
{
	const struct gen_sample *s = &r->gen.samples[r->sample++];

	*ret = (struct trace_event){
		.time = s->time,
		.raw = s->time,
		.type = EV_CPU_SAMPLE,
		.m = s->m,
		.p = s->p,
		.g = s->g,
		.arg = { s->stack },
		.words = &r->gen.words,
	};
	return 1;
}

/* events */

/* Tries the event of the heap's i-th cursor, and moves that cursor on. As order__advance(). */
static inline __attribute__((always_inline)) int
try_cursor(struct reader *r, size_t i, bool pext, struct trace_event *ret, struct error *err)
{
	struct cursor *c = r->heap[i].what;
	int e;

	ret->offset = c->offset;
	ret->words = &r->gen.words;
	ret->sync = NULL;
	e = order__advance(&r->order, &c->ev, &c->at, ret, &r->reason);
	if (__builtin_expect(e <= 0, 0))
		return e == -EBADMSG ? broken_at(r, c, r->reason.text, err) : e;
	e = cursor__take(r, c, pext, err);
	if (__builtin_expect(e <= 0, 0)) {
		if (e)
			return e;
		heap__remove(r->heap, &r->nheap, i);
		return 1;
	}
	r->heap[i].time = c->ev.time;
	if (!i || heap__up(r->heap, i) == i)
		heap__down(r->heap, r->nheap, i);
	return 1;
}

/* The earliest thread's event has to wait: tries the others in the order of their times. */
static __attribute__((noinline)) int next_of_others(struct reader *r, struct trace_event *ret,
						    struct error *err)
{
	int e;

	/* Sorted, the heap is still a heap. Its first is not tried again, whichever it is now. */
	gosort(r->heap, r->nheap);
	for (size_t i = 1; i < r->nheap; i++) {
		e = try_cursor(r, i, false, ret, err);
		if (e)
			return e;
	}
	return stuck(r, err);
}

static inline __attribute__((always_inline)) int
next_of_threads(struct reader *r, bool pext, struct trace_event *ret, struct error *err)
{
	int e = try_cursor(r, 0, pext, ret, err);

	return __builtin_expect(!e, 0) ? next_of_others(r, ret, err) : e;
}

/* What is not simply the next event of a thread. */
static __attribute__((noinline)) int next_special(struct reader *r, struct trace_event *ret,
						  struct error *err)
{
	if (r->extra < r->order.extras) {
		*ret = r->order.extra[r->extra++];
		ret->words = &r->gen.words;
		ret->sync = NULL;
		return 1;
	}
	if (r->pending)
		return error__set(err, r->pending, "%s", r->pending_reason.text);
	r->at_sync = false;
	if (!r->nheap && r->sample == r->gen.nsamples)
		return next_generation(r, ret, err);
	if (r->sample < r->gen.nsamples &&
	    (!r->nheap || r->gen.samples[r->sample].time < r->heap[0].time))
		return deliver_sample(r, ret);
	r->order.extras = r->extra = 0;
	return next_of_threads(r, false, ret, err);
}

/* A broken tail, when that is no failure: the events end here. */
static __attribute__((noinline)) int leave_out(struct reader *r, int e, struct error *err)
{
	size_t len = strlen(err->text);

	if (e == -ENOMEM)
		return error__set(err, e, "no memory");
	if (e == -EBADMSG && !r->generations != !r->opts.lenient) /* what a person can do now */
		snprintf(err->text + len, sizeof(err->text) - len, "%s",
			 r->opts.lenient ? "; no whole generation comes before it" :
					   " (--lenient reads what is before it)");
	if (!r->opts.lenient || e != -EBADMSG || !r->generations)
		return e;
	r->left_out = *err;
	err->text[0] = '\0';
	r->done = true;
	r->nheap = 0;
	return 0;
}

static inline __attribute__((always_inline)) int
next_event(struct reader *r, bool pext, struct trace_event *ret, struct error *err)
{
	int e;

	if (__builtin_expect(r->at_sync | !r->nheap | (r->order.extras != 0) |
				     (r->sample != r->gen.nsamples),
			     0))
		e = r->done ? 0 : next_special(r, ret, err);
	else
		e = next_of_threads(r, pext, ret, err);
	if (__builtin_expect(e <= 0, 0))
		return e ? leave_out(r, e, err) : 0;
	if (ret->time <= r->last_time)
		ret->time = (int64_t)((uint64_t)r->last_time + 1);
	r->last_time = ret->time;
	return 1;
}

static int next_plain(struct reader *r, struct trace_event *ret, struct error *err)
{
	return next_event(r, false, ret, err);
}

__attribute__((target("bmi,bmi2"))) static int next_bmi(struct reader *r, struct trace_event *ret,
							struct error *err)
{
	return next_event(r, true, ret, err);
}

static int next_v1(struct reader *r, struct trace_event *ret, struct error *err)
{
	return v1__next(r->v1, ret, err);
}

int reader__next(struct reader *r, struct trace_event *ret, struct error *err)
{
	return r->next(r, ret, err);
}

unsigned int reader__version(const struct reader *r)
{
	return r->version;
}

const char *reader__left_out(const struct reader *r)
{
	return r->left_out.text[0] ? r->left_out.text : NULL;
}

uint64_t reader__passed_over(const struct reader *r, uint8_t type,
			     const struct described_event **ret)
{
	if (!r->description)
		return 0;
	*ret = description__event(r->description, type);
	return r->passed_over[type];
}

const struct order *reader__order(const struct reader *r)
{
	return r->v1 ? NULL : &r->order;
}

bool reader__place(const struct reader *r, struct reader_place *ret)
{
	if (r->at_sync)
		*ret = r->place;
	return r->at_sync;
}

/* A reader that does not begin at the first generation reads it for what it says of the others. */
static int learn_from_first(struct reader *r, struct error *err)
{
	int e = decoder__next(r->decoder, &r->gen, err);

	if (e < 0)
		return e;
	e = learn_description(r);
	r->gen.nsamples = 0;
	return e;
}

int reader__resume(struct reader *r, const struct reader_place *place, struct order *state,
		   struct error *err)
{
	int e;

	if (r->v1)
		return error__set(err, -ESPIPE, "%s is a trace without generations",
				  input__name(r->in));
	e = r->opts.described ? learn_from_first(r, err) : 0;
	if (!e)
		e = decoder__seek(r->decoder, place->offset, err);
	if (e)
		return e;
	order__deinit(&r->order);
	r->order = *state;
	*state = (struct order){};
	r->last_time = place->last_time;
	r->sync.n = place->syncs;
	return 0;
}

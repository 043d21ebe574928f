// SPDX-License-Identifier: GPL-2.0
/*
 * Merges the events of all threads into one stream: see reader/reader.h.
 *
 * Upstream: reader_generation.c, which begins each generation. Downstream: the commands and
 * reader/timeline.c. A cursor per thread of the generation holds its next event. The cursors form a
 * heap by time. The earliest event is tried first (reader/order.c); if it must wait, the others are
 * tried by time. Algorithm, heap and sort (format/gosort.c) are those of Go 1.26,
 * internal/trace/reader.go, so events with equal times come in the same order.
 */
#include "reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/describe.h"
#include "format/header.h"
#include "reader/reader_impl.h"
#include "v1/v1.h"

static int next_plain(struct reader *r, struct trace_event *ret, struct error *error);
static int next_fast(struct reader *r, struct trace_event *ret, struct error *error);
static int next_v1(struct reader *r, struct trace_event *ret, struct error *error);

static void init_arg_counts(struct reader *r)
{
	const struct ev_spec *spec;

	for (unsigned int type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		r->nargs[type] = spec && spec->timed ? spec->nargs : 0;
	}
}

static int open_v2(struct reader *r)
{
	init_arg_counts(r);
	r->next = leb__has_fast() ? next_fast : next_plain;
	input__consume(r->in, TRACE_HEADER_LEN);
	r->decoder = decoder__create(r->in, r->version);
	if (r->decoder && r->opts.as_go)
		decoder__as_go(r->decoder);
	block_pool__init(&r->own_blocks);
	r->blocks = &r->own_blocks;
	generation__init(&r->gen, r->blocks);
	order__init(&r->order);
	return r->decoder ? 0 : -ENOMEM;
}

int reader__open(struct reader **ret, struct input *in, const struct reader_opts *opts,
		 struct error *error)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct error why = {};
	int err;

	if (!r) {
		input__destroy(in);
		return error__set(error, -ENOMEM, "out of memory");
	}
	r->in = in;
	if (opts)
		r->opts = *opts;
	err = header__read(in, &r->version, &why);
	r->next = next_v1;
	if (!err && header__is_v1(r->version))
		err = v1__open(&r->v1, in, r->version, r->opts.binary, &why);
	else if (!err)
		err = open_v2(r);
	if (err) {
		error__set(&why, err, "out of memory");
		error__about(error, err, input__name(in), &why);
		reader__destroy(r);
		return err;
	}
	*ret = r;
	return 0;
}

struct reader *reader__create_part(struct reader *like)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->version = like->version;
	r->next = like->next;
	memcpy(r->nargs, like->nargs, sizeof(r->nargs));
	r->part = r->followed = true;
	r->blocks = like->blocks;
	generation__init(&r->gen, r->blocks);
	order__init(&r->order);
	return r;
}

void reader__give(struct reader *r, int result, const struct error *reason)
{
	r->given = true;
	r->given_result = result;
	r->done = false;
	/* The generation before, which a worker may have read, is at its end. */
	r->order.extras = r->extra = 0;
	r->sample = r->gen.nsamples;
	r->nheap = 0;
	if (reason)
		r->pending_reason = *reason;
}

void reader__destroy(struct reader *r)
{
	if (!r)
		return;
	v1__destroy(r->v1);
	order__deinit(&r->order);
	if (r->blocks)
		generation__deinit(&r->gen);
	if (r->blocks == &r->own_blocks)
		block_pool__deinit(r->blocks);
	description__destroy(r->description);
	free(r->skipped);
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

/* Sets an error with the position of the cursor's event. */
static int broken_at(const struct reader *r, const struct cursor *c, const char *reason,
		     struct error *error)
{
	const struct gen_batch *batch = &c->thread->batch[c->batch];
	const struct ev_spec *spec = spec__event(*c->start);
	char type[24];

	snprintf(type, sizeof(type), "type %u", *c->start);
	return error__set(error, -EBADMSG,
			  "invalid trace at byte %" PRIu64 " (generation %" PRIu64
			  ", batch %u of thread"
			  " %" PRId64 ", event %" PRIu64 ": %s): %s",
			  batch->offset + batch->head + (uint64_t)(c->start - batch->data),
			  r->gen.number, batch->number, (int64_t)c->at.m,
			  event_number(r, batch, c->start), spec ? spec->name : type, reason);
}

static int report_stuck(const struct reader *r, struct error *error)
{
	const char *behind = r->followed ? NULL : decoder__pending(r->decoder);
	char reason[400];

	snprintf(reason, sizeof(reason),
		 "no thread can advance; %zu are waiting, this one the longest%s%.256s", r->nheap,
		 behind ? "; and after this generation: " : "", behind ? behind : "");
	return broken_at(r, r->heap[0].what, reason, error);
}

/* cursors */

/*
 * Skips an event that only the trace's own description contains. Returns false if there is no
 * description of it, or the bytes do not match it.
 */
static bool skip_described(const struct reader *r, struct cursor *c)
{
	struct buf rest = c->data;
	uint64_t dt;

	if (!r->description || spec__event(c->ev.type) ||
	    !description__skip(r->description, c->ev.type, &rest, &dt))
		return false;
	c->data = rest;
	c->last = (int64_t)((uint64_t)c->last + (uint64_t)generation__ns(&r->gen, dt));
	r->skipped[c->ev.type]++;
	return true;
}

/* Moves to the thread's next batch that is not empty. Returns false at the end. */
static __attribute__((noinline)) bool cursor__next_batch(struct cursor *c)
{
	const struct gen_batch *batch;

	while (!buf__left(&c->data)) {
		c->batch++;
		if (c->release)
			generation__release(c->release, c->thread, c->batch);
		if (c->batch >= c->thread->n)
			return false;
		batch = &c->thread->batch[c->batch];
		c->data = buf__make(batch->data, batch->len);
		c->offset = batch->offset;
		c->last = 0;
	}
	return true;
}

/*
 * Handles an event type that our table lacks: like cursor__next() for the first known event after
 * it.
 */
static __attribute__((noinline)) int cursor__unknown(const struct reader *r, struct cursor *c,
						     struct error *error)
{
	while (skip_described(r, c)) {
		if (!buf__left(&c->data) && !cursor__next_batch(c))
			return 0;
		if (!c->last)
			c->last = generation__ns(&r->gen, c->thread->batch[c->batch].time);
		c->start = c->data.pos;
		buf__u8_at(&c->data, (uint64_t)(c->data.pos - c->data.start), &c->ev.type);
		if (r->nargs[c->ev.type])
			return cursor__next(r, c, error);
		buf__u8(&c->data);
	}
	return broken_at(r, c, "no event of a thread", error);
}

static __attribute__((noinline)) int cursor__report_cut(const struct reader *r,
							const struct cursor *c, struct error *error)
{
	return broken_at(r, c, "its batch ends within it, or a number has more than 64 bits",
			 error);
}

/* Decodes the next event of the thread. Returns 1, 0 at the end, or a negative errno. */
static inline __attribute__((always_inline)) int
cursor__take(const struct reader *r, struct cursor *c, bool fast, struct error *error)
{
	if (__builtin_expect(!buf__left(&c->data), 0) && !cursor__next_batch(c))
		return 0;
	if (__builtin_expect(!c->last, 0))
		c->last = generation__ns(&r->gen, c->thread->batch[c->batch].time);
	c->start = c->data.pos;
	if (__builtin_expect(!buf__event(&c->data, &c->ev.type, r->nargs, c->number, fast), 0))
		return cursor__unknown(r, c, error);
	if (__builtin_expect(c->data.bad, 0))
		return cursor__report_cut(r, c, error);
	c->last = (int64_t)((uint64_t)c->last + (uint64_t)generation__ns(&r->gen, c->number[0]));
	c->ev.time = c->last;
	return 1;
}

__attribute__((noinline)) int cursor__next(const struct reader *r, struct cursor *c,
					   struct error *error)
{
	return cursor__take(r, c, false, error);
}

void cursor__init(struct cursor *c, const struct generation *gen, struct gen_thread *thread)
{
	*c = (struct cursor){
		.thread = thread,
		.batch = SIZE_MAX,
		.ev.arg = &c->number[1],
		.at = { &gen->dictionary, gen->number, thread->m, NULL },
	};
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
		.dictionary = &r->gen.dictionary,
	};
	return 1;
}

/* events */

/* Tries the event of cursor i of the heap and advances the cursor. Returns as order__advance(). */
static inline __attribute__((always_inline)) int
try_cursor(struct reader *r, size_t i, bool fast, struct trace_event *ret, struct error *error)
{
	struct cursor *c = r->heap[i].what;
	int err;

	ret->offset = c->offset;
	ret->dictionary = &r->gen.dictionary;
	ret->sync = NULL;
	err = order__advance(&r->order, &c->ev, &c->at, ret, &r->reason);
	if (__builtin_expect(err <= 0, 0))
		return err == -EBADMSG ? broken_at(r, c, r->reason.text, error) : err;
	err = cursor__take(r, c, fast, error);
	if (__builtin_expect(err <= 0, 0)) {
		if (err)
			return err;
		cursor_heap__remove(r->heap, &r->nheap, i);
		return 1;
	}
	r->heap[i].time = c->ev.time;
	if (!i || cursor_heap__up(r->heap, i) == i)
		cursor_heap__down(r->heap, r->nheap, i);
	return 1;
}

/* Tries the other threads by time, after the earliest had to wait. */
static __attribute__((noinline)) int next_of_others(struct reader *r, struct trace_event *ret,
						    struct error *error)
{
	int err;

	/*
	 * A sorted array is a heap as well. Like Go's reader, skip the first even if the sort
	 * changed it.
	 */
	gosort(r->heap, r->nheap);
	for (size_t i = 1; i < r->nheap; i++) {
		err = try_cursor(r, i, false, ret, error);
		if (err)
			return err;
	}
	return report_stuck(r, error);
}

static inline __attribute__((always_inline)) int
next_of_threads(struct reader *r, bool fast, struct trace_event *ret, struct error *error)
{
	int err = try_cursor(r, 0, fast, ret, error);

	return __builtin_expect(!err, 0) ? next_of_others(r, ret, error) : err;
}

/* Handles everything except an ordinary next event of a thread. */
static __attribute__((noinline)) int next_special(struct reader *r, struct trace_event *ret,
						  struct error *error)
{
	if (r->extra < r->order.extras) {
		*ret = r->order.extra[r->extra++];
		ret->dictionary = &r->gen.dictionary;
		ret->sync = NULL;
		return 1;
	}
	if (r->pending)
		return error__set(error, r->pending, "%s", r->pending_reason.text);
	r->at_sync = false;
	if (!r->nheap && r->sample == r->gen.nsamples)
		return reader__next_generation(r, ret, error);
	if (r->sample < r->gen.nsamples &&
	    (!r->nheap || r->gen.samples[r->sample].time < r->heap[0].time))
		return deliver_sample(r, ret);
	r->order.extras = r->extra = 0;
	return next_of_threads(r, false, ret, error);
}

/* Ends the trace at a corrupt tail if opts.lenient permits that. */
static __attribute__((noinline)) int end_leniently(struct reader *r, int err, struct error *error)
{
	size_t len = strlen(error->text);

	if (err == -ENOMEM)
		return error__set(error, err, "out of memory");
	if (err == -EBADMSG && !r->generations != !r->opts.lenient) /* add the remedy */
		snprintf(error->text + len, sizeof(error->text) - len, "%s",
			 r->opts.lenient ? "; no complete generation precedes it" :
					   " (--lenient reads the part before it)");
	if (!r->opts.lenient || err != -EBADMSG || !r->generations)
		return err;
	r->left_out = *error;
	error->text[0] = '\0';
	r->done = true;
	r->nheap = 0;
	return 0;
}

static inline __attribute__((always_inline)) int
next_event(struct reader *r, bool fast, struct trace_event *ret, struct error *error)
{
	int err;

	if (__builtin_expect(r->at_sync | !r->nheap | (r->order.extras != 0) |
				     (r->sample != r->gen.nsamples),
			     0))
		err = r->done ? 0 : next_special(r, ret, error);
	else
		err = next_of_threads(r, fast, ret, error);
	if (__builtin_expect(err <= 0, 0))
		return err ? end_leniently(r, err, error) : 0;
	if (ret->time <= r->last_time) {
		r->overflow |= r->last_time == INT64_MAX;
		ret->time = (int64_t)((uint64_t)r->last_time + 1);
	}
	r->last_time = ret->time;
	return 1;
}

static int next_plain(struct reader *r, struct trace_event *ret, struct error *error)
{
	return next_event(r, false, ret, error);
}

LEB_FAST static int next_fast(struct reader *r, struct trace_event *ret, struct error *error)
{
	return next_event(r, true, ret, error);
}

static int next_v1(struct reader *r, struct trace_event *ret, struct error *error)
{
	return v1__next(r->v1, ret, error);
}

int reader__next(struct reader *r, struct trace_event *ret, struct error *error)
{
	return r->next(r, ret, error);
}

unsigned int reader__version(const struct reader *r)
{
	return r->version;
}

const char *reader__left_out(const struct reader *r)
{
	return r->left_out.text[0] ? r->left_out.text : NULL;
}

uint64_t reader__skipped(const struct reader *r, uint8_t type, const struct described_event **ret)
{
	if (!r->description)
		return 0;
	*ret = description__event(r->description, type);
	return r->skipped[type];
}

const struct order *reader__order(const struct reader *r)
{
	return r->v1 ? NULL : &r->order;
}

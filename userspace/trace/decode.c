// SPDX-License-Identifier: GPL-2.0
/*
 * Batches of the file to generations: trace/decode.h.
 *
 * Only what makes up a generation is looked at here: batch headers, strings, stacks, CPU samples,
 * the sync batch. Timed events stay bytes, which trace/reader.c takes one by one. A batch is looked
 * at in the input's window; only timed ones are kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/blocks.h"
#include "trace/decode_impl.h"

#define DATA_BLOCK (1u << 20)
#define HEADER_MAX (2 + 4 * 10) /* kind, experiment, and four numbers */

struct decoder *decoder__create(struct input *in, unsigned int version)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (d) {
		d->in = in;
		d->version = version;
	}
	return d;
}

void decoder__destroy(struct decoder *d)
{
	free(d);
}

int generation__init(struct generation *g)
{
	int err;

	*g = (struct generation){ .data = blocks__create(DATA_BLOCK) };
	err = g->data ? dictionary__init(&g->words) : -ENOMEM;
	if (err)
		generation__deinit(g);
	return err;
}

void generation__deinit(struct generation *g)
{
	for (size_t i = 0; i < g->threads_cap; i++)
		free(g->threads[i].batch);
	free(g->threads);
	free(g->samples);
	map__deinit(&g->thread_by_m);
	dictionary__deinit(&g->words);
	blocks__destroy(g->data);
	*g = (struct generation){};
}

/* Empties it for the next one; memory stays. */
static void generation__clear(struct generation *g)
{
	for (size_t i = 0; i < g->nthreads; i++)
		g->threads[i].n = 0;
	g->number = g->batches = g->min_time = 0;
	g->ns_per_tick = 0;
	g->whole_ns = 0;
	g->clock = (struct trace_clock){};
	g->nthreads = g->nsamples = 0;
	map__deinit(&g->thread_by_m);
	dictionary__clear(&g->words);
	blocks__reset(g->data);
}

int batch__broken(struct error *err, const struct decoder *d, const struct batch *b, uint64_t event,
		  const char *fmt, ...)
{
	char text[256], place[64] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (event)
		snprintf(place, sizeof(place), ", event %" PRIu64, event);
	return error__set(err, -EBADMSG,
			  "broken trace at byte %" PRIu64 " (generation %" PRIu64 ", batch %" PRIu64
			  "%s): %s",
			  b->offset + b->head + (uint64_t)(b->data.pos - b->data.start), b->gen,
			  d->batch, place, text);
}

/* The four numbers of a batch's header. */
static int read_header(struct decoder *d, struct batch *b, struct buf *buf, uint64_t *ret_size,
		       struct error *err)
{
	b->gen = buf__uleb(buf);
	b->m = buf__uleb(buf);
	b->time = buf__uleb(buf);
	*ret_size = buf__uleb(buf);
	b->head = (uint64_t)(buf->pos - buf->start);
	if (buf->bad)
		return batch__broken(err, d, b, 0,
				     "a batch's header is cut or has a number of more than "
				     "64 bits");
	if (*ret_size > TRACE_BATCH_MAX)
		return batch__broken(err, d, b, 0, "a batch of %" PRIu64 " bytes; the most is %d",
				     *ret_size, TRACE_BATCH_MAX);
	return 0;
}

int batch__peek(struct decoder *d, struct batch *b, struct error *err)
{
	const unsigned char *window;
	uint64_t size;
	struct buf buf;
	size_t len;
	uint8_t kind;
	int e;

	*b = (struct batch){ .offset = input__offset(d->in) };
	e = input__need(d->in, HEADER_MAX, &window, &len, err);
	if (e || !len)
		return e;
	buf = buf__make(window, len);
	kind = buf__u8(&buf);
	if (kind == EV_END_OF_GENERATION) {
		b->end_of_generation = true;
		b->head = 1;
		return 1;
	}
	if (kind != EV_EVENT_BATCH && kind != EV_EXPERIMENTAL_BATCH)
		return batch__broken(err, d, b, 0, "a batch expected, not event type %u", kind);
	if (kind == EV_EXPERIMENTAL_BATCH) {
		if (len == 1) /* Go's reader takes this cut for a clean end */
			return 0;
		b->experiment = buf__u8(&buf);
	}
	e = read_header(d, b, &buf, &size, err);
	if (e)
		return e;
	e = input__need(d->in, b->head + size, &window, &len, err);
	if (e)
		return e;
	if (len < b->head + size)
		return batch__broken(err, d, b, 0,
				     "the trace ends within a batch: %" PRIu64 " bytes of %" PRIu64,
				     (uint64_t)len - b->head, size);
	b->data = buf__make(window + b->head, size);
	return 1;
}

void batch__consume(struct decoder *d, const struct batch *b)
{
	input__consume(d->in, b->head + (size_t)(b->data.end - b->data.start));
}

static struct gen_thread *thread_of(struct generation *g, uint64_t m)
{
	size_t n = (uintptr_t)map__get(&g->thread_by_m, m), cap;
	struct gen_thread *bigger;

	if (n)
		return &g->threads[n - 1];
	if (g->nthreads == g->threads_cap) {
		cap = g->threads_cap ? g->threads_cap * 2 : 16;
		bigger = realloc(g->threads, cap * sizeof(*bigger));
		if (!bigger)
			return NULL;
		memset(bigger + g->threads_cap, 0, (cap - g->threads_cap) * sizeof(*bigger));
		g->threads = bigger;
		g->threads_cap = cap;
	}
	if (map__put(&g->thread_by_m, m, (void *)((uintptr_t)g->nthreads + 1)))
		return NULL;
	g->threads[g->nthreads].m = m;
	return &g->threads[g->nthreads++];
}

static int keep_events(struct decoder *d, struct generation *g, const struct batch *b)
{
	struct gen_thread *thread = thread_of(g, b->m);
	size_t len = (size_t)(b->data.end - b->data.start), cap;
	struct gen_batch *bigger;
	void *data = blocks__take(g->data, len);

	if (!thread || !data)
		return -ENOMEM;
	if (thread->n == thread->cap) {
		cap = thread->cap ? thread->cap * 2 : 4;
		bigger = realloc(thread->batch, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		thread->batch = bigger;
		thread->cap = cap;
	}
	memcpy(data, b->data.start, len);
	thread->batch[thread->n++] = (struct gen_batch){
		.time = b->time,
		.offset = b->offset,
		.data = data,
		.len = (uint32_t)len,
		.head = (uint32_t)b->head,
		.number = (uint32_t)d->batch,
	};
	return 0;
}

/* The first byte of a batch's data decides what it is. */
static int add_batch(struct decoder *d, struct generation *g, struct batch *b, struct error *err)
{
	uint8_t kind = 0;

	if (!g->batches++)
		g->offset = b->offset;
	if (!g->min_time || b->time < g->min_time)
		g->min_time = b->time;
	if (b->experiment) /* of a format of its own; no event of the trace */
		return 0;
	buf__u8_at(&b->data, 0, &kind);
	switch (kind) {
	case EV_STRINGS:
		return batch__read_strings(d, g, b, err);
	case EV_STACKS:
		return batch__read_stacks(d, g, b, err);
	case EV_CPU_SAMPLES:
		return batch__read_samples(d, g, b, err);
	case EV_END_OF_GENERATION:
		return batch__broken(err, d, b, 1, "an end of generation within a batch");
	}
	if (kind == (d->version >= 25 ? EV_SYNC : EV_FREQUENCY))
		return batch__read_sync(d, g, b, err);
	return keep_events(d, g, b);
}

/* What can be said only when all of its batches are there. */
static int finish(struct decoder *d, struct generation *g, struct error *err)
{
	const struct trace_frame *frame;

	if (!g->batches)
		return error__set(err, -EBADMSG, "broken trace: it ends after its header");
	if (g->ns_per_tick == 0)
		return error__set(err, -EBADMSG,
				  "broken trace at byte %" PRIu64 ": no frequency in "
				  "generation %" PRIu64,
				  input__offset(d->in), g->number);
	if (d->version >= 25 && !g->clock.known)
		return error__set(err, -EBADMSG,
				  "broken trace at byte %" PRIu64 ": no clock "
				  "snapshot in generation %" PRIu64,
				  input__offset(d->in), g->number);
	frame = dictionary__bad_frame(&g->words);
	if (frame)
		return error__set(err, -EBADMSG,
				  "broken trace before byte %" PRIu64 ": a stack of "
				  "generation %" PRIu64 " names function %" PRIu64
				  " and file %" PRIu64 ", and one is no string of it",
				  input__offset(d->in), g->number, frame->func, frame->file);
	g->clock.time = generation__ns(g, (uint64_t)g->clock.time);
	return g->nsamples ? generation__sort_samples(g) : 0;
}

/*
 * Takes the batches of headers before 1.26. 0, or BATCH_TRACE_ENDS. A generation ends where the next one's first batch
 * begins, or with the file. What is wrong behind its first batch is reported after it.
 */
static int read_until_next(struct decoder *d, struct generation *g, struct error *err)
{
	struct batch b;
	int e;

	for (d->batch = 1;; d->batch++) {
		e = batch__peek(d, &b, g->number ? &d->reason : err);
		if (e < 0 && !g->number)
			return e;
		if (e <= 0) {
			d->pending = e;
			d->ended = true;
			return 0;
		}
		if (!b.gen)
			return batch__broken(err, d, &b, 0, "generation number 0");
		if (!g->number)
			g->number = b.gen;
		if (b.gen == g->number + 1)
			return 0;
		if (b.gen != g->number)
			return batch__broken(err, d, &b, 0,
					     "generations out of order: %" PRIu64
					     " follows %" PRIu64,
					     b.gen, g->number);
		e = add_batch(d, g, &b, err);
		if (e)
			return e;
		batch__consume(d, &b);
	}
}

/*
 * Takes the batches of header 1.26, up to the end mark, which Go's reader also takes as the first byte
 * of a batch. 0, or BATCH_TRACE_ENDS: before any.
 */
static int read_until_mark(struct decoder *d, struct generation *g, struct error *err)
{
	struct batch b;
	uint8_t first;
	int e;

	for (d->batch = 1;; d->batch++) {
		e = batch__peek(d, &b, err);
		if (e < 0)
			return e;
		if (!e && g->nthreads)
			return error__set(err, -EBADMSG,
					  "broken trace: it ends at byte %" PRIu64
					  " within generation %" PRIu64
					  ", whose end mark is missing",
					  input__offset(d->in), g->number);
		if (!e)
			return BATCH_TRACE_ENDS;
		first = 0;
		buf__u8_at(&b.data, 0, &first);
		if (b.end_of_generation || (!b.experiment && first == EV_END_OF_GENERATION)) {
			batch__consume(d, &b);
			return 0;
		}
		if (!b.gen)
			return batch__broken(err, d, &b, 0, "generation number 0");
		if (!g->number)
			g->number = b.gen;
		if (b.gen != g->number)
			return batch__broken(err, d, &b, 0,
					     "no end mark before it, or generations are "
					     "interleaved: %" PRIu64 " follows %" PRIu64,
					     b.gen, g->number);
		e = add_batch(d, g, &b, err);
		if (e)
			return e;
		batch__consume(d, &b);
	}
}

int decoder__next(struct decoder *d, struct generation *g, struct error *err)
{
	struct error unfinished = {};
	int e;

	if (d->pending)
		return error__set(err, d->pending, "%s", d->reason.text);
	if (d->ended)
		return 0;
	generation__clear(g);
	e = d->version < 26 ? read_until_next(d, g, err) : read_until_mark(d, g, err);
	if (e == BATCH_TRACE_ENDS) {
		generation__clear(g);
		d->ended = true;
		return 0;
	}
	if (e)
		return e;
	e = finish(d, g, &unfinished);
	if (!e)
		return 1;
	/* What ended it early says more than what is missing in it. */
	if (d->pending)
		return error__set(err, d->pending, "%s", d->reason.text);
	return error__set(err, e, "%s", unfinished.text);
}

const char *decoder__pending(const struct decoder *d)
{
	return d->pending ? d->reason.text : NULL;
}

int decoder__seek(struct decoder *d, uint64_t offset, struct error *err)
{
	d->ended = false;
	d->pending = 0;
	return input__seek(d->in, offset, err);
}

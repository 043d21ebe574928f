// SPDX-License-Identifier: GPL-2.0
/*
 * Splits a v2 trace into generations: see reader/decode.h.
 *
 * This file parses batch headers and collects the batches of a generation; decode_tables.c decodes
 * the tables and clocks. Timed events remain encoded until reader/reader.c takes them one by one.
 * Batches are parsed in the window of the input; only those with timed events are copied.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "reader/decode_impl.h"

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

void decoder__as_go(struct decoder *d)
{
	d->as_go = true;
}

void generation__init(struct generation *g, struct block_pool *pool)
{
	*g = (struct generation){ .pool = pool };
	dictionary__init(&g->dictionary);
}

void generation__release(struct generation *g, struct gen_thread *thread, size_t n)
{
	for (; thread->released < n; thread->released++)
		block__release(g->pool, thread->batch[thread->released].block);
}

static void release_all(struct generation *g)
{
	for (size_t i = 0; i < g->nthreads; i++)
		generation__release(g, &g->threads[i], g->threads[i].n);
	block_pool__end(g->pool, &g->filled);
}

void generation__deinit(struct generation *g)
{
	release_all(g);
	for (size_t i = 0; i < g->threads_cap; i++)
		free(g->threads[i].batch);
	free(g->threads);
	free(g->samples);
	map__deinit(&g->thread_by_m);
	dictionary__deinit(&g->dictionary);
	*g = (struct generation){};
}

void generation__clear(struct generation *g)
{
	release_all(g);
	for (size_t i = 0; i < g->nthreads; i++)
		g->threads[i].n = g->threads[i].released = 0;
	g->number = g->batches = g->min_time = g->bytes = 0;
	g->ns_per_tick = 0;
	g->whole_ns = 0;
	g->clock = (struct trace_clock){};
	g->nthreads = g->nsamples = 0;
	map__deinit(&g->thread_by_m);
	dictionary__clear(&g->dictionary);
}

int batch__broken(struct error *error, const struct decoder *d, const struct batch *b,
		  uint64_t event, const char *fmt, ...)
{
	char text[256], place[64] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (event)
		snprintf(place, sizeof(place), ", event %" PRIu64, event);
	return error__set(error, -EBADMSG,
			  "invalid trace at byte %" PRIu64 " (generation %" PRIu64
			  ", batch %" PRIu64 "%s): %s",
			  b->offset + b->head + (uint64_t)(b->data.pos - b->data.start), b->gen,
			  d->batch, place, text);
}

/* Reads the four numbers of a batch header. */
static int read_header(struct decoder *d, struct batch *b, struct buf *buf, uint64_t *ret_size,
		       struct error *error)
{
	b->gen = buf__uleb(buf);
	b->m = buf__uleb(buf);
	b->time = buf__uleb(buf);
	*ret_size = buf__uleb(buf);
	b->head = (uint64_t)(buf->pos - buf->start);
	if (buf->bad)
		return batch__broken(error, d, b, 0,
				     "a batch's header is truncated or has a number of more than "
				     "64 bits");
	if (*ret_size > TRACE_BATCH_MAX)
		return batch__broken(error, d, b, 0,
				     "a batch of %" PRIu64 " bytes; the limit is %d", *ret_size,
				     TRACE_BATCH_MAX);
	return 0;
}

int batch__peek(struct decoder *d, struct batch *b, struct error *error)
{
	const unsigned char *window;
	uint64_t size;
	struct buf buf;
	size_t len;
	uint8_t kind;
	int err;

	*b = (struct batch){ .offset = input__offset(d->in) };
	err = input__need(d->in, HEADER_MAX, &window, &len, error);
	if (err || !len)
		return err;
	buf = buf__make(window, len);
	kind = buf__u8(&buf);
	if (kind == EV_END_OF_GENERATION) {
		b->end_of_generation = true;
		b->head = 1;
		return 1;
	}
	if (kind != EV_EVENT_BATCH && kind != EV_EXPERIMENTAL_BATCH)
		return batch__broken(error, d, b, 0, "expected a batch, found event type %u", kind);
	if (kind == EV_EXPERIMENTAL_BATCH) {
		if (len == 1) /* Go's reader treats this truncation as the end of the trace */
			return 0;
		b->experiment = buf__u8(&buf);
	}
	err = read_header(d, b, &buf, &size, error);
	if (err)
		return err;
	err = input__need(d->in, b->head + size, &window, &len, error);
	if (err)
		return err;
	if (len < b->head + size)
		return batch__broken(error, d, b, 0,
				     "the trace ends within a batch: %" PRIu64 " bytes of %" PRIu64,
				     (uint64_t)len - b->head, size);
	b->data = buf__make(window + b->head, size);
	return 1;
}

void batch__consume(struct decoder *d, const struct batch *b)
{
	input__consume(d->in, b->head + (size_t)(b->data.end - b->data.start));
}

static struct gen_thread *get_thread(struct generation *g, uint64_t m)
{
	size_t n = (uintptr_t)map__get(&g->thread_by_m, m);

	if (n)
		return &g->threads[n - 1];
	if (array__grow_cleared(&g->threads, g->nthreads, &g->threads_cap, sizeof(*g->threads)) ||
	    map__put(&g->thread_by_m, m, (void *)((uintptr_t)g->nthreads + 1)))
		return NULL;
	g->threads[g->nthreads].m = m;
	return &g->threads[g->nthreads++];
}

static int keep_events(struct decoder *d, struct generation *g, const struct batch *b)
{
	struct gen_thread *thread = get_thread(g, b->m);
	size_t len = (size_t)(b->data.end - b->data.start);
	struct block *block;
	void *data;

	if (!thread || array__grow(&thread->batch, thread->n, &thread->cap, sizeof(*thread->batch)))
		return -ENOMEM;
	data = block_pool__alloc(g->pool, &g->filled, len, &block);
	if (!data)
		return -ENOMEM;
	memcpy(data, b->data.start, len);
	g->bytes += len;
	thread->batch[thread->n++] = (struct gen_batch){
		.time = b->time,
		.offset = b->offset,
		.data = data,
		.len = (uint32_t)len,
		.head = (uint32_t)b->head,
		.number = (uint32_t)d->batch,
		.block = block,
	};
	return 0;
}

/* Adds a batch to the generation, according to the first byte of its data. */
static int add_batch(struct decoder *d, struct generation *g, struct batch *b, struct error *error)
{
	uint8_t kind = 0;

	if (!g->batches++)
		g->offset = b->offset;
	if (!g->min_time || b->time < g->min_time)
		g->min_time = b->time;
	/* Has the format of the experiment, and contains no events of the trace. */
	if (b->experiment == EXPERIMENT_ALLOC_FREE)
		return dictionary__add_experiment(&g->dictionary, b->data.start,
						  (size_t)(b->data.end - b->data.start));
	if (b->experiment)
		return 0;
	buf__u8_at(&b->data, 0, &kind);
	switch (kind) {
	case EV_STRINGS:
		return batch__read_table(d, g, b, EV_STRING, error);
	case EV_STACKS:
		return batch__read_table(d, g, b, EV_STACK, error);
	case EV_CPU_SAMPLES:
		return batch__read_table(d, g, b, EV_CPU_SAMPLE, error);
	case EV_END_OF_GENERATION:
		return batch__broken(error, d, b, 1, "end of generation within a batch");
	}
	if (kind == (d->version >= 25 ? EV_SYNC : EV_FREQUENCY))
		return batch__read_sync(d, g, b, error);
	return keep_events(d, g, b);
}

/* Makes the checks that require all batches of the generation. */
static int check_complete(struct decoder *d, struct generation *g, struct error *error)
{
	const struct trace_frame *frame;

	if (!g->batches)
		return error__set(error, -EBADMSG, "invalid trace: it ends after its header");
	if (g->ns_per_tick == 0)
		return error__set(error, -EBADMSG,
				  "invalid trace at byte %" PRIu64 ": no frequency in "
				  "generation %" PRIu64,
				  input__offset(d->in), g->number);
	if (d->version >= 25 && !g->clock.known)
		return error__set(error, -EBADMSG,
				  "invalid trace at byte %" PRIu64 ": no clock "
				  "snapshot in generation %" PRIu64,
				  input__offset(d->in), g->number);
	frame = dictionary__bad_frame(&g->dictionary);
	if (frame)
		return error__set(error, -EBADMSG,
				  "invalid trace before byte %" PRIu64
				  ": a stack of generation %" PRIu64 " refers to function %" PRIu64
				  " and file %" PRIu64 ", which are not both in its string table",
				  input__offset(d->in), g->number, frame->func, frame->file);
	g->clock.time = generation__ns(g, (uint64_t)g->clock.time);
	if (d->version < 25 && !d->as_go && generation__add_private(g, d->version))
		return error__set(error, -ENOMEM, "out of memory");
	return g->nsamples ? generation__sort_samples(g) : 0;
}

/*
 * Reads the batches of a generation with a header before 1.26. It ends with the file, or before the
 * first batch of the next generation; an error in that batch is returned after this generation.
 * Returns 0, BATCH_TRACE_ENDS or a negative errno.
 */
static int read_until_next(struct decoder *d, struct generation *g, struct error *error)
{
	struct batch b;
	int err;

	for (d->batch = 1;; d->batch++) {
		err = batch__peek(d, &b, g->number ? &d->reason : error);
		if (err < 0 && !g->number)
			return err;
		if (err <= 0) {
			d->pending = err;
			d->ended = true;
			return 0;
		}
		if (!b.gen)
			return batch__broken(error, d, &b, 0, "generation number 0");
		if (!g->number)
			g->number = b.gen;
		if (b.gen == g->number + 1)
			return 0;
		if (b.gen != g->number)
			return batch__broken(error, d, &b, 0,
					     "generations out of order: %" PRIu64
					     " follows %" PRIu64,
					     b.gen, g->number);
		err = add_batch(d, g, &b, error);
		if (err)
			return err;
		batch__consume(d, &b);
	}
}

/*
 * Reads the batches of a generation with header 1.26, up to the end mark. Go's reader accepts the
 * mark also as the first byte of a batch. Returns 0, a negative errno, or BATCH_TRACE_ENDS if there
 * are no more batches.
 */
static int read_until_mark(struct decoder *d, struct generation *g, struct error *error)
{
	struct batch b;
	uint8_t first;
	int err;

	for (d->batch = 1;; d->batch++) {
		err = batch__peek(d, &b, error);
		if (err < 0)
			return err;
		if (!err && g->nthreads)
			return error__set(error, -EBADMSG,
					  "invalid trace: it ends at byte %" PRIu64
					  " within generation %" PRIu64
					  ", whose EndOfGeneration event is missing",
					  input__offset(d->in), g->number);
		if (!err)
			return BATCH_TRACE_ENDS;
		first = 0;
		buf__u8_at(&b.data, 0, &first);
		if (b.end_of_generation || (!b.experiment && first == EV_END_OF_GENERATION)) {
			batch__consume(d, &b);
			return 0;
		}
		if (!b.gen)
			return batch__broken(error, d, &b, 0, "generation number 0");
		if (!g->number)
			g->number = b.gen;
		if (b.gen != g->number)
			return batch__broken(
				error, d, &b, 0,
				"missing EndOfGeneration event before it, or interleaved "
				"generations: %" PRIu64 " follows %" PRIu64,
				b.gen, g->number);
		err = add_batch(d, g, &b, error);
		if (err)
			return err;
		batch__consume(d, &b);
	}
}

int decoder__next(struct decoder *d, struct generation *g, struct error *error)
{
	struct error unfinished = {};
	int err;

	if (d->pending)
		return error__set(error, d->pending, "%s", d->reason.text);
	if (d->ended)
		return 0;
	generation__clear(g);
	err = d->version < 26 ? read_until_next(d, g, error) : read_until_mark(d, g, error);
	if (err == BATCH_TRACE_ENDS) {
		generation__clear(g);
		d->ended = true;
		return 0;
	}
	if (err)
		return err;
	err = check_complete(d, g, &unfinished);
	if (!err)
		return 1;
	/* The reason for the early end is more useful than what is missing because of it. */
	if (d->pending)
		return error__set(error, d->pending, "%s", d->reason.text);
	return error__set(error, err, "%s", unfinished.text);
}

int decoder__repeat(struct decoder *d, uint64_t offset, struct generation *g, struct error *error)
{
	const struct decoder now = *d;
	uint64_t position = input__offset(d->in);
	int ret, err;

	ret = decoder__seek(d, offset, error);
	if (ret)
		return ret;
	ret = decoder__next(d, g, error);
	err = input__seek(d->in, position, error);
	*d = now;
	return err ?: ret;
}

const char *decoder__pending(const struct decoder *d)
{
	return d->pending ? d->reason.text : NULL;
}

int decoder__seek(struct decoder *d, uint64_t offset, struct error *error)
{
	d->ended = false;
	d->pending = 0;
	return input__seek(d->in, offset, error);
}

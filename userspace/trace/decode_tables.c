// SPDX-License-Identifier: GPL-2.0
/*
 * What is in a batch that is no thread's: strings, stacks, CPU samples, clocks.
 *
 * The part of trace/decode.c about the tables of a generation. Such batches are taken apart where they
 * lie in the input's window, and nothing of them is kept but the dictionary.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/decode_impl.h"
#include "trace/gosort.h"

/* Checks the event type in front of each entry of a table. */
static int expect(struct decoder *d, struct batch *b, uint8_t type, uint64_t n, struct error *err)
{
	uint8_t found = buf__u8(&b->data);

	if (found == type)
		return 0;
	return batch__broken(err, d, b, n, "event type %u in a batch of %ss", found,
			     spec__event(type)->name);
}

/*
 * A number of a table, or nothing: a batch that ends where a number should begin is to Go's reader
 * the end of the trace, as if the generation were not there (it hands on the io.EOF of the batch).
 */
static uint64_t number(struct batch *b)
{
	if (!buf__left(&b->data) && !b->data.bad)
		b->ended = true;
	return buf__uleb(&b->data);
}

static int cut(const struct decoder *d, const struct batch *b, uint64_t n, struct error *err)
{
	if (b->ended)
		return BATCH_TRACE_ENDS;
	return batch__broken(err, d, b, n,
			     "its batch ends within it, or a number has more than 64 bits");
}

int batch__read_strings(struct decoder *d, struct generation *g, struct batch *b, struct error *err)
{
	uint64_t n, id, len;
	const void *bytes;
	int e;

	buf__u8(&b->data);
	for (n = 1; buf__left(&b->data); n++) {
		e = expect(d, b, EV_STRING, n, err);
		if (e)
			return e;
		id = number(b);
		len = number(b);
		if (len > TRACE_STRING_MAX && !b->data.bad)
			return batch__broken(err, d, b, n,
					     "a string of %" PRIu64 " bytes; the most is %d", len,
					     TRACE_STRING_MAX);
		bytes = buf__take(&b->data, len);
		if (b->data.bad)
			return cut(d, b, n, err);
		e = dictionary__add_string(&g->words, id, bytes, len);
		if (e == -EEXIST)
			return batch__broken(err, d, b, n,
					     "string %" PRIu64 " is defined twice, or is 0", id);
		if (e)
			return e;
	}
	return 0;
}

int batch__read_stacks(struct decoder *d, struct generation *g, struct batch *b, struct error *err)
{
	struct trace_frame frame[TRACE_STACK_MAX];
	uint64_t n, i, id, frames;
	int e;

	buf__u8(&b->data);
	for (n = 1; buf__left(&b->data); n++) {
		e = expect(d, b, EV_STACK, n, err);
		if (e)
			return e;
		id = number(b);
		frames = number(b);
		if (frames > TRACE_STACK_MAX && !b->data.bad)
			return batch__broken(err, d, b, n,
					     "a stack of %" PRIu64 " frames; the most is %d",
					     frames, TRACE_STACK_MAX);
		for (i = 0; i < frames && !b->data.bad; i++) {
			frame[i].pc = buf__uleb(&b->data);
			frame[i].func = buf__uleb(&b->data);
			frame[i].file = buf__uleb(&b->data);
			frame[i].line = buf__uleb(&b->data);
		}
		if (b->data.bad)
			return cut(d, b, n, err);
		e = dictionary__add_stack(&g->words, id, frame, frames);
		if (e == -EEXIST)
			return batch__broken(err, d, b, n,
					     "stack %" PRIu64 " is defined twice, or is 0", id);
		if (e)
			return e;
	}
	return 0;
}

static int add_sample(struct generation *g, const struct gen_sample *sample)
{
	size_t cap = g->samples_cap ? g->samples_cap * 2 : 64;
	struct gen_sample *bigger;

	if (g->nsamples == g->samples_cap) {
		bigger = realloc(g->samples, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		g->samples = bigger;
		g->samples_cap = cap;
	}
	g->samples[g->nsamples++] = *sample;
	return 0;
}

/* Their times stay ticks until the frequency is known. */
int batch__read_samples(struct decoder *d, struct generation *g, struct batch *b, struct error *err)
{
	struct gen_sample s;
	uint64_t n;
	int e;

	buf__u8(&b->data);
	for (n = 1; buf__left(&b->data); n++) {
		e = expect(d, b, EV_CPU_SAMPLE, n, err);
		if (e)
			return e;
		s.time = (int64_t)number(b);
		s.m = number(b);
		s.p = number(b);
		s.g = number(b);
		s.stack = number(b);
		if (b->data.bad)
			return cut(d, b, n, err);
		if (!s.g)
			s.g = TRACE_NO_G;
		e = add_sample(g, &s);
		if (e)
			return e;
	}
	return 0;
}

static int read_frequency(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
			  struct error *err)
{
	uint64_t freq = number(b);

	if (g->ns_per_tick != 0)
		return batch__broken(err, d, b, n, "a second frequency in one generation");
	g->ns_per_tick = 1.0 / ((double)freq / 1e9);
	if (g->ns_per_tick >= 1 && g->ns_per_tick < 1 << 20 &&
	    g->ns_per_tick == (uint32_t)g->ns_per_tick)
		g->whole_ns = (uint32_t)g->ns_per_tick;
	return 0;
}

/* *time: ticks, of the entry before. The clock's time stays ticks until the frequency is known. */
static int read_clock(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
		      uint64_t *time, struct error *err)
{
	if (g->clock.known)
		return batch__broken(err, d, b, n, "a second clock snapshot in one generation");
	*time += number(b);
	g->clock.known = true;
	g->clock.time = (int64_t)*time;
	g->clock.mono = number(b);
	g->clock.sec = number(b);
	g->clock.nsec = number(b);
	return 0;
}

int batch__read_sync(struct decoder *d, struct generation *g, struct batch *b, struct error *err)
{
	uint64_t n, time = b->time;
	uint8_t type;
	int e;

	if (d->version >= 25)
		buf__u8(&b->data);
	for (n = 1; buf__left(&b->data); n++) {
		type = buf__u8(&b->data);
		if (type == EV_FREQUENCY)
			e = read_frequency(d, g, b, n, err);
		else if (type == EV_CLOCK_SNAPSHOT && d->version >= 25)
			e = read_clock(d, g, b, n, &time, err);
		else
			e = batch__broken(err, d, b, n, "event type %u in a sync batch", type);
		if (!e && b->data.bad)
			e = cut(d, b, n, err);
		if (e)
			return e;
	}
	return 0;
}

int generation__sort_samples(struct generation *g)
{
	struct gosort_item *item = malloc(g->nsamples * sizeof(*item));
	struct gen_sample *sorted = malloc(g->nsamples * sizeof(*sorted));
	size_t i;

	if (!item || !sorted) {
		free(item);
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < g->nsamples; i++) {
		g->samples[i].time = generation__ns(g, (uint64_t)g->samples[i].time);
		item[i] = (struct gosort_item){ g->samples[i].time, &g->samples[i] };
	}
	gosort(item, g->nsamples);
	for (i = 0; i < g->nsamples; i++)
		sorted[i] = *(struct gen_sample *)item[i].what;
	free(g->samples);
	free(item);
	g->samples = sorted;
	g->samples_cap = g->nsamples;
	return 0;
}

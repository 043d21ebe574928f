// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes batches that do not belong to a thread: strings, stacks, CPU samples, clocks.
 *
 * Called by reader/decode.c. The batches are decoded in the window of the input; only the resulting
 * entries are kept, in the dictionary and in struct generation.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/gosort.h"
#include "lib/array.h"
#include "reader/decode_impl.h"

/*
 * Reads a number. If the batch ends before it, Go's reader ends the trace and drops the generation,
 * because it returns the io.EOF of the batch; b->ended records that.
 */
static uint64_t take_number(struct batch *b)
{
	if (!buf__left(&b->data) && !b->data.bad)
		b->ended = true;
	return buf__uleb(&b->data);
}

static int report_cut(const struct decoder *d, const struct batch *b, uint64_t n,
		      struct error *error)
{
	if (b->ended)
		return BATCH_TRACE_ENDS;
	return batch__broken(error, d, b, n,
			     "its batch ends within it, or a number has more than 64 bits");
}

static int read_string(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
		       struct error *error)
{
	uint64_t id = take_number(b), len = take_number(b);
	const void *bytes;
	int err;

	if (len > TRACE_STRING_MAX && !b->data.bad)
		return batch__broken(error, d, b, n,
				     "a string of %" PRIu64 " bytes; the limit is %d", len,
				     TRACE_STRING_MAX);
	bytes = buf__take(&b->data, len);
	if (b->data.bad)
		return report_cut(d, b, n, error);
	err = dictionary__add_string(&g->dictionary, id, bytes, len);
	if (err == -EEXIST)
		return batch__broken(error, d, b, n, "string %" PRIu64 " is defined twice, or is 0",
				     id);
	return err;
}

static int read_stack(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
		      struct error *error)
{
	uint64_t id = take_number(b), frames = take_number(b), i;
	struct trace_frame frame[TRACE_STACK_MAX];
	int err;

	if (frames > TRACE_STACK_MAX && !b->data.bad)
		return batch__broken(error, d, b, n,
				     "a stack of %" PRIu64 " frames; the limit is %d", frames,
				     TRACE_STACK_MAX);
	for (i = 0; i < frames && !b->data.bad; i++) {
		frame[i].pc = buf__uleb(&b->data);
		frame[i].func = buf__uleb(&b->data);
		frame[i].file = buf__uleb(&b->data);
		frame[i].line = buf__uleb(&b->data);
	}
	if (b->data.bad)
		return report_cut(d, b, n, error);
	err = dictionary__add_stack(&g->dictionary, id, frame, frames);
	if (err == -EEXIST)
		return batch__broken(error, d, b, n, "stack %" PRIu64 " is defined twice, or is 0",
				     id);
	return err;
}

/* Sample times remain in ticks until the frequency is known. */
static int read_sample(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
		       struct error *error)
{
	struct gen_sample s = { .time = (int64_t)take_number(b) };

	s.m = take_number(b);
	s.p = take_number(b);
	s.g = take_number(b);
	s.stack = take_number(b);
	if (b->data.bad)
		return report_cut(d, b, n, error);
	if (!s.g)
		s.g = TRACE_NO_G;
	if (array__grow(&g->samples, g->nsamples, &g->samples_cap, sizeof(*g->samples)))
		return -ENOMEM;
	g->samples[g->nsamples++] = s;
	return 0;
}

int batch__read_table(struct decoder *d, struct generation *g, struct batch *b, enum ev type,
		      struct error *error)
{
	uint8_t found;
	int err = 0;

	buf__u8(&b->data);
	for (uint64_t n = 1; !err && buf__left(&b->data); n++) {
		found = buf__u8(&b->data);
		if (found != type)
			err = batch__broken(error, d, b, n, "event type %u in a batch of %ss",
					    found, spec__event(type)->name);
		else if (type == EV_STRING)
			err = read_string(d, g, b, n, error);
		else if (type == EV_STACK)
			err = read_stack(d, g, b, n, error);
		else
			err = read_sample(d, g, b, n, error);
	}
	return err;
}

static int read_frequency(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
			  struct error *error)
{
	uint64_t freq = take_number(b);

	if (g->ns_per_tick != 0)
		return batch__broken(error, d, b, n, "a second frequency in one generation");
	g->ns_per_tick = 1.0 / ((double)freq / 1e9);
	if (g->ns_per_tick >= 1 && g->ns_per_tick < 1 << 20 &&
	    g->ns_per_tick == (uint32_t)g->ns_per_tick)
		g->whole_ns = (uint32_t)g->ns_per_tick;
	return 0;
}

/*
 * *time: ticks, of the previous entry. The time of the clock remains in ticks until the frequency
 * is known.
 */
static int read_clock(struct decoder *d, struct generation *g, struct batch *b, uint64_t n,
		      uint64_t *time, struct error *error)
{
	if (g->clock.known)
		return batch__broken(error, d, b, n, "a second clock snapshot in one generation");
	*time += take_number(b);
	g->clock.known = true;
	g->clock.time = (int64_t)*time;
	g->clock.mono = take_number(b);
	g->clock.sec = take_number(b);
	g->clock.nsec = take_number(b);
	return 0;
}

int batch__read_sync(struct decoder *d, struct generation *g, struct batch *b, struct error *error)
{
	uint64_t n, time = b->time;
	uint8_t type;
	int err;

	if (d->version >= 25)
		buf__u8(&b->data);
	for (n = 1; buf__left(&b->data); n++) {
		type = buf__u8(&b->data);
		if (type == EV_FREQUENCY)
			err = read_frequency(d, g, b, n, error);
		else if (type == EV_CLOCK_SNAPSHOT && d->version >= 25)
			err = read_clock(d, g, b, n, &time, error);
		else
			err = batch__broken(error, d, b, n, "event type %u in a sync batch", type);
		if (!err && b->data.bad)
			err = report_cut(d, b, n, error);
		if (err)
			return err;
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

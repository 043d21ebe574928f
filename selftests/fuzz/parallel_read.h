/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace in memory with a number of jobs, and keeps all that must not depend on that number:
 * the result, events by type, and the state afterwards. For a unit test and a fuzz target.
 */
#ifndef SELFTESTS_PARALLEL_READ_H
#define SELFTESTS_PARALLEL_READ_H

#include <stdlib.h>
#include <string.h>

#include "lib/outbuf.h"
#include "reader/order_save.h"
#include "reader/parallel.h"

struct outcome {
	uint64_t events[EV_END];
	int64_t end;
	int code;
	char text[512], left_out[512];
	struct outbuf state; /* order__save(); empty if the trace was not read to its end */
	unsigned int again;  /* generations that had to be read again, and 1 for the end */
};

struct event_counts {
	uint64_t of[EV_END], all;
};

static struct reader *callers; /* the reader that was passed to parallel__read() */
static unsigned int again;     /* times that it was read */

static inline int count_by_type(void *result, struct reader *r, struct error *error)
{
	struct event_counts *n = result;
	struct trace_event ev;
	int err;

	again += r == callers;
	while ((err = reader__next(r, &ev, error)) > 0) {
		n->of[ev.type]++;
		n->all++;
	}
	return err;
}

static inline uint64_t all_events(const void *result)
{
	return ((const struct event_counts *)result)->all;
}

struct event_total {
	struct event_counts counts; /* where count_by_type() stores them without jobs */
	int64_t end;
};

static inline void add_events(void *total, const void *result, int64_t end)
{
	const struct event_counts *from = result;
	struct event_total *to = total;

	for (size_t i = 0; i < EV_END; i++)
		to->counts.of[i] += from->of[i];
	to->counts.all += from->all;
	if (from->all)
		to->end = end;
}

/* The input is consumed. The caller frees ret->state. */
static inline void read_with_jobs(struct input *in, bool lenient, unsigned int jobs,
				  struct outcome *ret)
{
	static const struct parallel_ops ops = { sizeof(struct event_total), count_by_type,
						 all_events, add_events };
	const struct reader_opts opts = { .lenient = lenient };
	struct event_total total = {};
	struct error err = {};
	struct reader *r;

	memset(ret, 0, sizeof(*ret));
	ret->code = reader__open(&r, in, &opts, &err);
	if (!ret->code) {
		callers = r;
		again = 0;
		ret->code = parallel__read(r, jobs, &ops, &total, &err);
		ret->again = again;
		memcpy(ret->events, total.counts.of, sizeof(ret->events));
		ret->end = total.end;
		if (reader__left_out(r))
			snprintf(ret->left_out, sizeof(ret->left_out), "%s", reader__left_out(r));
		else if (!ret->code && reader__order(r) &&
			 order__save(reader__order(r), &ret->state))
			abort();
		reader__destroy(r);
	}
	snprintf(ret->text, sizeof(ret->text), "%s", err.text);
}

/* What differs, or NULL. `end` is known only with several jobs. */
static inline const char *differing(const struct outcome *a, const struct outcome *b)
{
	if (a->code != b->code)
		return "the result";
	if (strcmp(a->text, b->text))
		return "the message";
	if (strcmp(a->left_out, b->left_out))
		return "what was left out";
	if (memcmp(a->events, b->events, sizeof(a->events)))
		return "the number of events";
	if (a->state.len != b->state.len ||
	    (a->state.len && memcmp(a->state.data, b->state.data, a->state.len)))
		return "the state at the end";
	return NULL;
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The begin of each generation that a reader delivers: cursors for its threads, the sync event, and
 * the positions at which another reader can begin.
 *
 * Upstream: reader/decode.c, or the thread of reader/parallel.c that has decoded the generation.
 * Downstream: reader/reader.c, which merges the events of the threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/describe.h"
#include "format/parked_read.h"
#include "format/private_read.h"
#include "reader/reader_impl.h"

static int make_cursors(struct reader *r, struct error *error)
{
	size_t i, n = r->gen.nthreads;
	struct cursor *c;
	int err;

	if (n > r->cursors_cap) {
		free(r->cursors);
		free(r->heap);
		r->cursors = calloc(n, sizeof(*r->cursors));
		r->heap = calloc(n, sizeof(*r->heap));
		r->cursors_cap = r->cursors && r->heap ? n : 0;
		if (!r->cursors_cap)
			return error__set(error, -ENOMEM, "out of memory");
	}
	for (i = 0; i < n; i++) {
		c = &r->cursors[i];
		cursor__init(c, &r->gen, &r->gen.threads[i]);
		c->release = r->release ? &r->gen : NULL;
		err = cursor__next(r, c, error);
		if (err < 0)
			return err;
		if (!err)
			continue;
		r->heap[r->nheap] = (struct gosort_item){ c->ev.time, c };
		cursor_heap__up(r->heap, r->nheap++);
	}
	return 0;
}

static int deliver_sync(struct reader *r, int64_t time, const struct dictionary *dictionary,
			struct trace_event *ret)
{
	*ret = trace_event__sync(time, &r->sync, dictionary);
	ret->offset = dictionary ? r->gen.offset : 0;
	r->sync.n++;
	r->sync.generation = dictionary ? r->gen.number : 0;
	r->sync.clock = dictionary ? r->gen.clock : (struct trace_clock){};
	return 1;
}

/* Reads the description of events from the first generation. A corrupt one is ignored. */
static int read_description(struct reader *r)
{
	struct error ignored = {};
	int err = private_read__table(&r->gen.dictionary, &r->description, &ignored);

	if (err != 1)
		return err == -ENOMEM ? err : 0;
	r->skipped = calloc(256, sizeof(*r->skipped));
	return r->skipped ? 0 : -ENOMEM;
}

/* Decodes the next generation, unless that has been done. Returns as decoder__next(). */
static int take_generation(struct reader *r)
{
	if (!r->given)
		return decoder__next(r->decoder, &r->gen, &r->pending_reason);
	r->given = false;
	return r->given_result;
}

int reader__next_generation(struct reader *r, struct trace_event *ret, struct error *error)
{
	int err;

	if (r->part && !r->given) {
		r->done = true;
		return 0;
	}
	err = take_generation(r);
	if (err < 0) { /* like Go's reader: deliver a last sync before the error */
		r->pending = err;
		return deliver_sync(r, r->last_time, NULL, ret);
	}
	if (!err) {
		r->done = true;
		return deliver_sync(r, r->last_time, NULL, ret);
	}
	err = r->opts.described && !r->description && !r->sync.n ? read_description(r) : 0;
	err = err ?: parked_list__load(&r->gen.dictionary);
	if (!err)
		err = make_cursors(r, error);
	if (err)
		return err;
	r->sample = 0;
	r->generations++;
	r->place = (struct reader_place){ r->gen.offset, r->gen.number, r->last_time, r->sync.n };
	r->at_sync = true;
	return deliver_sync(r, generation__ns(&r->gen, r->gen.min_time), &r->gen.dictionary, ret);
}

/* When reading begins later, the first generation is still read for its description of events. */
static int read_first_description(struct reader *r, struct error *error)
{
	int err = decoder__next(r->decoder, &r->gen, error);

	if (err < 0)
		return err;
	err = read_description(r);
	r->gen.nsamples = 0;
	return err;
}

int reader__resume(struct reader *r, const struct reader_place *place, struct order *state,
		   struct error *error)
{
	int err;

	if (r->v1)
		return error__set(error, -ESPIPE, "%s is a trace without generations",
				  input__name(r->in));
	err = r->opts.described ? read_first_description(r, error) : 0;
	if (!err)
		err = decoder__seek(r->decoder, place->offset, error);
	if (err)
		return err;
	order__deinit(&r->order);
	r->order = *state;
	*state = (struct order){};
	r->last_time = place->last_time;
	r->sync.n = place->syncs;
	return 0;
}

bool reader__place(const struct reader *r, struct reader_place *ret)
{
	if (r->at_sync)
		*ret = r->place;
	return r->at_sync;
}

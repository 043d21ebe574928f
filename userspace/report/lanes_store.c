// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the spans of a trace in memory for gotrace view: see lanes.h, member `store` of the
 * options.
 *
 * lanes.c adds spans as they end. If they need more memory than allowed, the shortest are merged,
 * those of all tracks alike. When the trace has been read, further levels are made, each with more
 * merging, so that reading a range costs about the same however long it is: lanes_part.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/lanes_impl.h"

#define STORE_FACTOR 8u
#define LEVEL_MIN    (8 * PACKED_BLOCK) /* spans that make a further level worthwhile */

uint64_t store__next_threshold(uint64_t threshold)
{
	return threshold ? threshold * STORE_FACTOR : SPANS_FIRST_THRESHOLD * STORE_FACTOR;
}

static size_t bytes_of(const struct lane_store *store)
{
	size_t n = sizeof(*store);

	for (unsigned int i = 0; i < store->levels; i++)
		n += packed__bytes(&store->level[i]);
	return n;
}

void store__remove(struct report_lanes *l, struct lane_track *track)
{
	struct lane_store *store = track->store;

	if (!store)
		return;
	l->store_bytes -= bytes_of(store);
	for (unsigned int i = 0; i < store->levels; i++)
		packed__deinit(&store->level[i]);
	free(store);
	track->store = NULL;
}

/* ---- merging ---- */

static int coarsen_track(struct report_lanes *l, struct lane_store *store)
{
	struct packed merged = {};
	int err;

	if (!store)
		return 0;
	err = packed__merge(&merged, &store->level[0], l->store_threshold);
	packed__deinit(&store->level[0]);
	store->level[0] = merged;
	l->store_bytes += bytes_of(store);
	return err;
}

/* Merges more spans of all tracks, until they are in half of the memory. 0 or -ENOMEM. */
static int coarsen(struct report_lanes *l)
{
	void *value;

	while (l->store_bytes > l->opts.store / 2 &&
	       l->store_threshold < SPANS_THRESHOLD_MAX / STORE_FACTOR) {
		l->store_threshold = store__next_threshold(l->store_threshold);
		l->store_bytes = 0;
		for (size_t i = 0; map__next(&l->lanes, &i, &value);) {
			struct report_lane *lane = value;

			if (coarsen_track(l, lane->track.store) ||
			    coarsen_track(l, lane->kernel.store))
				return -ENOMEM;
		}
	}
	return 0;
}

int store__add(struct report_lanes *l, struct lane_track *track, const struct span *span)
{
	struct lane_store *store = track->store;
	size_t before;

	if (!store) {
		store = track->store = calloc(1, sizeof(*store));
		if (!store)
			return -ENOMEM;
		store->levels = 1;
		l->store_bytes += bytes_of(store);
	}
	before = bytes_of(store);
	if (packed__add(&store->level[0], span, NULL, l->store_threshold))
		return -ENOMEM;
	l->store_bytes += bytes_of(store) - before;
	return l->store_bytes > l->opts.store ? coarsen(l) : 0;
}

/* ---- levels ---- */

/* Adds a level, unless it would need more than half of the memory of the last one. 0 or -ENOMEM. */
static int add_level(struct lane_store *store, uint64_t threshold)
{
	const struct packed *last = &store->level[store->levels - 1];
	struct packed level = {};
	int err = packed__merge(&level, last, threshold);

	if (err ||
	    packed__count(&level, 0, UINT64_MAX) > packed__count(last, 0, UINT64_MAX) / 4 * 3) {
		packed__deinit(&level);
		return err;
	}
	packed__trim(&level);
	store->threshold[store->levels] = threshold;
	store->level[store->levels++] = level;
	return 0;
}

static bool needs_level(const struct lane_store *store, uint64_t threshold)
{
	return store->levels < STORE_LEVELS && threshold < SPANS_THRESHOLD_MAX / STORE_FACTOR &&
	       packed__count(&store->level[store->levels - 1], 0, UINT64_MAX) >= LEVEL_MIN;
}

static int make_levels(struct report_lanes *l, struct lane_store *store)
{
	uint64_t threshold = l->store_threshold;
	int err = 0;

	if (!store)
		return 0;
	l->store_bytes -= bytes_of(store);
	store->threshold[0] = threshold;
	packed__trim(&store->level[0]);
	while (!err && threshold <= l->now && needs_level(store, threshold)) {
		threshold = store__next_threshold(threshold);
		err = add_level(store, threshold);
	}
	l->store_bytes += bytes_of(store);
	return err;
}

int store__finish(struct report_lanes *l)
{
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&l->lanes, &i, &value);) {
		struct report_lane *lane = value;

		err = make_levels(l, lane->track.store) ?: make_levels(l, lane->kernel.store);
	}
	return err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What older versions of the format have no event for: the writer stores it as private data
 * (writer/writer.c), and readers of the generation find it where newer versions have it.
 *
 * Upstream: format/private_read.h. Downstream: generation.clock, and dictionary__start().
 */
#include "format/private_read.h"
#include "reader/decode_impl.h"

#define NS_PER_SEC UINT64_C(1000000000)

/* Older recorders wrote no snapshot; the time of their traces is CLOCK_MONOTONIC. */
static void set_clock(struct generation *g, const struct private_ticks *ticks)
{
	if (g->clock.known || !ticks->wall_ns || ticks->start_ns > INT64_MAX)
		return;
	g->clock = (struct trace_clock){
		.known = true,
		.time = (int64_t)ticks->start_ns,
		.mono = ticks->start_ns,
		.sec = ticks->wall_ns / NS_PER_SEC,
		.nsec = ticks->wall_ns % NS_PER_SEC,
	};
}

static int add_starts(struct generation *g, struct buf *data)
{
	struct private_start start;
	int err = 0;

	while (!err && private_read__start(data, &start))
		err = dictionary__add_start(&g->dictionary, start.g, start.stack);
	return err;
}

int generation__add_private(struct generation *g, unsigned int version)
{
	struct private_ticks ticks = {};
	struct private_record record;
	struct private_reader r;
	int err;

	private_reader__init(&r, &g->dictionary);
	while ((err = private_reader__next(&r, &record)) > 0) {
		if (record.kind == PRIVATE_SNAPSHOT && !g->clock.known)
			private_read__snapshot(&record.data, &g->clock);
		else if (record.kind == PRIVATE_TICKS && !ticks.tick_ns)
			private_read__ticks(&record.data, &ticks);
		else if (record.kind == PRIVATE_STARTS && version == 22)
			err = add_starts(g, &record.data);
		if (err < 0)
			break;
	}
	private_reader__deinit(&r);
	set_clock(g, &ticks);
	return err;
}

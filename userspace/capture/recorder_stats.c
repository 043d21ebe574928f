// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of a recording, when it has ended: see struct recorder_stats. With a duty cycle, those
 * of each window are added as it ends.
 *
 * Upstream: recorder.c, recorder_windows.c. Downstream: gotrace-bpf/stats.c.
 */
#include "capture/cost.h"
#include "budget/memory.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"

static void add(struct recorder_stats *stats, const struct sequencer_stats *sequencer,
		const struct writer_stats *writer, const struct gt_counters *counters)
{
	struct {
		uint64_t *sum;
		const uint64_t *add;
		size_t bytes;
	} part[] = {
		{ (void *)&stats->sequencer, (const void *)sequencer, sizeof(*sequencer) },
		{ (void *)&stats->writer, (const void *)writer, sizeof(*writer) },
		{ (void *)&stats->counters, (const void *)counters, sizeof(*counters) },
	};
	uint64_t goroutines = stats->sequencer.goroutines, at_start = stats->sequencer.at_start;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		for (size_t j = 0; j < part[i].bytes / sizeof(uint64_t); j++)
			part[i].sum[j] += part[i].add[j];
	if (goroutines < sequencer->goroutines)
		goroutines = sequencer->goroutines;
	if (at_start < sequencer->at_start)
		at_start = sequencer->at_start;
	stats->sequencer.goroutines = goroutines;
	stats->sequencer.at_start = at_start;
}

void recorder__count_window(struct recorder *r)
{
	add(r->stats, sequencer__stats(sink__sequencer(r->sink)), sink__written(r->sink),
	    &r->counters);
}

struct cost_events recorder__cost_events(const struct recorder *r)
{
	struct recorder_stats stats = *r->stats;

	stats.counters = r->counters;
	stats.derives = r->opts->layout->derives_parks && !r->inl;
	return cost__of_recording(&stats);
}

void recorder__fill_stats(struct recorder *r)
{
	if (sink__sequencer(r->sink)) /* else those of windows have been added */
		recorder__count_window(r);
	r->stats->target_ended = r->target_gone && !r->exec_time;
	r->stats->target_executed = r->exec_time;
	r->stats->derives = r->opts->layout->derives_parks && !r->inl;
	r->stats->multi = probes__multi(r->probes);
	r->stats->kfuncs = probes__kfuncs(r->probes);
	r->stats->ring_bytes = probes__ring_bytes(r->probes);
	if (r->inl) {
		r->stats->inline_bytes = inline_probes__bytes(r->inl);
		r->stats->inline_held_ns = inline_probes__held_ns(r->inl);
		r->stats->inline_clock_ns = inline_probes__clock_error_ns(r->inl);
	}
	r->stats->rings = probes__rings(r->probes);
	memory__sample(&r->stats->peak_memory);
	memory__peak(&r->stats->peak_memory);
	r->stats->peak_memory += probes__memory(r->probes);
	r->stats->cpu_ns = clock__cpu();
}

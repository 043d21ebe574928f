// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a recording that continues, for 'gotrace-bpf status': fills a struct status of
 * service/status.h.
 *
 * Events and bytes are known at the end of each generation. So a sample is taken when one has ended,
 * at most once per second, and rates are those between the oldest and the latest of them.
 * Upstream: recorder.c, which calls recorder__sample() after each drain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/cost.h"
#include "capture/hits.h"
#include "budget/memory.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "lib/clock.h"

#define SAMPLE_NS 900000000ull /* a generation takes a second at most */

static void count(const struct recorder *r, struct status_counts *ret)
{
	const struct writer_stats *written = sink__written(r->sink);
	const struct cost_events events = recorder__cost_events(r);

	*ret = (struct status_counts){
		.time = clock__now(),
		.events = written ? written->events : 0,
		.bytes = written ? written->bytes : 0,
		.lost = r->lost,
		.probes = events.probes,
		.stepped = events.stepped,
		.inlined = events.inlined,
		.calls = events.calls,
		.switches = events.switches,
		.wakes = events.wakes,
		.target_cpu_ns = r->stats->target_cpu_ns,
		.cpu_ns = clock__cpu(),
	};
}

/* Sums of several sources that were not read at once: none may be less than before. */
static void keep_order(struct status_counts *ret, const struct status_counts *before)
{
	uint64_t *sum = (uint64_t *)ret;
	const uint64_t *least = (const uint64_t *)before;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*sum); i++)
		if (sum[i] < least[i])
			sum[i] = least[i];
}

static const struct status_counts *last_sample(const struct recorder_samples *s)
{
	return &s->sample[(s->n - 1) % RECORDER_SAMPLES];
}

void recorder__begin_samples(struct recorder *r)
{
	struct recorder_samples *s = &r->samples;

	s->n = 1;
	s->generations = 0;
	s->sample[0] = (struct status_counts){ .time = r->t0, .cpu_ns = clock__cpu() };
}

void recorder__sample(struct recorder *r, uint64_t now)
{
	struct recorder_samples *s = &r->samples;
	const struct writer_stats *written = sink__written(r->sink);
	const struct status_counts *last = last_sample(s);

	if (!written || written->generations == s->generations || now < last->time + SAMPLE_NS)
		return;
	s->generations = written->generations;
	count(r, &s->sample[s->n % RECORDER_SAMPLES]);
	keep_order(&s->sample[s->n % RECORDER_SAMPLES], last);
	s->n++;
}

/* The trap takes milliseconds to measure, so this is done only on request. */
static uint64_t trap_ns(struct recorder *r)
{
	double ns = r->trap ? hits__trap_ns() : 0;

	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

int recorder__status_bytes(void *ctx, void **ret, size_t *size)
{
	struct status *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	recorder__status(ctx, s);
	*ret = s;
	*size = sizeof(*s);
	return 0;
}

void recorder__status(struct recorder *r, struct status *ret)
{
	const struct recorder_samples *s = &r->samples;
	struct window_part window;

	memset(ret, 0, sizeof(*ret));
	if (!r->trap_ns)
		r->trap_ns = trap_ns(r);
	ret->magic = STATUS_MAGIC;
	ret->pid = r->opts->process->pid;
	ret->recorder = getpid();
	ret->started = r->t0;
	ret->first = s->sample[s->n > RECORDER_SAMPLES ? s->n % RECORDER_SAMPLES : 0];
	ret->last = *last_sample(s);
	count(r, &ret->now);
	keep_order(&ret->now, &ret->last);
	ret->trap_ns = r->trap_ns;
	memory__sample(&ret->memory);
	ret->ring_bytes = probes__ring_bytes(r->probes);
	ret->kernel_memory = probes__memory(r->probes);
	ret->has_stacks = r->opts->stack_depth > 0;
	ret->is_flight = sink__window(r->sink, &window);
	ret->window_bytes = window.bytes;
	ret->window_events = window.events;
	ret->window_from = window.from;
	ret->window_to = window.to;
	ret->causes = sink__causes(r->sink);
	ret->snapshots = sink__snapshots(r->sink);
}

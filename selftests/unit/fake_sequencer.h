/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sequencer that records its calls, for tests of its callers. Include it after cmocka.h.
 */
#ifndef UNIT_FAKE_SEQUENCER_H
#define UNIT_FAKE_SEQUENCER_H

#include "unit/test.h"
#include "sequence/sequencer.h"

#define NCALLS_MAX 4096

static struct {
	char call[NCALLS_MAX][96];
	unsigned int n;
} notes;

__attribute__((format(printf, 1, 2))) static int note(const char *fmt, ...)
{
	va_list ap;

	if (notes.n == NCALLS_MAX)
		return 0;
	va_start(ap, fmt);
	vsnprintf(notes.call[notes.n++], sizeof(notes.call[0]), fmt, ap);
	va_end(ap);
	return 0;
}

int sequencer__start(struct sequencer *s, uint64_t t0, uint64_t wall_ns)
{
	return note("start %lu %lu", t0, wall_ns);
}

void sequencer__no_kernel(struct sequencer *s)
{
	note("no kernel events");
}

void sequencer__clock_error(struct sequencer *s, uint64_t ns)
{
	note("clock error %lu", ns);
}

void sequencer__host_clock(struct sequencer *s, const struct private_host_clock *clock)
{
	note("host clock %lu %d %lu %lu %ld", clock->time, clock->synchronized, clock->max_error,
	     clock->error, clock->shift);
}

void sequencer__cpu_samples(struct sequencer *s, const struct private_cpu_samples *taken)
{
	note("CPU samples %lu %lu %lu", taken->period_ns, taken->throttles, taken->throttled_ns);
}

void sequencer__calls_only(struct sequencer *s)
{
	note("calls only");
}

void sequencer__max_names(struct sequencer *s, uint32_t max)
{
	if (max)
		note("max names %u", max);
}

void sequencer__may_hold(struct sequencer *s, uint64_t bytes)
{
	note("may hold more");
}

int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size)
{
	uint64_t sum = 0;

	if (size < sizeof(*rec))
		return note("broken record");
	for (size_t i = 0; i < size / 8; i++)
		sum = sum * 31 + ((const uint64_t *)rec)[i];
	return note("record %u %u %zu %lx", ring, rec->kind, size, sum);
}

int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second)
{
	return note("snapshot %zu %zu %zu, %zu %lx", first ? first->ng : 99, first ? first->nm : 99,
		    first ? first->np : 99, second ? second->ng : 99,
		    first && first->ng ? first->g[first->ng - 1].goid : 0);
}

int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second)
{
	return note("resnapshot %zu %lu %zu %lu", first->ng, first->time, second->ng, second->time);
}

int sequencer__watermark(struct sequencer *s, uint64_t time)
{
	return note("watermark %lu", time);
}

int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count)
{
	return note("lost %u %lu", kind, count);
}

int sequencer__finish(struct sequencer *s, uint64_t t1)
{
	return note("finish %lu", t1);
}

#endif

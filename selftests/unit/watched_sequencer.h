/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of the sequencer that triggers call, with results that a test sets.
 */
#ifndef UNIT_WATCHED_SEQUENCER_H
#define UNIT_WATCHED_SEQUENCER_H

#include "unit/test.h"
#include "format/kernel.h"
#include "sequence/sequencer.h"

static struct {
	struct sequencer_stats stats;
	uint64_t applied, losses, go_losses, left_call;
	size_t goroutines;
	struct kernel_thread thread; /* each; its tid 0: unknown */
	const char *start_function;  /* of each goroutine */
	bool is_runtime;
	uint64_t arrival;	  /* of each request; 0: unknown */
	const char *request_name; /* of each request; NULL: none */
} watched;

STUB(uint64_t, sequencer__applied, (const struct sequencer *), watched.applied)
STUB(size_t, sequencer__goroutines, (const struct sequencer *), watched.goroutines)
STUB(uint64_t, sequencer__left_call, (const struct sequencer *, uint32_t), watched.left_call)

const struct kernel_thread *sequencer__thread(const struct sequencer *s, uint32_t tid)
{
	return watched.thread.tid ? &watched.thread : NULL;
}

STUB(const struct sequencer_stats *, sequencer__stats, (const struct sequencer *), &watched.stats)
STUB(uint64_t, sequencer__losses, (const struct sequencer *), watched.losses)
STUB(uint64_t, sequencer__go_losses, (const struct sequencer *), watched.go_losses)

STUB(uint64_t, sequencer__request_arrival, (const struct sequencer *), watched.arrival)

size_t sequencer__request_name(const struct sequencer *s, uint64_t goid, uint64_t task, char *ret)
{
	strcpy(ret, watched.request_name ? watched.request_name : "");
	return strlen(ret);
}

struct trace_string sequencer__start_function(const struct sequencer *s, uint64_t goid,
					      bool *ret_is_runtime)
{
	const char *name = watched.start_function ? watched.start_function : "";

	*ret_is_runtime = watched.is_runtime;
	return (struct trace_string){ name, (uint32_t)strlen(name) };
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of userspace/trigger: how a detector finds its conditions and reports that
 * one is met.
 */
#ifndef TRIGGER_TRIGGER_IMPL_H
#define TRIGGER_TRIGGER_IMPL_H

#include "trigger/trigger.h"

struct trigger {
	struct condition condition;
	uint64_t last;	  /* time of the last cause that was requested; 0: none */
	uint64_t limited; /* causes since then that came too soon */
};

struct phases;
struct runqueue;
struct wait_triggers;
struct call_triggers;
struct process_triggers;

struct triggers {
	struct trigger_opts opts;
	struct flight *flight;
	const struct sequencer *sequencer;
	const struct intern *intern;
	struct trigger trigger[CONDITIONS_MAX];
	struct wait_triggers
		*waits; /* NULL: no such conditions; the same for the other detectors */
	struct phases *phases;
	struct runqueue *runqueue;
	uint64_t started;	     /* CLOCK_MONOTONIC, ns; what was before is not in the trace */
	struct call_triggers *calls; /* calls.c; NULL: none */
	struct process_triggers *process; /* process.c; NULL: none */
	int error;
};

/*
 * The condition was met at `time` (CLOCK_MONOTONIC, ns). The text describes what met it, such as
 * "goroutine 7 (main.worker) runnable for 5.2 ms".
 */
__attribute__((format(printf, 4, 5))) void trigger__met(struct triggers *t, struct trigger *trigger,
							uint64_t time, const char *fmt, ...);

/*
 * Returns the next trigger of a kind, NULL at the end:
 * for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_STW, tr));)
 */
struct trigger *trigger__next(struct triggers *t, enum trigger_kind kind, struct trigger *after);

/* Number of losses, repairs and corrections: it grows when the state of goroutines was uncertain. */
uint64_t triggers__doubts(const struct triggers *t);

#endif

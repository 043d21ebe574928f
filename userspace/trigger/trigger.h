/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The triggers of a flight recorder: watches the events of a recording, and requests a snapshot
 * when a condition is met.
 *
 * A condition with a duration is met as soon as the wait has lasted that long, while it still goes
 * on, and once per wait. A wait that began before the recording, or before a loss, does not count.
 * Upstream: capture/sink.c, which passes what sequence/watch.h describes. Downstream: flight/flight.c.
 * All functions run in the recorder's thread.
 */
#ifndef TRIGGER_TRIGGER_H
#define TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sequence/watch.h"
#include "trigger/condition.h"

struct flight;
struct intern;
struct sequencer;
struct triggers;

/* A function of the program that conditions of func: name. Its region may have another name. */
struct trigger_func {
	const char *region;  /* borrowed */
	uint32_t conditions; /* bits, by index */
};

struct trigger_opts {
	const struct condition *condition; /* borrowed */
	size_t n;			   /* 0: none; at most CONDITIONS_MAX */
	const struct trigger_func *func;   /* borrowed, as are the names */
	size_t nfuncs;
	/* Called every few milliseconds, to call the two functions below; NULL: none. */
	void (*poll)(void *ctx, struct triggers *t);
	void *poll_ctx;
	int pid; /* of the process that is watched */
	/* Least time between two snapshots of one trigger, ns, from cause to cause. */
	uint64_t interval_ns;
};

/* Borrows all. NULL: no memory. */
struct triggers *triggers__create(const struct trigger_opts *opts, struct flight *flight);
void triggers__destroy(struct triggers *t); /* NULL allowed */
/* The functions for struct sequencer_opts, of the sequencer that is created with them. */
struct sequencer_watch triggers__watch(struct triggers *t);
/* Before the first event. Borrows both. */
void triggers__start(struct triggers *t, const struct sequencer *s, const struct intern *intern);
/* All events up to `time` were passed: waits that are still open may have become too long. */
void triggers__watermark(struct triggers *t, uint64_t time);
/* Calls `poll` of the options, as triggers__watermark() does. */
void triggers__poll(struct triggers *t);
/* A signal was delivered to a thread of the process. */
void triggers__signal(struct triggers *t, uint64_t time, uint32_t tid, unsigned int number);
/* The process has ended; `status` as of wait(). */
void triggers__exit(struct triggers *t, uint64_t time, uint32_t status);
/* 0 or -ENOMEM, which is permanent. */
int triggers__failure(const struct triggers *t);

#endif

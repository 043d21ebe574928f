/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers on the process as a whole: its CPU usage, signals and its end.
 *
 * Upstream: trigger.c, and the process's CPU clock.
 */
#ifndef TRIGGER_PROCESS_H
#define TRIGGER_PROCESS_H

#include "trigger/trigger_impl.h"

#define CPU_WINDOW  1000000000ull /* ns over which the CPU time is averaged */
#define CPU_SAMPLES 10		  /* in it */

struct process_triggers;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. */
int process_triggers__create(struct process_triggers **ret, struct triggers *t);
void process_triggers__destroy(struct process_triggers *p); /* NULL allowed */
/* To be called every few milliseconds: reads the clocks when it is time for a sample. */
void process_triggers__poll(struct triggers *t, struct process_triggers *p);
/*
 * The process had used `cpu` ns of CPU time at `now` (CLOCK_MONOTONIC, ns). A condition is met when
 * the average reaches its limit, and can be met again after it was below 90 % of that. Calls are at least
 * a tenth of a second apart.
 */
void process_triggers__cpu(struct triggers *t, struct process_triggers *p, uint64_t now,
			   uint64_t cpu);

#endif

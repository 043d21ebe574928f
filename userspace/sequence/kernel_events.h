/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel events: turns records of context switches, system calls and page faults into the private
 * data of generations. Upstream: sequencer.c. Downstream: format/kernel_write.c.
 */
#ifndef SEQUENCE_KERNEL_EVENTS_H
#define SEQUENCE_KERNEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/kernel.h"

struct gt_record;
struct sequencer;

struct kernel_events {
	struct kernel_writer *writer;  /* items of the open generation; owned */
	struct kernel_threads threads; /* state of the threads after these items */
	bool off;		       /* records are ignored: sequencer__no_kernel() */
};

/*
 * Adds a record of kind GT_CPU_ON or later to the open generation; one from before the window
 * (`in_window` false) only updates the state of its thread. 0 or -ENOMEM.
 */
int kernel_events__record(struct sequencer *s, const struct gt_record *rec, bool in_window);
int kernel_events__begin(struct sequencer *s, uint64_t time); /* begins a generation */

#endif

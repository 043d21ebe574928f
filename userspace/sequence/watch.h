/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callbacks of the sequencer while it writes a trace: for each Go event and each item (kernel event),
 * in the order in which they are applied.
 *
 * Upstream: boundary.c and kernel_events.c. Downstream: trigger/trigger.c. The functions run inside
 * sequencer__watermark(). They may call functions of the sequencer that take a pointer to const.
 */
#ifndef SEQUENCE_WATCH_H
#define SEQUENCE_WATCH_H

#include <stdint.h>

#include "format/kernel.h"
#include "format/spec.h"

struct watch_event {
	uint64_t time; /* as written: CLOCK_MONOTONIC, ns */
	uint64_t goid; /* of the goroutine on the thread before the event; 0: none */
	uint32_t tid;
	enum ev type;
	const uint64_t
		*args; /* of spec.h, without the time; strings and stacks: ids of writer/intern.h */
};

/* Either function may be NULL. An item is applied to its thread before the call. */
struct sequencer_watch {
	void (*event)(void *ctx, const struct watch_event *ev);
	void (*kernel)(void *ctx, const struct kernel_item *item);
	void *ctx;
};

#endif

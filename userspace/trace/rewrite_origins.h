/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which function each goroutine began with.
 *
 * A trace says it when it creates a goroutine, and with any stack of it. Readers name goroutines by
 * it, so a part of a trace (trace/rewrite.c) must repeat it for those that were there before; an
 * index (trace/index.c) keeps it beside the scheduler's state. Filled from the events that
 * trace/reader.h delivers.
 */
#ifndef TRACE_REWRITE_ORIGINS_H
#define TRACE_REWRITE_ORIGINS_H

#include "lib/map.h"
#include "trace/event.h"
#include "trace/intern.h"

struct origins {
	struct intern *in; /* the functions: stacks of one frame, each once */
	struct map g;	   /* by goroutine, to its function's stack id in `in`, as a pointer */
};

int origins__init(struct origins *o); /* 0 or -ENOMEM */
void origins__deinit(struct origins *o);

/* Learns from an event. 0 or -ENOMEM. */
int origins__event(struct origins *o, const struct trace_event *ev);

/* Adds a goroutine's function. 0 or -ENOMEM. */
int origins__set(struct origins *o, uint64_t g, uint32_t stack);
uint32_t origins__of(const struct origins *o, uint64_t g); /* 0: not known */
/* The id in `to` of the same stack as `stack` of `from`. 0: no memory. */
uint32_t origins__copy_stack(struct intern *to, const struct intern *from, uint32_t stack);

#endif

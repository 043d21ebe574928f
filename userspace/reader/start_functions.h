/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The start function of each goroutine, by which readers name goroutines.
 *
 * A trace contains it in the creation of a goroutine and in each of its stacks. A part of a trace
 * (rewrite/rewrite.c) must repeat it for goroutines that existed before; an index (reader/index.c)
 * stores it with the state of the scheduler. Collected from the events of reader/reader.h.
 */
#ifndef READER_START_FUNCTIONS_H
#define READER_START_FUNCTIONS_H

#include "format/event.h"
#include "lib/map.h"
#include "writer/intern.h"

struct start_functions {
	struct intern *in; /* the functions, as stacks of one frame */
	struct map g;	   /* by goroutine, to stack ids in `in` cast to pointers */
};

int start_functions__init(struct start_functions *o); /* 0 or -ENOMEM */
void start_functions__deinit(struct start_functions *o);

/* Collects from an event. Returns 0 or -ENOMEM. */
int start_functions__event(struct start_functions *o, const struct trace_event *ev);

/* Sets the function of a goroutine. Returns 0 or -ENOMEM. */
int start_functions__set(struct start_functions *o, uint64_t g, uint32_t stack);
uint32_t start_functions__of(const struct start_functions *o, uint64_t g); /* 0: unknown */
/* Copies a stack of `from` and returns its id in `to`. Returns 0 if memory is exhausted. */
uint32_t start_functions__copy_stack(struct intern *to, const struct intern *from, uint32_t stack);

#endif

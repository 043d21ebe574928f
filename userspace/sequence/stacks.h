/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of stacks into stack ids of the trace.
 *
 * The probes send a stack's PCs once, and its number as long as they remember it (bpf/stack.bpf.h). Here the PCs are
 * kept for that long (places.h), expanded into logical frames when an event first names them - inlining, wrappers and the
 * frames to skip as the runtime's own tracer does it (runtime/tracestack.go, fpunwindExpand) - and
 * interned. Each PC is symbolized once.
 */
#ifndef SEQUENCE_STACKS_H
#define SEQUENCE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "target/symbolize.h"
#include "trace/intern.h"

struct stacks;

/*
 * guessed_second: up to Go 1.20 the probes send a second PC for each preempted goroutine; it is one
 * only if the first is not that of runtime.asyncPreempt2.
 */
struct stacks *stacks__create(struct intern *in, const struct symbolizer *symbolizer,
			      bool guessed_second);
void stacks__destroy(struct stacks *st);

/* Keeps the PCs of a STACK record (of a checked size). 0 or -ENOMEM. */
int stacks__add(struct stacks *st, const struct gt_record *rec);

/*
 * The trace's id of the stack that a record of that time names, without its `skip` innermost logical frames. 0: none; or
 * its STACK record never arrived, or the number stands for several stacks (both counted in *misses).
 */
uint32_t stacks__id(struct stacks *st, uint32_t number, uint64_t time, uint32_t skip,
		    uint64_t *misses);

/* All records up to `time` were taken. */
void stacks__expire(struct stacks *st, uint64_t time);

/*
 * The same of a sample's PCs, as its record has them. Every frame is there, as in the runtime's own
 * samples.
 */
uint32_t stacks__sample(struct stacks *st, const uint64_t *pc, size_t depth);

/* What `says` has for the innermost function of the stack for which it is not 0; else 0. */
unsigned int stacks__lookup(struct stacks *st, uint32_t number, uint64_t time,
			    unsigned int (*says)(const char *function));

/*
 * The function that a goroutine starts with as a number that stays (0: unknown, or one of too many), and the id, in this
 * epoch (trace/intern.h), of the one-frame stack by which the trace names it.
 */
uint32_t stacks__start(struct stacks *st, uint64_t startpc);
uint32_t stacks__start_id(struct stacks *st, uint32_t number);

#endif

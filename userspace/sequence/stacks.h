/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resolves the stack numbers of records to stack ids of the trace.
 *
 * The probes send the PCs of a stack once, and refer to it by number as long as they remember it
 * (bpf/stack.bpf.h). The PCs are kept for the same time (places.h). When an event first names the
 * stack, it is expanded into logical frames and interned: inlined frames, wrappers and skipped
 * frames are treated as in runtime/tracestack.go, fpunwindExpand. Each PC is symbolized once.
 * Upstream: sequencer.c and state*.c. Downstream: writer/intern.c.
 */
#ifndef SEQUENCE_STACKS_H
#define SEQUENCE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "target/symbols/symbolize.h"
#include "writer/intern.h"

struct stacks;

/*
 * guessed_second: up to Go 1.20 the probes send a second PC for each preempted goroutine; it is
 * valid only if the first PC is not in runtime.asyncPreempt2. Borrows both pointers. NULL: no
 * memory.
 */
struct stacks *stacks__create(struct intern *in, const struct symbolizer *symbolizer,
			      bool guessed_second);
void stacks__destroy(struct stacks *st);

/* Keeps the PCs of a STACK record whose size was checked. 0 or -ENOMEM. */
int stacks__add(struct stacks *st, const struct gt_record *rec);

/*
 * The trace's id of the stack that a record of that time names, without its `skip` innermost
 * logical frames. 0: none; or, counted in *misses, the STACK record is missing or the number is
 * ambiguous.
 */
uint32_t stacks__id(struct stacks *st, uint32_t number, uint64_t time, uint32_t skip,
		    uint64_t *misses);

/*
 * Of *misses of stacks__id(), those of stacks whose place another one has: the record was applied so
 * late that its stack was no longer kept. The others have not arrived.
 */
uint64_t stacks__displaced(const struct stacks *st);

/* All records up to `time` were applied: frees what none can refer to any more. */
void stacks__expire(struct stacks *st, uint64_t time);

/* As stacks__id(), for the PCs of a sample. All frames are kept, as in the runtime's samples. */
uint32_t stacks__sample(struct stacks *st, const uint64_t *pc, size_t depth);

/* The first value other than 0 that `classify` returns, innermost function first; else 0. */
unsigned int stacks__lookup(struct stacks *st, uint32_t number, uint64_t time,
			    unsigned int (*classify)(const char *function));

/*
 * stacks__start(): a permanent number for the start function of a goroutine; 0: unknown, or too
 * many. stacks__start_id(): the id, in this epoch (writer/intern.h), of the stack with that frame
 * alone. stacks__start_name(): the string id of its name; 0: unknown.
 * stacks__start_is_runtime(): the runtime creates such goroutines for itself, on whatever goroutine
 * happens to run, for example GC workers.
 */
uint32_t stacks__start(struct stacks *st, uint64_t startpc);
uint32_t stacks__start_id(struct stacks *st, uint32_t number);
uint32_t stacks__start_name(const struct stacks *st, uint32_t number);
bool stacks__start_is_runtime(const struct stacks *st, uint32_t number);

/*
 * The stacks of goroutines that wait, which are kept as long as a goroutine holds them: a file that
 * begins meanwhile contains them. stacks__hold(): a stack of a snapshot, leaf first; `cut`: it has
 * more frames. stacks__hold_number(): the one that a record of that time names. NULL: none, or
 * HELD_MAX bytes are held, which *left_out counts.
 */
struct stack;
struct stack *stacks__hold(struct stacks *st, const uint64_t *pc, uint32_t depth, bool cut,
			   uint64_t *left_out);
struct stack *stacks__hold_number(struct stacks *st, uint32_t number, uint64_t time,
				  uint64_t *left_out);
void stacks__let_go(struct stacks *st, struct stack *stack);
/*
 * The id, in this epoch, of a stack that is held, with all frames. The last one of a stack that is
 * cut is the start function, by which readers name the goroutine.
 */
uint32_t stacks__held_id(struct stacks *st, struct stack *stack, uint32_t start);

#endif

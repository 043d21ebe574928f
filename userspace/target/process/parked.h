/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks of goroutines that are parked, read without stopping the process.
 *
 * Downstream: target/process/snapshot.c. A goroutine that waits has left its frame pointer, stack
 * pointer and program counter in g.sched. They count if they are the same after its stack was read.
 */
#ifndef TARGET_PARKED_H
#define TARGET_PARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "target/process/snapshot_read.h"

#define PARKED_BATCH 1024 /* goroutines per call of parked__read() */

/* All different stacks, as in struct snapshot. */
struct parked {
	unsigned int depth; /* frames of a stack; 0: none are read */
	uint64_t *words;
	size_t n, cap;
	uint64_t left_out;    /* goroutines whose stack would have exceeded PARKED_WORDS_MAX */
	struct map by_hash;   /* of a stack, to its place plus 1 */
	unsigned char *bytes; /* of PARKED_BATCH stacks */
};

#define PARKED_WORDS_MAX (1u << 20) /* 8 MiB */

void parked__deinit(struct parked *p);

/*
 * A number for where a goroutine is parked, by which a later snapshot recognizes that it is still
 * parked there; 0: it is not parked, or what it has saved is no stack.
 */
uint32_t parked__context(const struct layout *l, const struct go_g *g);

/*
 * Reads the stacks of up to PARKED_BATCH goroutines that parked__context() is not 0 for, at `addr`,
 * and sets ret[i] to the place of the stack plus 1; 0: it has none, or changed meanwhile. 0 or a
 * negative errno, as process__read_many().
 */
int parked__read(struct parked *p, const struct process *proc, const struct layout *l,
		 const uint64_t *addr, const struct go_g *g, size_t n, uint32_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of interpreting one runtime function: shared by calibrate_flow.c, which follows the
 * paths through the function, and calibrate_step.c, which interprets each instruction.
 */
#ifndef TARGET_CALIBRATE_RUN_H
#define TARGET_CALIBRATE_RUN_H

#include "target/infer/calibrate_code.h"

#define NREG	  GPR_COUNT
#define SLOTS_MAX 112 /* slots of the stack */
#define NLOC	  (NREG + SLOTS_MAX)

struct slot {
	int64_t offset; /* from the stack pointer on entry */
	uint8_t width;
	bool escaped; /* its address escaped: other code may write it */
};

struct block {
	uint32_t first, end; /* steps */
	bool visited, dirty;
	value_id *in; /* NLOC */
};

struct run {
	struct flow *f;
	struct block *block;
	size_t nblock;
	uint32_t *block_of; /* per step: index + 1 of the block that begins there */
	value_id *states;
	value_id loc[NLOC];
	struct slot slot[SLOTS_MAX];
	size_t nslot;
	size_t joins;
	bool record; /* the last run: record the accesses */
	bool failed;
	bool escapes;  /* the address of a slot escaped in this run */
	bool indirect; /* there is a jump with unknown target */
};

/* Applies an instruction to `loc`. */
void run__step(struct run *r, const struct step *s);
/* Sets the state on entry: all registers but the stack pointer have unknown values. */
void run__enter(struct run *r);
/* Name of the function that a direct call or jump leads to; NULL: none. */
const char *run__callee(const struct run *r, const struct step *s, struct go_func *ret);

#endif

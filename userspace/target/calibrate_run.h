/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run through a runtime function: shared by calibrate_flow.c, which leads it along the ways
 * through the function, and calibrate_step.c, which says what each instruction does.
 */
#ifndef TARGET_CALIBRATE_RUN_H
#define TARGET_CALIBRATE_RUN_H

#include "target/calibrate_code.h"

#define NREG	  16
#define SLOTS_MAX 112 /* of the stack */
#define NLOC	  (NREG + SLOTS_MAX)

struct slot {
	int64_t offset; /* from the stack pointer on entry */
	uint8_t width;
	bool escaped; /* its address was taken: others may write it */
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
	uint32_t *block_of; /* by step: index + 1 of the block that begins there */
	value_id *states;
	value_id loc[NLOC];
	struct slot slot[SLOTS_MAX];
	size_t nslot;
	size_t joins;
	bool record; /* the last run: write down the accesses */
	bool failed;
	bool escapes;  /* a slot turned out not to be the function's alone */
	bool indirect; /* there is a jump whose target is not known */
};

/* Puts into `loc` what the instruction makes of it. */
void run__step(struct run *r, const struct step *s);
/* All registers but RSP hold what the function was called with. */
void run__enter(struct run *r);
/* The function that a direct call or jump leads to; NULL: none. */
const char *run__callee(const struct run *r, const struct step *s, struct go_func *ret);

#endif

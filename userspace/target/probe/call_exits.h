/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instructions at which the calls of a function end.
 *
 * Upstream: target/probe/code.c, and the frame sizes of target/symbols/pclntab.c. Downstream:
 * target/probe/calls.c.
 */
#ifndef TARGET_CALL_EXITS_H
#define TARGET_CALL_EXITS_H

#include "target/probe/code.h"

#define CALL_EXITS_MAX 64 /* exits of a function */

struct call_exit {
	size_t insn;	/* index */
	uint32_t frame; /* bytes from the stack pointer to the return address */
};

/*
 * Finds instructions behind the entry at index `begin` such that each way out of the function passes
 * exactly one of them, after its work. Returns how many, in order of address; 0: the function never
 * returns. CALL_EXITS_MAX + 1: it has more exits than CALL_EXITS_MAX, and *ret is not written.
 */
size_t call_exits__find(const struct code *code, const struct pclntab *pt, size_t begin,
			struct call_exit ret[CALL_EXITS_MAX]);

#endif

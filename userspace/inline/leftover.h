/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an earlier recording has left in a process: its areas, and jumps into them.
 *
 * The process may have forged all of it. So only addresses are taken from there, each of them checked
 * by leftover__is_sane() or leftover__patch(); instructions come from the executable, and sizes from
 * areas__shape().
 */
#ifndef INLINE_LEFTOVER_H
#define INLINE_LEFTOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/inline.h"
#include "inline/pages.h"

struct leftover {
	uint64_t code, flag, rings; /* addresses of the areas */
	bool fits; /* they have the sizes, the settings and the handler of this recorder: use them again */
	size_t patches;
	struct page_patch patch[GT_INLINE_SITES];
};

/*
 * Finds what is left in the process of `target`. `in` is what this recorder is to install. 1: found;
 * 0: nothing is left; or a negative errno.
 */
int leftover__find(struct leftover *ret, const struct pages_target *target,
		   const struct gt_inline *in);

/* Whether a copy of what the mapping of GT_INLINE_CODE bytes at `code` begins with can be ours. */
bool leftover__is_sane(const struct gt_inline *left, uint64_t code);

/*
 * The instruction at `addr`, GT_INLINE_JUMP bytes as they are in the file and in memory: whether an
 * inline probe can have been there, and a jump into the area at `code` has replaced it.
 */
bool leftover__patch(struct page_patch *ret, uint64_t addr, uint64_t code,
		     const unsigned char file[GT_INLINE_JUMP],
		     const unsigned char now[GT_INLINE_JUMP]);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code that inline probes run in the target: a handler, and a stub for each site.
 *
 * Upstream: install.c, which puts a copy of the handler into the target, and the stubs behind it.
 * Downstream: include/gotrace/inline.h describes what the handler writes.
 */
#ifndef INLINE_TRAMPOLINE_H
#define INLINE_TRAMPOLINE_H

#include <stddef.h>
#include <stdint.h>

#include "gotrace/inline.h"

/* The handler's code, which may be copied anywhere, and where in it the handler begins. */
struct trampoline_code {
	const unsigned char *bytes;
	size_t size, entry;
};

struct trampoline_code trampoline__code(void);

/* Where it is in the area of code, behind struct gt_inline. */
#define TRAMPOLINE_AT 2048

/* Writes what replaces the site's instruction: a jump to its stub, or a call. site->size bytes. */
void trampoline__patch(const struct gt_inline_site *site, unsigned char *ret);

/*
 * Writes the stub of site number `index` into `ret`, GT_INLINE_STUB bytes. `handler` is the address
 * of the handler. All addresses are within 2 GiB of each other.
 */
void trampoline__stub(unsigned char *ret, const struct gt_inline *in, uint32_t index,
		      uint64_t handler);

#endif

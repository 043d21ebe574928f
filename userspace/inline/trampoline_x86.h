/* SPDX-License-Identifier: GPL-2.0 */
/* How a stub (stub_x86.c) calls the handler (trampoline_x86.c). */
#ifndef INLINE_TRAMPOLINE_X86_H
#define INLINE_TRAMPOLINE_X86_H

#include "inline/trampoline.h"

/* In the order of memory: the stub pushes them from the last to the first. */
struct trampoline_saved {
	uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rbx, rax;
};

/* Called by stubs only, in the target. `site`: its index; g: R14. */
void trampoline__handler(const struct gt_inline *in, const struct trampoline_saved *saved,
			 uint32_t site, uint64_t g);

#endif

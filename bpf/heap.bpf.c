// SPDX-License-Identifier: GPL-2.0
/*
 * The most frequent probe of the heap: its size, at each new span of a P's cache. The others are in
 * runtime.bpf.c. Downstream: emit.bpf.h, userspace/sequence/state_heap.c.
 */
#include "filter.bpf.h"
#include "emit.bpf.h"
#include "site.bpf.h"

SEC("uprobe.multi")
int heap_alloc(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), reg = GT_COOKIE_OBJECT(cookie__site(ctx));

	use_kernel_stack(ctx);
	if (tid)
		emit_value(GT_HEAP_ALLOC, 0, 0, tid, site__register(ctx, reg - 1));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first step of every probe: does the hit belong to the target?
 *
 * Breakpoints are in a page of the program's file: a child created by vfork hits them in its
 * parent's memory, and without the kernel's PID filter so does every process of that program.
 * Downstream: emit.bpf.h.
 */
#ifndef BPF_FILTER_H
#define BPF_FILTER_H

#include "maps.bpf.h"
#include "pid.bpf.h"

/*
 * The TID of the thread that hit; 0: of another process. Hits are not counted here, because an
 * atomic addition costs 25 ns; records are, lost ones included.
 */
static __always_inline u32 filter__ours(void)
{
	u32 tid = pid__current_of(config.tgid);

	if (!tid)
		COUNT(foreign);
	return tid;
}

/*
 * Rare probes that walk a stack share one program, because the verifier needs 4 to 9 ms for the
 * walk in each program that contains it.
 */
#define PROBE_PART static __noinline int

/* The part of the cookie that is specific to the site. */
static __always_inline u64 cookie__site(struct pt_regs *ctx)
{
	return GT_COOKIE_SITE(bpf_get_attach_cookie(ctx));
}

static __always_inline enum gt_probe cookie__probe(struct pt_regs *ctx)
{
	return GT_COOKIE_PROBE(bpf_get_attach_cookie(ctx));
}

/*
 * At a function's entry, on the goroutine's stack: whether the function begins again, because the
 * stack must grow or the goroutine is preempted. The probe at the stack check is then hit twice.
 */
static __always_inline bool entry__repeats(const struct pt_regs *ctx)
{
	return config.entry_at_check && GO_BELOW_EQUAL(ctx);
}

#endif

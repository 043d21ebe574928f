/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is it ours? First step of every probe.
 *
 * The breakpoint stands in a page of the program's file: a child that vfork made runs into it in
 * its parent's memory, and without the kernel's PID filter so does every process of that program.
 */
#ifndef BPF_FILTER_H
#define BPF_FILTER_H

#include "maps.bpf.h"

/*
 * The host's TID of the thread that hit, or 0: another process's. Hits are not counted here - an
 * atomic add costs 25 ns - but by their records, lost ones included.
 */
static __always_inline u32 filter__ours(void)
{
	u64 id = bpf_get_current_pid_tgid();

	if (id >> 32 != config.tgid) {
		COUNT(foreign);
		return 0;
	}
	return id;
}

/*
 * A probe that walks a stack, but not often, is a part of a program that several share: the
 * verifier takes 4 to 9 ms for the walk, in each program that has it.
 */
#define PROBE_PART static __noinline int

/* The site's own part of its cookie. */
static __always_inline u64 cookie__site(struct pt_regs *ctx)
{
	return GT_COOKIE_SITE(bpf_get_attach_cookie(ctx));
}

static __always_inline enum gt_probe cookie__probe(struct pt_regs *ctx)
{
	return GT_COOKIE_PROBE(bpf_get_attach_cookie(ctx));
}

#endif

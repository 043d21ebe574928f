/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of BPF programs and the module: the arguments of the kfuncs (kmod/kfuncs.c).
 *
 * bpf/module.bpf.h declares the functions as weak symbols, so that one BPF object serves kernels
 * with the module and without:
 *
 *	u64 gotrace_stack_hash(struct gt_unwind *w, u32 depth)
 *	    walks the stack; returns depth << 56 | hash, as bpf/stack.bpf.h computes it; sets n, cut
 *	u64 gotrace_stack_pcs(struct gt_unwind *w, u32 depth, u64 *pcs, u32 pcs__sz)
 *	    the same, and stores the PCs in pcs
 *	u32 gotrace_stack_id(u32 session, struct gt_unwind *w, u32 depth)
 *	    the same, and stores the PCs in the session's stack table; returns its id; 0: full
 *	int gotrace_emit(u32 session, void *rec, u32 rec__sz, u64 tail, u32 tail_len)
 *	    stores a record in the session's ring of this CPU: rec (a header and its payload, 8-byte
 *	    aligned size), followed by tail_len bytes of user memory at `tail`, padded to 8. Sets
 *	    seq, and time and cpu unless rec has a time already (both records of a switch have one
 *	    time; a thread that existed before has its own cpu). 0; -EFAULT: the tail's pages are
 *	    not present, nothing was stored; -ENOSPC: no space, counted; -ESHUTDOWN: the session is
 *	    frozen, counted; -ENOENT: no such session; -EINVAL;
 *	    -EOPNOTSUPP: in an NMI
 *
 * All may be called where BPF programs run, except in an NMI; none sleeps or faults.
 */
#ifndef GOTRACE_MODULE_H
#define GOTRACE_MODULE_H

#include "record.h"

/* A goroutine's stack: see struct leaf in bpf/stack.bpf.h. */
struct gt_unwind {
	gt_u64 pc;     /* the first PC */
	gt_u64 second; /* a further PC that is in no frame; 0: none */
	gt_u64 fp;     /* the first frame: [fp] is the next fp, [fp + 8] a return address */
	gt_u64 lo, hi; /* bounds of the stack: a frame outside ends the walk; hi 0: unknown */
	gt_u32 n;      /* out: number of PCs */
	gt_u32 cut;    /* out: 1: the walk ended at the limit of its depth */
};

#define GT_TAIL_MAX 1024 /* bytes; GT_TEXT_MAX */

_Static_assert(sizeof(struct gt_unwind) == 48, "no padding");

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module's functions, if it is loaded: include/gotrace/module.h documents them.
 *
 * They are weak: without the module libbpf gives them the address 0, and the verifier removes the
 * calls. config.kfuncs is set by userspace if the module and the kernel let these programs call
 * them; config.session, the number of a session of the module, is set only then.
 *
 * libbpf reads the kernel's types to look for them, which takes 17 ms and is unsupported by some
 * kernels. So without the module the same sources are loaded as compiled without it
 * (WITHOUT_MODULE); sample.bpf.c is always compiled that way.
 */
#ifndef BPF_MODULE_H
#define BPF_MODULE_H

#include "maps.bpf.h"

#include <linux/errno.h>

#include "gotrace/module.h"

/*
 * Of the objects that are linked into one, one declares these as functions of the kernel
 * (MODULE_KSYMS) and the others as plain externals: libbpf's linker, up to 1.5 at least, rejects a
 * second declaration.
 */
#ifndef WITHOUT_MODULE

#ifdef MODULE_KSYMS
#define MODULE_FUNCTION __weak __ksym
#else
#define MODULE_FUNCTION __weak
#endif

extern u64 gotrace_stack_hash(struct gt_unwind *w, u32 depth) MODULE_FUNCTION;
extern u64 gotrace_stack_pcs(struct gt_unwind *w, u32 depth, u64 *pcs, u32 pcs__sz) MODULE_FUNCTION;
extern u32 gotrace_stack_id(u32 session, struct gt_unwind *w, u32 depth) MODULE_FUNCTION;
extern int gotrace_emit(u32 session, void *rec, u32 rec__sz, u64 tail,
			u32 tail_len) MODULE_FUNCTION;

/* Whether the module walks stacks. A constant for the verifier. */
static __always_inline bool module__walks(void)
{
	return config.kfuncs && bpf_ksym_exists(gotrace_stack_hash);
}

#else

/* Never called: config.kfuncs and config.session are 0 here, and the verifier removes the calls. */
static __always_inline u64 gotrace_stack_hash(struct gt_unwind *w, u32 depth)
{
	return 0;
}

static __always_inline u64 gotrace_stack_pcs(struct gt_unwind *w, u32 depth, u64 *pcs, u32 size)
{
	return 0;
}

static __always_inline u32 gotrace_stack_id(u32 session, struct gt_unwind *w, u32 depth)
{
	return 0;
}

static __always_inline int gotrace_emit(u32 session, void *rec, u32 size, u64 tail, u32 len)
{
	return -ENOENT;
}

static __always_inline bool module__walks(void)
{
	return false;
}

#endif

#endif

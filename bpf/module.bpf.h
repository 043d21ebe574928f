/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module's functions, where there is a module: include/gotrace/module.h says what they do.
 *
 * Weak: without the module the kernel does not know them, libbpf says so with their address, 0, and
 * the verifier cuts out what would call them. config.kfuncs is userspace's word that the module and
 * the kernel let these programs call them, and config.session, the number of a session of the module's,
 * comes only with it.
 *
 * To look for them libbpf reads the kernel's types, which takes 17 ms and is not to be had on each kernel. So
 * where there is no module the same sources are loaded as they are compiled without it (WITHOUT_MODULE), and so
 * are those of sample.bpf.c always.
 */
#ifndef BPF_MODULE_H
#define BPF_MODULE_H

#include "maps.bpf.h"

#include <linux/errno.h>

#include "gotrace/module.h"

/*
 * Of the objects that are linked into one, one says that these are the kernel's (MODULE_KSYMS) and the
 * others only that they are elsewhere: libbpf's linker, up to 1.5 at least, refuses to hear it twice.
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

/* Whether the module walks stacks. A constant to the verifier. */
static __always_inline bool module__walks(void)
{
	return config.kfuncs && bpf_ksym_exists(gotrace_stack_hash);
}

#else

/* Nobody calls these: config.kfuncs and config.session are 0 with them, and the verifier cuts the calls out. */
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

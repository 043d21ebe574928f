/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KMOD_KFUNCS_H
#define KMOD_KFUNCS_H

#include "gotrace/module.h"

/*
 * Lets BPF programs call the module's functions (include/gotrace/module.h) until it is unloaded.
 * May sleep. -EOPNOTSUPP: unsupported by this kernel; -ENOENT: the module was built without BTF.
 */
int kfuncs__register(void);

u64 gotrace_stack_hash(struct gt_unwind *w, u32 depth);
u64 gotrace_stack_pcs(struct gt_unwind *w, u32 depth, u64 *pcs, u32 pcs__sz);
u32 gotrace_stack_id(u32 session, struct gt_unwind *w, u32 depth);
int gotrace_emit(u32 session, void *rec, u32 rec__sz, u64 tail, u32 tail_len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KMOD_KFUNCS_H
#define KMOD_KFUNCS_H

/*
 * Lets BPF programs call the module's functions (include/gotrace/module.h); they are taken back when it is
 * unloaded. May sleep. -EOPNOTSUPP: this kernel has no such thing.
 */
int kfuncs__register(void);

#endif

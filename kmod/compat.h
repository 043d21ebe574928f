/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between kernel releases, 6.1 to 6.18.
 *
 * Before 6.10 BPF programs of uprobes cannot call functions of a module: there the module has no
 * kfuncs (GT_HAVE_KFUNCS).
 */
#ifndef KMOD_COMPAT_H
#define KMOD_COMPAT_H

#include <linux/btf.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0) && IS_ENABLED(CONFIG_BPF_SYSCALL) &&            \
	IS_ENABLED(CONFIG_DEBUG_INFO_BTF_MODULES)
#define GT_HAVE_KFUNCS 1
#else
#define GT_HAVE_KFUNCS 0
#endif

#if GT_HAVE_KFUNCS
/*
 * Whether the module has type information (BTF), which requires vmlinux at build time. Registering
 * kfuncs without it succeeds, but BPF programs cannot call them.
 */
static inline bool compat__has_btf(const struct module *module)
{
	return module->btf_data_size;
}
#endif

/* Excludes NULL for pointers of a kfunc; kernels without the flag do so for all kfuncs. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS 0
#endif

/* For a mapping that is being created, so that its lock is held for writing. */
static inline void compat__vm_flags(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* Excludes a large variable, which is written before it is read, from automatic initialization. */
#ifndef __uninitialized
#define __uninitialized
#endif

#endif

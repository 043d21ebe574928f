/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs from one kernel release to the other, and nowhere else: 6.1 to 6.18.
 *
 * Below 6.10 BPF programs of uprobes cannot call a module's functions: the module has no kfuncs
 * there (GT_HAVE_KFUNCS), and all else works.
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
 * Whether the module has types of its own, as it is built where vmlinux is. Registering kfuncs
 * without them is no error to the kernel, but BPF programs cannot call them.
 */
static inline bool compat__has_btf(const struct module *module)
{
	return module->btf_data_size;
}
#endif

/* No NULL where a kfunc has a pointer: kernels without the flag have it so for all kfuncs. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS 0
#endif

/* Of a mapping that is just being made, so that its lock is held for writing. */
static inline void compat__vm_flags(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * A variable that a kernel built to zero all of them leaves alone: it is big, and written before it
 * is read.
 */
#ifndef __uninitialized
#define __uninitialized
#endif

#endif

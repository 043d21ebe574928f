/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of sessions: its limit, the pages of one session, its mapping.
 *
 * Upstream: session.c and checkpoint.c. Downstream: processes that map the device. Takes no locks;
 * functions may sleep unless stated otherwise.
 */
#ifndef KMOD_MEMORY_H
#define KMOD_MEMORY_H

#include <linux/types.h>

#include "gotrace/uapi.h"

struct kernel_param;
struct vm_area_struct;

/* One session's pages, freed and no longer counted with the last reference. */
struct area;

/* Bytes in use by all areas and buffers, and their limit. Any context. */
u64 memory__used(void);
u64 memory__max(void);

/* The .set of a parameter that cannot be set: a line in the kernel's log and -EPERM. May sleep. */
int memory__refuse_parameter(const char *value, const struct kernel_param *kp);

/*
 * Zeroed single pages, charged to the caller's memory cgroup. NULL: beyond memory__max(), or not
 * enough memory in the kernel or the cgroup, without an OOM kill. Counts as used until freed.
 */
void *memory__alloc(u64 bytes);
void memory__free(void *at, u64 bytes); /* NULL allowed */

/*
 * Fills in the offsets and sizes of the session that `want` describes, whose members were checked.
 * Returns its bytes, a multiple of the page size; ret->size is valid if they are below 16 TiB.
 */
u64 area__plan(const struct gt_abi_create *want, struct gt_session_page *ret);
/* NULL: no memory. */
struct area *area__create(u64 bytes);
void area__get(struct area *area); /* any context */
void area__put(struct area *area); /* NULL allowed */
void *area__base(struct area *area);
u64 area__bytes(const struct area *area);

/*
 * Maps the area read-only. -EACCES: for more access; -EINVAL: beyond its end. Called in mmap() of
 * the device: the address space's lock is held for writing.
 */
int area__map(struct area *area, struct vm_area_struct *vma);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that sessions are made of: how much there may be, the pages of one session, its
 * mapping.
 *
 * Before it: session.c and checkpoint.c, which ask for it. After it: whoever maps the device. No
 * locks; what is not said otherwise may sleep.
 */
#ifndef KMOD_MEMORY_H
#define KMOD_MEMORY_H

#include <linux/types.h>

#include "gotrace/uapi.h"

struct vm_area_struct;

/*
 * One session's pages. It lives as long as its session or a mapping of it, and is counted as long.
 */
struct area;

/* Bytes that there are, of all areas and buffers, and the most that there may be. Any context. */
u64 memory__used(void);
u64 memory__max(void);

/*
 * Zeroed, of single pages, accounted to the caller's memory cgroup. NULL: beyond memory__max(), or
 * the kernel or the cgroup has not so much; neither ends in an OOM kill. Counts `bytes` until it is
 * freed.
 */
void *memory__alloc(u64 bytes);
void memory__free(void *at, u64 bytes); /* NULL allowed */

/*
 * Fills in the offsets and sizes of the session that `want` describes, whose members are in their
 * limits. Returns its bytes, a multiple of the page size; ret->size is right if they are below 16
 * TiB.
 */
u64 area__plan(const struct gt_abi_create *want, struct gt_session_page *ret);
/* NULL: no memory. */
struct area *area__create(u64 bytes);
void area__get(struct area *area); /* any context */
void area__put(struct area *area); /* NULL allowed */
void *area__base(struct area *area);
u64 area__bytes(const struct area *area);

/*
 * Maps the area, for reading only. -EACCES: for more than that; -EINVAL: beyond its end. In mmap()
 * of the device: the address space's lock is held for writing.
 */
int area__map(struct area *area, struct vm_area_struct *vma);

#endif

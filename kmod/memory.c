// SPDX-License-Identifier: GPL-2.0
/* The memory that sessions are made of: see memory.h. */
#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "memory.h"
#include "stacks.h"

/*
 * Limits the memory of all sessions together, in addition to the caller's memory cgroup, which is
 * charged for each page: a process that opens the device could otherwise take all memory; kept
 * sessions may outlive their cgroup. The default, a quarter of the RAM, leaves enough for the
 * traced programs; it is changed in /sys/module/gotrace/parameters/max_memory.
 */
static unsigned long long max_memory;
module_param(max_memory, ullong, 0644);
MODULE_PARM_DESC(max_memory,
		 "limit of the memory of all sessions, in bytes (0: a quarter of the RAM)");

static atomic64_t used = ATOMIC64_INIT(0);

static int show_used(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%llu\n", memory__used());
}

/* Without a .set the kernel calls a null pointer for "memory=1" at load. */
int memory__refuse_parameter(const char *value, const struct kernel_param *kp)
{
	pr_err("%s: %s only shows a figure; max_memory is the limit\n", KBUILD_MODNAME, kp->name);
	return -EPERM;
}

static const struct kernel_param_ops used_ops = { .get = show_used,
						  .set = memory__refuse_parameter };
module_param_cb(memory, &used_ops, NULL, 0444);
MODULE_PARM_DESC(memory, "memory of all sessions, in bytes");

struct area {
	struct kref ref; /* held by the session and each mapping */
	void *base;
	u64 bytes;
};

u64 memory__used(void)
{
	return atomic64_read(&used);
}

u64 memory__max(void)
{
	u64 max = READ_ONCE(max_memory);

	return max ? max : ((u64)totalram_pages() << PAGE_SHIFT) / 4;
}

/* Accounts for `bytes`. False: beyond the limit. Any context. */
static bool charge(u64 bytes)
{
	u64 max = memory__max();
	s64 old = atomic64_read(&used);

	do {
		if (bytes > max || (u64)old > max - bytes)
			return false;
	} while (!atomic64_try_cmpxchg(&used, &old, old + bytes));
	return true;
}

void *memory__alloc(u64 bytes)
{
	void *at;

	bytes = PAGE_ALIGN(bytes);
	if (!charge(bytes))
		return NULL;
	at = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!at)
		atomic64_sub(bytes, &used);
	return at;
}

void memory__free(void *at, u64 bytes)
{
	if (!at)
		return;
	vfree(at);
	atomic64_sub(PAGE_ALIGN(bytes), &used);
}

u64 area__plan(const struct gt_abi_create *want, struct gt_session_page *ret)
{
	u64 control = sizeof(struct gt_ring_control) + sizeof(u64) * want->subbufs;
	u64 end = PAGE_SIZE;

	ret->magic = GT_ABI_MAGIC;
	ret->version = GT_ABI_VERSION;
	ret->page_size = PAGE_SIZE;
	ret->rings = want->rings;
	ret->subbuf_size = want->subbuf_size;
	ret->subbufs = want->subbufs;
	ret->stack_words = want->stack_words;
	ret->stack_slots = stacks__slots(want->stack_words);

	ret->control_offset = end;
	ret->control_stride = PAGE_ALIGN(control);
	end += ret->control_stride * want->rings;
	ret->ring_offset = end;
	ret->ring_stride = (u64)want->subbuf_size * want->subbufs;
	end += ret->ring_stride * want->rings;
	ret->index_offset = end;
	end += PAGE_ALIGN(sizeof(u64) * (u64)ret->stack_slots);
	ret->half_offset = end;
	ret->half_stride = PAGE_ALIGN(sizeof(u64) * (u64)want->stack_words);
	end += 2 * ret->half_stride;
	ret->size = end >> PAGE_SHIFT;
	return end;
}

struct area *area__create(u64 bytes)
{
	struct area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);

	if (!area)
		return NULL;
	area->base = memory__alloc(bytes);
	if (!area->base) {
		kfree(area);
		return NULL;
	}
	area->bytes = bytes;
	kref_init(&area->ref);
	return area;
}

static void destroy(struct kref *ref)
{
	struct area *area = container_of(ref, struct area, ref);

	memory__free(area->base, area->bytes);
	kfree(area);
}

void area__get(struct area *area)
{
	kref_get(&area->ref);
}

void area__put(struct area *area)
{
	if (area)
		kref_put(&area->ref, destroy);
}

void *area__base(struct area *area)
{
	return area->base;
}

u64 area__bytes(const struct area *area)
{
	return area->bytes;
}

/* A mapping was split or copied. The address space's lock is held for writing. */
static void open_map(struct vm_area_struct *vma)
{
	area__get(vma->vm_private_data);
}

/* May sleep; the address space's lock may be held. */
static void close_map(struct vm_area_struct *vma)
{
	area__put(vma->vm_private_data);
}

/* May sleep; the address space's lock, or the mapping's own, is held for reading. */
static vm_fault_t fault(struct vm_fault *vmf)
{
	struct area *area = vmf->vma->vm_private_data;

	if (vmf->pgoff >= area->bytes >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(area->base + (vmf->pgoff << PAGE_SHIFT));
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct map_ops = {
	.open = open_map,
	.close = close_map,
	.fault = fault,
};

/*
 * Clears VM_MAYWRITE, so that neither mprotect() nor a debugger can make the mapping writable.
 * VM_DONTCOPY is unnecessary: pages are not copied into a child but mapped on a fault, and a
 * recorder that continues in a child keeps its mapping.
 */
int area__map(struct area *area, struct vm_area_struct *vma)
{
	u64 pages = area->bytes >> PAGE_SHIFT;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (vma->vm_pgoff > pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	compat__vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	area__get(area);
	vma->vm_private_data = area;
	vma->vm_ops = &map_ops;
	return 0;
}

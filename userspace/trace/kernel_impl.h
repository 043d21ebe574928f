/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of the kernel's side of a trace, shared by kernel_write.c and kernel_read.c alone. As
 * gotrace-private(5) has them.
 *
 * An item begins with a byte: its kind in the low four bits, and what can be left out in the others.
 * Threads and system calls are told once a record, and named by the order of their first use after
 * that. What a thread's items have in common, its core and its system call, is said when it changes.
 */
#ifndef TRACE_KERNEL_IMPL_H
#define TRACE_KERNEL_IMPL_H

#include "trace/kernel.h"

#define ITEM_KIND	 0x0f
#define ITEM_SAME	 0x10 /* the thread is that of the item before */
#define ITEM_CPU	 0x20 /* a core follows: it is not the one of before */
#define ITEM_MORE	 0x40 /* ON: the core was idle; WAKING: interrupt; SYS_EXIT: the call follows */

#define ITEM_MAX	 200u	      /* bytes of the longest */
#define RECORD_BYTES	 (256u << 10) /* a record is closed when it has so many */
#define RECORD_PEERS	 16384u	      /* or threads; a reader takes no more than that */
#define RECORD_CALLS	 4096u
#define CALL_NAME_MAX	 64u

/* Before a thread's fields in PRIVATE_THREADS. */
#define THREAD_RUN	 0x0f
#define THREAD_FAULT	 0x10
#define THREAD_INTERRUPT 0x20
#define THREAD_WOKEN	 0x40
#define THREAD_CALL	 0x80

#define REF_NONE	 0 /* thread 0: the idle one, or none */
#define REF_NEW		 1
#define REF_PEER	 2 /* and its number */

#define NO_CPU		 UINT32_MAX

/* A thread as one record tells it; not changed once it is told. */
struct kernel_peer {
	uint32_t tid, pid;
	uint32_t cpu;  /* of its last item; NO_CPU: none so far */
	uint32_t call; /* index + 1, of its last SYS_ENTER; 0: none */
	struct trace_string name;
};

/* Whose core an item's is compared with: a wake-up happens where the waker is. */
static inline bool kernel_item__cpu_of_other(uint8_t kind)
{
	return kind == KERNEL_WAKING;
}

static inline uint64_t kernel__zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t kernel__unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

#endif

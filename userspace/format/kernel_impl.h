/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Byte format of kernel events, shared by kernel_write.c and kernel_read.c only. gotrace-private(5)
 * describes it.
 *
 * The first byte of an item holds the kind in the low four bits and flags in the others. Each
 * thread and system call is defined once per record, and later referred to by the number of its
 * definition. The CPU and the system call of a thread are written only when they change.
 */
#ifndef FORMAT_KERNEL_IMPL_H
#define FORMAT_KERNEL_IMPL_H

#include "format/kernel.h"
#include "format/private.h"

#define ITEM_KIND	 0x0f
#define ITEM_SAME	 0x10 /* same thread as the previous item */
#define ITEM_CPU	 0x20 /* the CPU follows, since it has changed */
/*
 * ON: CPU was idle; OFF: enum gt_sleep follows; WAKING: interrupt; SYS_EXIT: the call follows; OCCUPANT:
 * since before the wait
 */
#define ITEM_MORE	 0x40

#define ITEM_MAX	 200u	      /* bytes of the longest */
#define RECORD_BYTES	 (256u << 10) /* at this size a record is closed */
#define RECORD_PEERS	 16384u	      /* or this many threads; a reader accepts no more */
#define RECORD_CALLS	 4096u
#define CALL_NAME_MAX	 64u

/* First byte of a thread in PRIVATE_THREADS: state and flags. */
#define THREAD_RUN	 0x0f
#define THREAD_FAULT	 0x10
#define THREAD_INTERRUPT 0x20
#define THREAD_WOKEN	 0x40
#define THREAD_CALL	 0x80

#define REF_NONE	 0 /* thread 0: idle, or no thread */
#define REF_NEW		 1
#define REF_PEER	 2 /* plus the number of the definition */

#define NO_CPU		 UINT32_MAX

/* A thread as a record defines it. Pid and name never change within a record. */
struct kernel_peer {
	uint32_t tid, pid;
	uint32_t cpu;  /* of its last item; NO_CPU: no item so far */
	uint32_t call; /* index + 1 of its last SYS_ENTER; 0: none */
	struct trace_string name;
};

/* Whether the CPU of an item is that of the other thread: a wake-up happens on the waker's CPU. */
static inline bool kernel_item__cpu_of_other(uint8_t kind)
{
	return kind == KERNEL_WAKING;
}

/* The kind of the private data records that contain items of this kind. */
static inline enum private_kind kernel_item__record(uint8_t kind)
{
	return kind < KERNEL_CPU  ? PRIVATE_KERNEL :
	       kind == KERNEL_CPU ? PRIVATE_MACHINE :
				    PRIVATE_WAITS;
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

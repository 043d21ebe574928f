/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/gotrace: the module's ioctls, and the layout of a session's memory.
 *
 * A session stores records in memory and overwrites the oldest ones. It belongs to the open file
 * that created it; one with GT_SESSION_KEEP remains when that file is closed, until it is claimed
 * by its name and released, or its timeout has passed. Written by the kfuncs (module.h), and by the
 * owner's GT_IOC_EMIT; read through mmap(), which is read-only. Upstream: bpf/emit.bpf.h.
 * Downstream: userspace/capture/kmod.c.
 *
 * The memory, in pages. The first (struct gt_session_page) contains the offset of each part:
 *
 *	+------+----------------------+----------------------------------+-----------------------+
 *	| page | control of each ring | the rings, sub-buffer by         | the stack table:      |
 *	|      |                      | sub-buffer                       | index, two halves     |
 *	+------+----------------------+----------------------------------+-----------------------+
 *
 * A ring is an endless stream of bytes, of which `head` were reserved so far. Byte b is in
 * sub-buffer b / subbuf_size of the stream, slot (b / subbuf_size) % subbufs of the memory:
 *
 *	0                16             used          subbuf_size
 *	+----------------+--------------+-------------+
 *	| gt_subbuf      | records      | never read  |
 *	+----------------+--------------+-------------+
 *
 * No record crosses the end of a sub-buffer. committed[slot] counts the bytes of this slot that
 * were written over all laps, headers and unused ends included:
 *
 *  - Sub-buffer n is complete when the count is (n / subbufs + 1) * subbuf_size; only then `used`
 *    is valid for this lap.
 *  - The one being filled is complete up to head when the count is (n / subbufs) * subbuf_size +
 *    head % subbuf_size. Read the count first, with acquire, and then head: in the other order
 *    writers may have added to the count. If head % subbuf_size is 0, there is no such sub-buffer.
 *  - A reader copies, and reads head again after a read barrier: the copy is valid if
 *    n + subbufs > head / subbuf_size.
 *
 * Records are in the order in which they were reserved. Numbers and times of concurrent writers, on
 * CPUs that share a ring or because one was interrupted, may be in another order.
 */
#ifndef GOTRACE_UAPI_H
#define GOTRACE_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GT_DEVICE	     "/dev/gotrace"
#define GT_ABI_VERSION	     1
#define GT_ABI_MAGIC	     0x65636172746f67ull /* "gotrace" and a NUL */

#define GT_NAME_MAX	     32 /* bytes of a session's name with its NUL: [A-Za-z0-9._-]+ */
#define GT_SESSIONS_MAX	     64
#define GT_SESSION_RINGS_MAX 1024

#define GT_SUBBUF_MIN	     (16u << 10) /* bytes; powers of two */
#define GT_SUBBUF_MAX	     (16u << 20)
#define GT_SUBBUFS_MIN	     4u /* per ring; a power of two */
#define GT_SUBBUFS_MAX	     4096u
#define GT_STACK_WORDS_MIN   (16u << 10) /* words of 8 bytes, per half of the table */
#define GT_STACK_WORDS_MAX   (8u << 20)
#define GT_CHECKPOINT_MAX    (1ull << 30)      /* bytes of one checkpoint; two are kept */
#define GT_TIMEOUT_MAX	     (30u * 24 * 3600) /* seconds */

/* ---- memory ---- */

struct gt_session_page {
	__u64 magic;
	__u32 version, size; /* GT_ABI_VERSION; size of the whole memory in pages */
	__u32 page_size;
	__u32 rings; /* a CPU writes to ring cpu % rings */
	__u32 subbuf_size, subbufs;
	__u32 stack_words;		      /* per half */
	__u32 stack_slots;		      /* of the index */
	__u64 control_offset, control_stride; /* bytes from the memory's start; ring to ring */
	__u64 ring_offset, ring_stride;
	__u64 index_offset; /* an array of __u64 */
	__u64 half_offset, half_stride;
	__u64 created, wall; /* the same moment by CLOCK_MONOTONIC and CLOCK_REALTIME, ns */
	/* CLOCK_MONOTONIC, ns: later records are rejected; 0: not frozen */
	__u64 frozen;
	__u64 stack_state; /* epoch << 32 | words used of this epoch's half */
	__u64 stacks_lost; /* stacks that got no id */
	__u64 refused;	   /* records rejected since it was frozen */
	__u64 reserved[8]; /* 0 */
};

struct gt_ring_control {
	__u64 head;	    /* bytes reserved so far */
	__u64 lost;	    /* records: the sub-buffer to enter was still being written */
	__u32 seq;	    /* number of the next record */
	__u32 reserved[11]; /* 0 */
	__u64 committed[];  /* by slot */
};

struct gt_subbuf {
	__u64 number; /* of the sub-buffer in its stream */
	__u32 used;   /* bytes, this header included; valid once it is complete */
	__u32 reserved;
};

/*
 * A stack in a half of the table. Its id is GT_STACK_ID(epoch, word at which it begins). When a
 * half is full, the other one, epoch % 2, is begun again with the next epoch: an id whose epoch
 * differs from that of its entry has been overwritten. Entries of a half are adjacent from its
 * start up to the words used; in the half before that, up to one with another epoch or of depth 0,
 * or until no header fits. A reader recognizes an entry that was overwritten while it was read by
 * its hash, which is that of its PCs.
 */
struct gt_stack_entry {
	__u64 hash; /* bpf/stack.bpf.h's: depth << 56 | hash of the PCs */
	__u32 epoch;
	__u16 depth;
	__u16 cut;  /* 1: the walk ended at its limit */
	__u64 pc[]; /* leaf first */
};

#define GT_STACK_EPOCH_BITS	 8
#define GT_STACK_ID(epoch, word) ((__u32)(epoch) << 24 | ((__u32)(word) + 1))
#define GT_STACK_ID_EPOCH(id)	 ((id) >> 24) /* its low 8 bits */
#define GT_STACK_ID_WORD(id)	 (((id) & 0xffffff) - 1)

/*
 * ---- ioctls; `size` is the caller's sizeof, reserved members are 0 in both directions ----
 *
 * An open file has at most one session: -EBADFD for a second one, -ENOENT if a session is required
 * and the file has none or has released it. The process that creates or claims a session is its
 * owner. When it ends without having released a KEEP session, that is frozen, and another process
 * may claim it; other processes with the file lose it (-ENOENT), also in calls in progress. If
 * another process shares the owner's descriptor table (CLONE_FILES), the end is noticed by the next
 * GT_IOC_CLAIM or GT_IOC_LIST. A session whose file was closed before, and that only a mapping
 * holds, is not frozen when the process ends, but may be claimed.
 */

#define GT_FEATURE_KFUNCS	 1u /* BPF programs can call gotrace_* (kernels since 6.10) */

struct gt_abi {
	__u32 size, version; /* out: GT_ABI_VERSION */
	__u32 features;	     /* out: GT_FEATURE_* */
	__u32 sessions;	     /* out: number of sessions */
	__u64 memory;	     /* out: bytes of all sessions, also those that are not mapped */
	__u64 memory_max;    /* out: their limit */
	__u64 reserved[4];
};

#define GT_SESSION_KEEP 1u

struct gt_abi_create {
	__u32 size, flags;
	char name[GT_NAME_MAX]; /* with KEEP: unique; else may be empty */
	__u32 rings;		/* 0: one for each online CPU */
	__u32 subbuf_size, subbufs, stack_words;
	__u32 timeout;	      /* seconds without an owner until it is freed; 0: unlimited */
	__u32 id;	      /* out: the session argument of kfuncs; never 0 */
	__u64 checkpoint_max; /* bytes of one checkpoint; 0: none */
	__u64 bytes;	      /* out: of its memory, for mmap() */
	__u64 reserved[4];
};

struct gt_abi_info {
	__u32 size, flags;
	char name[GT_NAME_MAX];
	__u32 id;
	__u32 owner;   /* PID of the owner, in the namespace of the caller; 0: none there */
	__u64 created; /* CLOCK_MONOTONIC, ns */
	__u64 frozen;  /* the same; 0: not frozen */
	__u64 expires; /* the same; 0: never, or it has an owner */
	__u64 bytes;   /* of its memory */
	__u64 checkpoint_bytes; /* current size of both checkpoints */
	__u64 checkpoints;	/* written so far */
	__u64 reserved[4];
};

struct gt_abi_claim {
	__u32 size, id; /* out: id */
	char name[GT_NAME_MAX];
	__u64 bytes; /* out: of its memory, for mmap() */
	__u64 reserved[4];
};

struct gt_abi_list {
	__u32 size, count; /* in: room; out: number of sessions */
	__u64 infos;	   /* address of struct gt_abi_info[count] */
	__u32 info_size;   /* in: the caller's sizeof(struct gt_abi_info) */
	__u32 pad;
	__u64 reserved;
};

/*
 * A checkpoint is written completely or not at all: the older of the two is freed only when the new
 * one is complete. Read: `which` 0 is the newest, 1 the one before.
 */
struct gt_abi_checkpoint {
	__u32 size, which;
	__u64 data, bytes;  /* address; in: buffer size; out of a read: checkpoint size */
	__u64 number, time; /* out: number, from 1; CLOCK_MONOTONIC, ns */
	__u64 reserved[2];
};

/* One record, as for gotrace_emit(): for tests, and for records of the owner itself. */
struct gt_abi_emit {
	__u32 size, record_size;
	__u64 record, tail; /* addresses */
	__u32 tail_size, pad;
	__u64 reserved[2];
};

/*
 * poll() reports readable when a ring has a complete sub-buffer since the last call of this ioctl,
 * and a hang-up when the session is frozen or released.
 */
struct gt_abi_positions {
	__u32 size, count; /* in: room; out: number of rings */
	__u64 heads;	   /* address of __u64[count]; 0: not requested */
	__u64 reserved[2];
};

#define GT_IOC_ABI	       _IOWR('g', 0x80, struct gt_abi)
/* -EEXIST; -ENOSPC; -ENOMEM: memory_max, or the limit of the cgroup */
#define GT_IOC_CREATE	       _IOWR('g', 0x81, struct gt_abi_create)
#define GT_IOC_INFO	       _IOWR('g', 0x82, struct gt_abi_info)  /* of this file's session */
#define GT_IOC_CLAIM	       _IOWR('g', 0x83, struct gt_abi_claim) /* -EBUSY: it has an owner */
#define GT_IOC_LIST	       _IOWR('g', 0x84, struct gt_abi_list)  /* of sessions with a name */
#define GT_IOC_FREEZE	       _IO('g', 0x85) /* no record is being written when it returns */
#define GT_IOC_RELEASE	       _IO('g', 0x86) /* frees this file's session, KEEP or not */
#define GT_IOC_CHECKPOINT      _IOWR('g', 0x87, struct gt_abi_checkpoint)
/* -ENODATA; -ENOSPC: `bytes` is set to the required size */
#define GT_IOC_READ_CHECKPOINT _IOWR('g', 0x88, struct gt_abi_checkpoint)
#define GT_IOC_EMIT	       _IOWR('g', 0x89, struct gt_abi_emit)
#define GT_IOC_POSITIONS       _IOWR('g', 0x8a, struct gt_abi_positions)

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_session_page) == 208, "no padding");
_Static_assert(sizeof(struct gt_ring_control) == 64, "a cache line, then the counts");
_Static_assert(sizeof(struct gt_subbuf) == 16, "no padding");
_Static_assert(sizeof(struct gt_stack_entry) == 16, "no padding");
_Static_assert(sizeof(struct gt_abi) == 64, "no padding");
_Static_assert(sizeof(struct gt_abi_create) == 112, "no padding");
_Static_assert(sizeof(struct gt_abi_info) == 128, "no padding");
_Static_assert(sizeof(struct gt_abi_claim) == 80, "no padding");
_Static_assert(sizeof(struct gt_abi_list) == 32, "no padding");
_Static_assert(sizeof(struct gt_abi_checkpoint) == 56, "no padding");
_Static_assert(sizeof(struct gt_abi_emit) == 48, "no padding");
_Static_assert(sizeof(struct gt_abi_positions) == 32, "no padding");
#endif

#endif

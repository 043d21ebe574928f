/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline probes: what is mapped into the target, and how its threads write records there.
 *
 * Upstream: userspace/inline/install.c, which maps three areas into the target. Writer of records:
 * userspace/inline/trampoline_x86.c, which runs in the target. Reader: userspace/inline/inline_rings.c. The
 * target can write the area of rings: the reader copies a record, then checks every field.
 *
 *	code	private, read and execute: struct gt_inline, then the handler, then a stub per site
 *	flag	private, read only, one page: a word, 1 while records are written. Not inherited
 *		by a child of fork(), which reads 0 (MADV_WIPEONFORK)
 *	rings	shared, read and write: seen[], then GT_INLINE_RINGS rings
 *
 * A ring is chosen by m.procid, the TID. It is a page with struct gt_inline_ring, then `slots` slots of 64
 * bytes. A record takes one slot; a stack takes as many as its PCs need. The writer reserves slots by
 * adding to `head`, fills them, and stores the commit word of each, the first slot's last:
 *
 *      0         4         8                                               64
 *      +---------+---------+-----------------------------------------------+
 *      |  place  | dropped | first slot: struct gt_record, payload         |
 *      +---------+---------+-----------------------------------------------+
 *      |  place  |    -    | further slots of a stack: 7 PCs               |
 *      +---------+---------+-----------------------------------------------+
 *
 * `place` is the low half of the slot's number plus 1, with the top bit for a further slot;
 * `dropped`, the number of records of the ring dropped so far, shows where losses are. The reader
 * sets the word to 0 before it returns the slot. `time` is the TSC.
 */
#ifndef GOTRACE_INLINE_H
#define GOTRACE_INLINE_H

#include "config.h"

#define GT_INLINE_MAGIC0     0x6e696c6e49706267ull /* "gbpInlin" */
#define GT_INLINE_MAGIC1     0x31e6f6b2a94c07d5ull
#define GT_INLINE_RINGS	     64
#define GT_INLINE_SLOT	     64 /* bytes */
#define GT_INLINE_SITES	     32
#define GT_INLINE_HEAD	     4096  /* bytes of a ring before its slots */
#define GT_INLINE_MARGIN     2048  /* slots that threads which reserve at once may exceed */
#define GT_INLINE_SEEN	     65536 /* places of stacks, numbered after those of the BPF programs */
#define GT_INLINE_SEEN_BYTES (GT_INLINE_SEEN * 8ull)
#define GT_INLINE_FURTHER    (1u << 31)
#define GT_INLINE_SLOT_PCS   7
#define GT_INLINE_JUMP	     6	   /* bytes of a replaced jbe rel32 */
#define GT_INLINE_CALL	     5	   /* bytes of a replaced call rel32 */
#define GT_INLINE_STUB	     64	   /* bytes of a site's stub, at most */
#define GT_INLINE_CODE	     16384 /* bytes of the area of code */

struct gt_inline_site {
	gt_u64 addr;   /* of the replaced instruction, in the target */
	gt_u64 stub;   /* address of its stub */
	gt_u64 cookie; /* as of a uprobe */
	gt_u8 was[GT_INLINE_JUMP];
	gt_u8 size;  /* of the instruction: GT_INLINE_JUMP or GT_INLINE_CALL */
	gt_u8 probe; /* enum gt_probe */
};

/* At the start of the area of code. Constant while probes are in place. */
struct gt_inline {
	gt_u64 magic[2];
	gt_u64 code, flag, rings; /* addresses of the areas in the target */
	gt_u64 code_bytes, ring_bytes /* of the area of rings */;
	gt_u64 stride;	 /* from one ring to the next, bytes */
	gt_u32 slots;	 /* of a ring, a power of two */
	gt_u32 m_procid; /* offset in m */
	gt_u32 nsites, pad;
	struct gt_inline_site site[GT_INLINE_SITES];
	struct gt_config config;
};

struct gt_inline_ring {
	gt_u64 head; /* slots reserved since the start; by writers */
	gt_u64 pad0[7];
	gt_u64 tail; /* slots returned; by the reader */
	gt_u64 pad1[7];
	gt_u64 dropped; /* records without room */
	gt_u64 pad2[7];
	gt_u64 lost[GT_KIND_END]; /* the same, by kind */
};

struct gt_inline_slot {
	union {
		gt_u64 word; /* stored at once */
		struct {
			gt_u32 place, dropped;
		};
	};
	union {
		struct {
			struct gt_record rec;
			gt_u64 payload[3];
		};
		gt_u64 pc[GT_INLINE_SLOT_PCS];
	};
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_inline_slot) == GT_INLINE_SLOT, "a slot is 64 bytes");
_Static_assert(sizeof(struct gt_inline_ring) <= GT_INLINE_HEAD, "before the slots");
_Static_assert(sizeof(struct gt_inline) <= 2048, "the handler begins there");
#endif

#endif

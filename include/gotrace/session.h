/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What userspace tells the probes: one struct, placed in the BPF object's read-only data before it
 * is loaded (so that the verifier and JIT see constants), and the list of probes.
 *
 * Filled by userspace/capture/session.c from userspace/target/layout.c; read by bpf/.
 */
#ifndef GOTRACE_SESSION_H
#define GOTRACE_SESSION_H

#include "record.h"

/*
 * Probes. A function each, of the lower-case name, in bpf/: a BPF program or a part of one.
 * userspace/target/site.c finds the instructions. More than one site may belong to a probe: a
 * site's cookie tells them apart.
 * Comment: what the program expects at the instruction (ABIInternal registers, R14 = current g).
 */
enum gt_probe {
	GT_PROBE_EXECUTE,	 /* AX = g */
	GT_PROBE_PARK,		 /* AX = g; g.sched, m.waitTrace* set; R14 = g0 */
	GT_PROBE_READY,		 /* AX = g, BX = traceskip; R14 = g0 */
	GT_PROBE_CAS_RUNNABLE,	 /* AX = g, its status changes; cookie = enum gt_via */
	GT_PROBE_GOSCHED,	 /* AX = g; cookie = enum gt_gosched: BX = preempted */
	GT_PROBE_GOYIELD,	 /* AX = g: always "preempted" */
	GT_PROBE_PREEMPT_PARK,	 /* AX = g */
	GT_PROBE_CREATE,	 /* BX = new g; R14 = g0; cookie 1: AX = new g */
	GT_PROBE_CREATE_BLOCKED, /* AX = new g (newproc1 returned); R14 = g0 */
	GT_PROBE_DESTROY,	 /* AX = g */
	GT_PROBE_SWITCH,	 /* AX = g; next = *g.coroarg */
	/*
	 * R14 = g, AX = pc, BX = sp, CX = bp (>= 1.23); GT_SYSCALL_OF_CALLER: the entry of
	 * entersyscall, [rsp] = pc, rbp = bp; inlined: g.sched
	 */
	GT_PROBE_SYSCALL_ENTER,
	GT_PROBE_SYSCALL_BLOCK,	   /* R14 = g; [rsp] = pc, rbp = caller's frame; cookie 1: framed */
	GT_PROBE_SYSCALL_EXIT,	   /* AX = g: casgstatus in exitsyscall, <= 1.25 */
	GT_PROBE_SYSCALL_TRY_EXIT, /* R14 = g: the entry of exitsyscall, >= 1.26 */
	GT_PROBE_SYSCALL_LOST,	   /* R14 = g0 */
	GT_PROBE_SYSCALL_NO_P,	   /* AX = g */
	GT_PROBE_CREATE_SYSCALL,   /* R14 = g0, g = m.curg: needm, on a thread of C's */
	GT_PROBE_DESTROY_SYSCALL,  /* the same: dropm */
	GT_PROBE_P_START,	   /* AX = p */
	GT_PROBE_P_STOP,	   /* p = R14.m.p */
	GT_PROBE_P_HANDOFF,	   /* AX = p; cookie 1: CX = p (syscallingThread.releaseP) */
	GT_PROBE_STW_BEGIN,	   /* AX = reason (>= 1.21), or cookie GT_STW_REASON; R14 = g0 */
	GT_PROBE_STW_END,
	GT_PROBE_GC_BEGIN, /* R14 = g; cookie 1: inside gcStart, stack from [rbp + 8] on */
	GT_PROBE_GC_END,
	GT_PROBE_PROCS,	       /* AX = number of Ps */
	GT_PROBE_TASK_BEGIN,   /* AX = id, BX = parent, CX, DI = type; R14 = g */
	GT_PROBE_TASK_END,     /* AX = id; R14 = g */
	GT_PROBE_REGION,       /* AX = task, BX = 1 at its end, CX, DI = name; R14 = g */
	GT_PROBE_LOG,	       /* AX = task, BX, CX = category, DI, SI = message; R14 = g */
	GT_PROBE_ASSIST_BEGIN, /* R14 = g; inside gcAssistAlloc, whose frame is at rbp */
	GT_PROBE_ASSIST_END,
	GT_PROBE_HEAP_ALLOC, /* the cookie's register = bytes */
	GT_PROBE_HEAP_GOAL,  /* BX = bytes */
	GT_PROBE_SWEEP_BEGIN,
	GT_PROBE_SWEEP_SPAN, /* AX = sweepLocked, [rsp] = caller; a place: a chunk of the heap */
	GT_PROBE_SWEEP_LEFT, /* AX = mspan; cookie 1: AX = the chunk's pages that were freed */
	GT_PROBE_SWEEP_END,
	GT_PROBE_COUNT
};

/*
 * A site's cookie: its low 8 bits are what the list above says. Where the compiler inlined the
 * function that the probe is for, the rest say which registers (numbered as in machine code) hold
 * what the program needs, and whether the transition took place at all: `zero_flag` is the one that
 * a compare-and-swap which succeeded has left at that instruction. The program checks the statuses,
 * too: not all of them are known beforehand.
 *
 *	bits  0-7   by probe
 *	      8-12  register of the object (g or p) + 1; 0: as listed above
 *	     13-17  register of the new status + 1; 0: no statuses
 *	     18-22  register of the old status + 1
 *	     23-24  zero flag + 1; 0: any
 *	     25-40  old status
 *	     41-56  new status
 *	     57-63  the probe, in the cookie that a program gets: some programs serve more than one
 */
#define GT_COOKIE(probe, cookie)    ((gt_u64)(probe) << 57 | (cookie))
#define GT_COOKIE_PROBE(cookie)	    ((enum gt_probe)((cookie) >> 57))
#define GT_COOKIE_SITE(cookie)	    ((cookie) & ((1ull << 57) - 1))
#define GT_COOKIE_VALUE(cookie)	    ((cookie) & 0xff)
#define GT_COOKIE_OBJECT(cookie)    ((cookie) >> 8 & 31)
#define GT_COOKIE_NEW_REG(cookie)   ((cookie) >> 13 & 31)
#define GT_COOKIE_OLD_REG(cookie)   ((cookie) >> 18 & 31)
#define GT_COOKIE_ZERO_FLAG(cookie) ((cookie) >> 23 & 3)
#define GT_COOKIE_OLD(cookie)	    ((cookie) >> 25 & 0xffff)
#define GT_COOKIE_NEW(cookie)	    ((cookie) >> 41 & 0xffff)

#define GT_SITE_OBJECT(reg)	    ((gt_u64)((reg) + 1) << 8)
#define GT_SITE_ZERO_FLAG(flag)	    ((gt_u64)((flag) + 1) << 23)
#define GT_SITE_STATUSES(old_reg, new_reg, old, new)                                               \
	((gt_u64)((new_reg) + 1) << 13 | (gt_u64)((old_reg) + 1) << 18 | (gt_u64)(old) << 25 |     \
	 (gt_u64)(new) << 41)
/* A compare-and-swap of [g + status]: AX is the old status. */
#define GT_SITE_CAS(g, new_reg, zero_flag, old, new)                                               \
	(GT_SITE_OBJECT(g) | GT_SITE_ZERO_FLAG(zero_flag) | GT_SITE_STATUSES(0, new_reg, old, new))
/* A call of casgstatus: AX = g, BX = old, CX = new. */
#define GT_SITE_CALL(old, new)		(GT_SITE_OBJECT(0) | GT_SITE_STATUSES(3, 1, old, new))
/* A compare-and-swap of another word that has the object in a register. */
#define GT_SITE_OPERAND(reg, zero_flag) (GT_SITE_OBJECT(reg) | GT_SITE_ZERO_FLAG(zero_flag))

/*
 * Of some probes the cookie has no fields but is an address, less the site's since the program may
 * be loaded anywhere: GT_PROBE_HEAP_GOAL: of gcController, whose first member is gcPercent;
 * GT_PROBE_ASSIST_BEGIN, GT_PROBE_SWEEP_SPAN: where the call of the tracer returns to. 0: none.
 */
#define GT_COOKIE_IS_PLACE(probe)                                                                  \
	((probe) == GT_PROBE_HEAP_GOAL || (probe) == GT_PROBE_ASSIST_BEGIN ||                      \
	 (probe) == GT_PROBE_SWEEP_SPAN)
#define GT_SITE_PLACE(addr, site)     (((addr) - (site)) & ((1ull << 57) - 1))
#define GT_COOKIE_PLACE(cookie, site) ((site) + (gt_u64)((long long)((cookie) << 7) >> 7))

/* GT_PROBE_STW_BEGIN: 0, or the reason is not in AX but this */
#define GT_STW_REASON(reason)	      ((reason) + 1)
/* GT_PROBE_SYSCALL_ENTER */
#define GT_SYSCALL_OF_CALLER	      1

enum gt_gosched {
	GT_GOSCHED_BY_BX = 0,  /* BX = preempted */
	GT_GOSCHED_YIELDS = 1, /* goschedImpl is called for a yield, BX is no argument */
	GT_GOSCHED_PREEMPTED = 2,
};

#define GT_RINGS_MAX 64
#define GT_NO_OFFSET 0xffffffffu /* a struct member that this Go version does not have */

/* Offsets are in bytes from the struct's start, as DWARF gives them for this very binary. */
struct gt_config {
	gt_u32 tgid;		      /* the target, in the initial PID namespace */
	gt_u32 rings;		      /* number of rings; a CPU writes to cpu % rings */
	gt_u32 stack_depth;	      /* 0: no stacks; at most GT_STACK_MAX */
	gt_u32 inlined_sites;	      /* 1: cookies have more than their low 8 bits */
	gt_u32 syscall_bp_in_cx;      /* 1: reentersyscall has its caller's frame pointer in CX */
	gt_u32 systemstack_frameless; /* 1: up to 1.20, *sched.sp is systemstack's caller */
	gt_u32 g_m;		      /* 48 */
	gt_u32 g_sched;		      /* 56 */
	gt_u32 gobuf_sp;	      /* 0 */
	gt_u32 gobuf_pc;	      /* 8 */
	gt_u32 gobuf_bp;
	gt_u32 g_goid;
	gt_u32 g_waitreason;
	gt_u32 g_startpc;
	gt_u32 g_parent_goid;	  /* >= 1.21, else GT_NO_OFFSET: the creator's goid */
	gt_u32 g_coroarg;	  /* >= 1.23, else GT_NO_OFFSET */
	gt_u32 g_coroexit;	  /* >= 1.23, else GT_NO_OFFSET */
	gt_u32 g_sync_safe_point; /* >= 1.25, else GT_NO_OFFSET: *sched.sp is the second PC */
	gt_u32 coro_gp;		  /* 0 */
	gt_u32 m_curg;
	gt_u32 m_p;
	gt_u32 m_oldp;
	gt_u32 m_block_reason; /* m.waitTraceBlockReason; waitTraceSkip stands at +8 */
	gt_u32 m_skip;	       /* m.waitTraceSkip */
	gt_u32 p_id;	       /* 0 */
	gt_u32 p_gc_mode;      /* p.gcMarkWorkerMode */
	gt_u32 span_npages;
	gt_u32 span_alloc_count; /* 2 bytes */
	gt_u32 span_elem_size;
	gt_u32 kfuncs;	/* 1: the module's functions can be called (module.h) */
	gt_u32 session; /* of the module (uapi.h), for all records and stacks; 0: the rings */
};

#endif

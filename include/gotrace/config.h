/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration of the probes: one struct, placed in the BPF object's read-only data before it
 * is loaded (so that the verifier and JIT see constants), and the list of probes.
 *
 * Upstream: userspace/capture/probes.c, which fills it from userspace/target/layout/layout.c.
 * Downstream: bpf/.
 */
#ifndef GOTRACE_SESSION_H
#define GOTRACE_SESSION_H

#include "record.h"

enum gt_probe {
#define GT_PROBE(NAME, ...) GT_PROBE_##NAME,
	GT_PROBES(GT_PROBE) GT_PROBE_COUNT
#undef GT_PROBE
};

/*
 * A site's cookie. kinds.h defines its low 8 bits per probe. Where the compiler inlined the probe's
 * function, the other bits name the registers (numbered as in machine code) with the arguments, and
 * how the program finds out whether the transition took place: `zero_flag` is its value after a
 * successful compare-and-swap. The program also checks the statuses, if they were not known before.
 *
 *	bits  0-7   by probe
 *	      8-12  register of the object (g or p) + 1; 0: as listed in kinds.h
 *	     13-17  register of the new status + 1; 0: no statuses
 *	     18-22  register of the old status + 1
 *	     23-24  zero flag + 1; 0: any
 *	     25-40  old status
 *	     41-56  new status
 *	     57-63  the probe, in the cookie that a program gets: some programs serve more than one
 *
 * Of HEAP_ALLOC, bits 13-56 are the link-time address of the counter whose sum the register has; 0:
 * unknown.
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
#define GT_COOKIE_COUNTER(cookie)   ((cookie) >> 13 & ((1ull << 44) - 1))
#define GT_SITE_COUNTER(address)    ((gt_u64)(address) >> 44 ? 0 : (gt_u64)(address) << 13)
#define GT_SITE_ZERO_FLAG(flag)	    ((gt_u64)((flag) + 1) << 23)
#define GT_SITE_STATUSES(old_reg, new_reg, old, new)                                               \
	((gt_u64)((new_reg) + 1) << 13 | (gt_u64)((old_reg) + 1) << 18 | (gt_u64)(old) << 25 |     \
	 (gt_u64)(new) << 41)
/* A compare-and-swap of [g + status]. Registers: userspace/target/arch/arch.h. */
#define GT_SITE_CAS(g, new_reg, zero_flag, old, new)                                               \
	(GT_SITE_OBJECT(g) | GT_SITE_ZERO_FLAG(zero_flag) |                                        \
	 GT_SITE_STATUSES(GPR_CAS_OLD, new_reg, old, new))
/* A call of casgstatus(g, old, new). */
#define GT_SITE_CALL(old, new)                                                                     \
	(GT_SITE_OBJECT(GPR_ARG1) | GT_SITE_STATUSES(GPR_ARG2, GPR_ARG3, old, new))
/* A compare-and-swap of another word that has the object in a register. */
#define GT_SITE_OPERAND(reg, zero_flag) (GT_SITE_OBJECT(reg) | GT_SITE_ZERO_FLAG(zero_flag))

/*
 * The cookies of some probes have no fields but an address, relative to the site because the
 * program may be loaded anywhere. GT_PROBE_HEAP_GOAL: gcController, whose first member is
 * gcPercent; GT_PROBE_ASSIST_BEGIN, GT_PROBE_SWEEP_SPAN: the return address of the call of the
 * tracer. 0: none.
 */
#define GT_COOKIE_IS_PLACE(probe)                                                                  \
	((probe) == GT_PROBE_HEAP_GOAL || (probe) == GT_PROBE_ASSIST_BEGIN ||                      \
	 (probe) == GT_PROBE_SWEEP_SPAN)
#define GT_SITE_PLACE(addr, site)     (((addr) - (site)) & ((1ull << 57) - 1))
#define GT_COOKIE_PLACE(cookie, site) ((site) + (gt_u64)((long long)((cookie) << 7) >> 7))

/* GT_PROBE_STW_BEGIN: 0, or the reason plus 1 where it is not in AX */
#define GT_STW_REASON(reason)	      ((reason) + 1)
/* GT_PROBE_SYSCALL_ENTER */
#define GT_SYSCALL_OF_CALLER	      1
/* GT_PROBE_SYSCALL_CALL: at a call of entersyscall; 0: at one of reentersyscall, which has arguments */
#define GT_SYSCALL_OF_CALL	      1

/*
 * GT_PROBE_FUNC_CALL: the number of the function; whether the call ends there; enum gt_recorded_as;
 * whether the kernel single-steps the instruction; and how many bytes the return address is above
 * the stack pointer
 */
#define GT_SITE_CALL_OF(func, ends, task)                                                          \
	((gt_u64)(func) | (gt_u64)(ends) << 6 | (gt_u64)(task) << 7)
/* Also of GT_PROBE_REQUEST, whose low 8 bits are an index of the table in gotrace/request.h */
#define GT_SITE_CALL_STEPPED(stepped)	 ((gt_u64)(stepped) << 9)
/* A panic was recovered: the top of the stack is where the runtime has stored the stack pointer. */
#define GT_SITE_CALL_RECOVERED		 (1ull << 10)
#define GT_SITE_CALL_FRAME(bytes)	 ((gt_u64)(bytes) << 24)
#define GT_COOKIE_CALL_FUNC(cookie)	 ((cookie) & 63)
#define GT_COOKIE_CALL_ENDS(cookie)	 ((cookie) >> 6 & 1)
#define GT_COOKIE_CALL_TASK(cookie)	 ((cookie) >> 7 & 3)
#define GT_COOKIE_CALL_STEPPED(cookie)	 ((cookie) >> 9 & 1)
#define GT_COOKIE_CALL_RECOVERED(cookie) ((cookie) >> 10 & 1)
#define GT_COOKIE_CALL_FRAME(cookie)	 ((cookie) >> 24 & 0xffffffff)

/* GT_PROBE_LABELS: what the argument points to */
enum gt_labels_kind {
	GT_LABELS_MAP = 0,  /* up to 1.23: a map[string]string */
	GT_LABELS_LIST = 1, /* from 1.24: a slice of pairs of strings, sorted by key */
};

enum gt_gosched {
	GT_GOSCHED_BY_ARG = 0, /* the second argument is `preempted` */
	GT_GOSCHED_YIELDS = 1, /* goschedImpl is called for a yield, and has one argument */
	GT_GOSCHED_PREEMPTED = 2,
};

#define GT_RINGS_MAX 64
#define GT_RINGS_ALL (GT_RINGS_MAX + 64) /* with those of inline probes, which follow */
#define GT_NO_OFFSET 0xffffffffu	 /* a struct member that this Go version does not have */

/* Offsets are in bytes from the struct's start, as in the DWARF of this binary. */
struct gt_config {
	gt_u32 tgid;		      /* TGID of the target */
	gt_u32 rings;		      /* number of rings; a CPU writes to cpu % rings */
	gt_u32 stack_depth;	      /* 0: no stacks; at most GT_STACK_MAX */
	gt_u32 inlined_sites;	      /* 1: cookies have more than their low 8 bits */
	gt_u32 syscall_fp_given;      /* 1: reentersyscall's third argument is the frame pointer */
	gt_u32 systemstack_frameless; /* 1: up to 1.20, *sched.sp is systemstack's caller */
	gt_u32 entry_at_check;	      /* 1: up to 1.20, entries are probed at the stack check */
	gt_u32 g_m;		      /* 48 */
	gt_u32 g_sched;		      /* 56 */
	gt_u32 gobuf_sp;	      /* 0 */
	gt_u32 gobuf_pc;	      /* 8 */
	gt_u32 gobuf_bp;
	gt_u32 g_goid;
	gt_u32 g_status; /* g.atomicstatus */
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
	gt_u32 m_block_reason; /* m.waitTraceBlockReason; waitTraceSkip is at +8 */
	gt_u32 m_skip;	       /* m.waitTraceSkip */
	gt_u32 p_id;	       /* 0 */
	gt_u32 p_gc_mode;      /* p.gcMarkWorkerMode */
	gt_u32 span_npages;
	gt_u32 span_alloc_count; /* 2 bytes */
	gt_u32 span_elem_size;
	gt_u32 kfuncs;	   /* 1: the module's functions can be called (module.h) */
	gt_u32 session;	   /* of the module (uapi.h), for all records and stacks; 0: the rings */
	gt_u32 derives;	   /* 1: parks and ends are derived from the next record of their thread */
	gt_u32 derived_ns; /* ns from a derived park or end to the start of the hit (GT_DERIVED_OF) */
	gt_u32 exits_probed; /* 1: up to 1.25, ends of system calls are never derived */
	gt_u32 never;	     /* 0, which only the verifier knows: kernel_stack.bpf.h */
	gt_u32 calls_only;   /* 1: no kernel events but those from which system calls are derived */
	gt_u64 syscall_at;   /* return address of Go's system calls, if they are derived; or 0 */
	gt_u64 heap_live;    /* address of gcController.heapLive, if it may be sampled; or 0 */
};

#endif

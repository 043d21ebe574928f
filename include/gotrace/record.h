/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record: what a probe says about one moment of the traced program.
 *
 * Written by bpf/emit.bpf.h into a ring (later by the module, too), copied out by
 * userspace/capture/drain.c, saved by --raw, ordered by userspace/sequence/merge.c and
 * understood by userspace/sequence/state.c. This file is the only description of its layout;
 * it pulls in nothing but fixed-width types so that BPF, kernel and userspace can share it.
 *
 * Every record is a header of 32 bytes and a payload of a fixed size by kind; STACK,
 * SAMPLE and TEXT have a tail behind it. Everything is 8-byte aligned and little-endian (linux/amd64 only).
 *
 *      0        4        8       12       16       20       24       28       32
 *      +-----------------+--------+----+----+-----------------+--------+--------+
 *      |      time       |  tid   |kind|cpu |     object      | stack  |  seq   |
 *      +-----------------+--------+----+----+-----------------+--------+--------+
 *      |     payload: 0, 8, 16 or 24 bytes, see the table of kinds             ...
 *      +-----------------+------------------------------------------------------
 */
#ifndef GOTRACE_RECORD_H
#define GOTRACE_RECORD_H

#if defined(__KERNEL__) || defined(__bpf__)
typedef unsigned char gt_u8;
typedef unsigned short gt_u16;
typedef unsigned int gt_u32;
typedef unsigned long long gt_u64;
#else
#include <stdint.h>
typedef uint8_t gt_u8;
typedef uint16_t gt_u16;
typedef uint32_t gt_u32;
typedef uint64_t gt_u64;
#endif

/*
 * Kinds. Values are explicit, never reused, and part of the raw file's format. A new kind needs a
 * line here, in gt_payload_size(), in gt_kind_name() (userspace/lib/kinds.c), a probe in bpf/, and
 * a row in the table of userspace/sequence/state.c; the kernel's side, which moves no goroutine, goes
 * to trace/kernel.h instead.
 *
 *  kind                  object       stack    payload
 */
enum gt_kind {
	GT_NONE = 0,
	/* goroutines */
	GT_EXECUTE = 1,	     /* g         -        execute: goid */
	GT_PARK = 2,	     /* g         g's      park: reasons and frames to skip */
	GT_READY = 3,	     /* g         unblocker's  ready: via, GC worker mode, frames to skip */
	GT_YIELD = 4,	     /* g         g's      yield: preempted or not */
	GT_PREEMPT_PARK = 5, /* g         g's      none */
	GT_CREATE = 6,	     /* new g     creator's  create: goid, startpc, parent goid */
	GT_CREATE_BLOCKED = 7, /* new g     creator's  create (coroutines) */
	GT_DESTROY = 8,	       /* g         -        destroy: goid */
	GT_SWITCH = 9,	       /* g         -        switch: next g, its goid, 1 if g exits */
	/* system calls */
	GT_SYSCALL_ENTER = 10, /* g         g's      none; P stays bound until taken */
	GT_SYSCALL_BLOCK = 11, /* g         g's      none; P_STOP follows on this thread */
	GT_SYSCALL_EXIT =
		12, /* g         -        none; has a P: its own or, after P_START, another */
	GT_SYSCALL_TRY_EXIT =
		13, /* g        -        none; >= 1.26: has its P unless SYSCALL_LOST follows */
	GT_SYSCALL_LOST = 14, /* 0         -        none; P was taken, another one is sought */
	GT_SYSCALL_NO_P = 15, /* g         -        none; no P found: g is runnable */
	GT_CREATE_SYSCALL =
		16, /* g         -        create: goid, the P it may find its own again */
	GT_DESTROY_SYSCALL =
		17, /* g         -        destroy: goid; a thread goes back to C for good */
	/* Ps */
	GT_P_START = 20,   /* p         -        proc: id */
	GT_P_STOP = 21,	   /* p         -        proc: id */
	GT_P_HANDOFF = 22, /* p         -        proc: id; by any thread, p is idle or retaken */
	/* runtime */
	GT_STW_BEGIN = 30,    /* 0         g's      value: the runtime's stwReason */
	GT_STW_END = 31,      /* 0         -        none */
	GT_GC_BEGIN = 32,     /* 0         g's      none */
	GT_GC_END = 33,	      /* 0         -        none */
	GT_PROCS = 34,	      /* 0         g's      value: new number of Ps */
	GT_ASSIST_BEGIN = 35, /* 0         g's      none; may come again before its end (<= 1.21) */
	GT_ASSIST_END = 36,   /* 0         -        none; may come without a begin (<= 1.21) */
	GT_SWEEP_BEGIN = 37,  /* 0         -        none; the P may sweep from now on */
	GT_SWEEP_SPAN = 38,   /* 0         g's      span: bytes looked at, its objects */
	GT_SWEEP_END = 39,    /* 0         -        none; may come without a begin */
	GT_HEAP_ALLOC = 41,   /* 0         -        value: bytes */
	GT_HEAP_GOAL = 42,    /* 0         -        value: bytes; ~0: no goal */
	GT_SWEEP_LEFT = 43,   /* 0         -        left: of the last SWEEP_SPAN of this thread */
	/* the process */
	GT_EXEC = 40, /* 0         -        none: the process replaced its program */
	/* what the program says of itself, by package runtime/trace */
	GT_TASK_BEGIN = 44, /* g         g's      task: its id, its parent's, its type's text */
	GT_TASK_END = 45,   /* g         g's      value: the task's id */
	GT_REGION = 46,	    /* g         g's      region: task, name's text, begins or ends */
	GT_LOG = 47,	    /* g         g's      log: task, category's text, message's */
	/* the processors */
	GT_SAMPLE = 48, /* 0         -        stack: of what a CPU ran just then */
	/* data */
	GT_STACK = 50, /* hash      -        stack: depth, then the PCs, leaf first */
	GT_TEXT = 51,  /* its name  -        text: length, then the bytes, padded to 8 */
	/* the kernel's side: tid is the thread that it happens to, whatever Go does with it */
	GT_CPU_ON = 56,	 /* tid of who left -  none; the thread has this core from now on */
	GT_CPU_OFF = 57, /* tid of who got it - off: why, and who got the core; 0: idle */
	GT_WAKING =
		58, /* waker's tid -      waking: the waker's process; from an interrupt or not */
	GT_SYS_ENTER = 59,   /* number    -        none */
	GT_SYS_EXIT = 60,    /* number    -        value: the result, a negative errno included */
	GT_THREAD = 61,	     /* by what   -        thread: created, ended, named, or just there */
	GT_FAULT_BEGIN = 62, /* address   -        none; a page fault, of user or kernel code */
	GT_FAULT_END = 63,   /* 0         -        none */
	GT_KIND_END
};

/* A record's `tid` is the host's (the initial PID namespace's), as perf's. */
struct gt_record {
	gt_u64 time; /* CLOCK_MONOTONIC, ns; stamped after the slot was reserved */
	gt_u32 tid;
	gt_u16 kind; /* enum gt_kind */
	gt_u16 cpu;
	gt_u64 object; /* an address in the target, or GT_STACK: the 64-bit hash */
	gt_u32 stack;  /* the stack's number, by which a GT_STACK has its PCs; 0: none */
	gt_u32 seq;    /* of this ring; a number that never arrives is a lost record */
};

struct gt_execute {
	gt_u64 goid;
};

struct gt_park {
	gt_u8 block_reason; /* m.waitTraceBlockReason (Go's traceBlockReason) */
	gt_u8 wait_reason;  /* g.waitreason */
	gt_u16 pad;
	gt_u32 skip; /* m.waitTraceSkip: logical frames to leave out */
};

enum gt_via { /* who made g runnable */
	      GT_VIA_READY = 0,
	      GT_VIA_SCHEDULER = 1, /* findRunnable, injectglist: no goroutine did it */
	      GT_VIA_GC_WORKER = 2, /* the same for a mark worker: `mode` is set */
	      GT_VIA_REFUSED = 3,   /* park_m: the unlock function refused the park */
};

struct gt_ready {
	gt_u16 via;
	gt_u16 mode; /* p.gcMarkWorkerMode, with GT_VIA_GC_WORKER */
	gt_u32 skip; /* logical frames to leave out of the unblocker's stack */
};

enum gt_yield_why {
	GT_YIELD_GOSCHED = 0,
	GT_YIELD_PREEMPTED = 1,
};

struct gt_yield {
	gt_u64 why;
};

struct gt_create {
	gt_u64 goid;
	gt_u64 startpc;
	gt_u64 parent; /* goid */
};

/* A thread that C made calls Go: its goroutine is there, as if in a system call. */
struct gt_create_syscall {
	gt_u64 goid;
	gt_u64 p; /* m.oldp: what the M's last call of Go ended with; 0: none */
};

struct gt_destroy {
	gt_u64 goid;
};

struct gt_switch {
	gt_u64 next; /* g */
	gt_u64 next_goid;
	gt_u64 exits; /* 1: the current goroutine ends by this switch */
};

struct gt_proc {
	gt_u64 id;
};

struct gt_value {
	gt_u64 value;
};

/*
 * Texts stand in records of their own, sent before the one that names them. One that comes again and
 * again is named by its hash, and sent once; a log's message by a number of its own (GT_TEXT_ONCE),
 * for that record alone. Into a black box, which overwrites what was sent, all go that way.
 */
#define GT_TEXT_PLACES                                                                             \
	8192		 /* that the probes remember, each in the place of its number's low bits */
#define GT_TEXT_EMPTY  0 /* the empty text is never sent */
#define GT_TEXT_UNREAD 1 /* nor is one that the probe could not read */
#define GT_TEXT_ONCE   (1ull << 63)

struct gt_task {
	gt_u64 id;
	gt_u64 parent; /* 0: none */
	gt_u64 type;   /* text */
};

struct gt_region {
	gt_u64 task; /* 0: none */
	gt_u64 name; /* text */
	gt_u64 ends; /* 0: it begins, 1: it ends */
};

struct gt_log {
	gt_u64 task;	 /* 0: none */
	gt_u64 category; /* text */
	gt_u64 message;	 /* text */
};

struct gt_text {
	gt_u32 len; /* bytes that follow */
	gt_u32 cut; /* 1: it goes on beyond them */
};

#define GT_TEXT_MAX 1024 /* bytes; Go's reader refuses more, its tracer cuts there, too */

struct gt_span {
	gt_u64 bytes;
	gt_u64 objects; /* that were allocated in it */
	gt_u64 size;	/* of an object */
};

struct gt_left {
	gt_u64 objects; /* that are still allocated in the span */
	gt_u64 pages;	/* of a chunk of the heap instead: freed, and so not looked at */
};

/* Of a thread that leaves its core: the kernel's reason. The values are the file's, too. */
enum gt_off {
	GT_OFF_PREEMPTED = 0, /* it could go on, but another one got the core */
	GT_OFF_YIELDED = 1,   /* it gave the core away by itself, but could go on */
	GT_OFF_THROTTLED = 2, /* it could go on, but its cgroup has used up its time */
	GT_OFF_SLEEPING = 3,  /* interruptible sleep */
	GT_OFF_DISK = 4,      /* uninterruptible sleep */
	GT_OFF_STOPPED = 5,   /* by a signal, a debugger or the freezer */
	GT_OFF_DEAD = 6,
	GT_OFF_END
};

struct gt_off_cpu {
	gt_u32 next_tgid;
	gt_u8 why; /* enum gt_off */
	gt_u8 pad[3];
	char next_comm[16];
};

struct gt_waking {
	gt_u32 tgid;	  /* the waker's */
	gt_u32 interrupt; /* 1: by an interrupt: the waker is only who was interrupted */
};

enum gt_thread_what {
	GT_THREAD_CREATED = 0, /* object: the creator's tid */
	GT_THREAD_ENDED = 1,
	GT_THREAD_NAMED = 2,   /* it, or another one, gave it a name */
	GT_THREAD_PRESENT = 3, /* when recording began; object: system call number + 1, 0: none */
};

struct gt_thread {
	gt_u8 what;   /* enum gt_thread_what */
	gt_u8 on_cpu; /* PRESENT: 1: it has a core (the record's cpu is it) */
	gt_u8 why;    /* PRESENT: enum gt_off, if it has none */
	gt_u8 pad[5];
	char comm[16];
};

/*
 * A stack's number. The probes remember GT_STACK_PLACES stacks, each in the place that the low bits of its hash name,
 * and a number is a place and how often that has changed: when a later stack is sent for a place, the number of the one
 * that was there is not used any more. A stack that is not placed keeps its number for ever: those of a black box, and
 * in raw files of older recorders, where it is the low half of the hash.
 */
#define GT_STACK_PLACES 65536

/*
 * Of a sample the first PC is where the CPU was, and one more, as if it were a return address. The next
 * two are what lay on top of the stack and below that: the first of them is a return address if the
 * function there has pushed nothing, the second if it has pushed the frame pointer, and has not set it.
 */
struct gt_stack {
	gt_u32 depth;  /* number of PCs */
	gt_u32 cut;    /* 1: the walk stopped at its limit */
	gt_u64 placed; /* 1: of GT_STACK_PLACES, its number's low bits say which; see below */
	gt_u64 pc[];   /* return addresses, in the target's address space, leaf first */
};

#define GT_SAMPLE_TOP 3	  /* a sample's PCs that are not from frames */
#define GT_STACK_MAX  128 /* frames; Go's internal/trace/tracev2: its reader refuses more */

static inline int gt_kind_is_kernels(unsigned int kind)
{
	return kind >= GT_CPU_ON && kind <= GT_FAULT_END;
}

/* Size of a kind's fixed payload in bytes; -1 for an unknown kind. */
static inline int gt_payload_size(unsigned int kind)
{
	switch (kind) {
	case GT_EXECUTE:
	case GT_PARK:
	case GT_READY:
	case GT_YIELD:
	case GT_DESTROY:
	case GT_P_START:
	case GT_P_STOP:
	case GT_P_HANDOFF:
	case GT_STW_BEGIN:
	case GT_PROCS:
	case GT_DESTROY_SYSCALL:
	case GT_HEAP_ALLOC:
	case GT_HEAP_GOAL:
	case GT_TASK_END:
	case GT_WAKING:
	case GT_SYS_EXIT:
		return 8;
	case GT_TEXT:
		return 8; /* and its bytes */
	case GT_CREATE_SYSCALL:
	case GT_SWEEP_LEFT:
		return 16;
	case GT_STACK:
	case GT_SAMPLE:
		return 16; /* and 8 a PC */
	case GT_CREATE:
	case GT_CREATE_BLOCKED:
	case GT_SWITCH:
	case GT_SWEEP_SPAN:
	case GT_TASK_BEGIN:
	case GT_REGION:
	case GT_LOG:
	case GT_CPU_OFF:
	case GT_THREAD:
		return 24;
	case GT_PREEMPT_PARK:
	case GT_SYSCALL_ENTER:
	case GT_SYSCALL_BLOCK:
	case GT_SYSCALL_EXIT:
	case GT_SYSCALL_TRY_EXIT:
	case GT_SYSCALL_LOST:
	case GT_SYSCALL_NO_P:
	case GT_STW_END:
	case GT_GC_BEGIN:
	case GT_GC_END:
	case GT_EXEC:
	case GT_ASSIST_BEGIN:
	case GT_ASSIST_END:
	case GT_SWEEP_BEGIN:
	case GT_SWEEP_END:
	case GT_CPU_ON:
	case GT_SYS_ENTER:
	case GT_FAULT_BEGIN:
	case GT_FAULT_END:
		return 0;
	}
	return -1;
}

/* Bytes behind the fixed payload, which must be there; -1: more than its kind may have. */
static inline int gt_tail_size(const struct gt_record *rec)
{
	const struct gt_stack *stack = (const struct gt_stack *)(rec + 1);
	const struct gt_text *text = (const struct gt_text *)(rec + 1);

	if (rec->kind == GT_STACK || rec->kind == GT_SAMPLE)
		return stack->depth <= GT_STACK_MAX ? (int)stack->depth * 8 : -1;
	if (rec->kind == GT_TEXT)
		return text->len <= GT_TEXT_MAX ? (int)((text->len + 7) & ~7u) : -1;
	return 0;
}

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_record) == 32, "the record header is 32 bytes");
_Static_assert(__builtin_offsetof(struct gt_record, tid) == 8, "tid");
_Static_assert(__builtin_offsetof(struct gt_record, kind) == 12, "kind");
_Static_assert(__builtin_offsetof(struct gt_record, object) == 16, "object");
_Static_assert(__builtin_offsetof(struct gt_record, stack) == 24, "stack");
_Static_assert(__builtin_offsetof(struct gt_record, seq) == 28, "seq");
_Static_assert(sizeof(struct gt_park) == 8 && sizeof(struct gt_ready) == 8, "8-byte payloads");
_Static_assert(sizeof(struct gt_create) == 24 && sizeof(struct gt_switch) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_task) == 24 && sizeof(struct gt_region) == 24 &&
		       sizeof(struct gt_log) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_off_cpu) == 24 && sizeof(struct gt_thread) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_stack) == 16, "a stack record's fixed part is 16 bytes");
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record that a probe emits. This file is the only description of its layout; it uses
 * fixed-width types only, so that BPF, kernel and userspace can share it.
 *
 * Upstream: bpf/emit.bpf.h or kmod/emit.c, which writes it into a ring. Downstream:
 * userspace/capture/drain.c copies it, --save-input saves it, userspace/sequence/merge.c orders it,
 * and userspace/sequence/state.c applies it.
 *
 * A record is a header of 32 bytes and a payload whose size is fixed per kind; STACK, SAMPLE and
 * TEXT are followed by a tail. Everything is 8-byte aligned and little-endian (linux/amd64 only).
 *
 *      0        4        8       12       16       20       24       28       32
 *      +-----------------+--------+----+----+-----------------+--------+--------+
 *      |      time       |  tid   |kind|cpu |     object      | stack  |  seq   |
 *      +-----------------+--------+----+----+-----------------+--------+--------+
 *      |     payload: 0, 8, 16, 24 or 32 bytes, by kind, see kinds.h          ...
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

#include "kinds.h"

enum gt_kind {
	GT_NONE = 0,
#define GT_KIND(number, NAME, ...) GT_##NAME = (number),
	GT_KINDS(GT_KIND) GT_KIND_END = 65 /* greater than each of them */
#undef GT_KIND
};

/* Threads and processes are named by the PID namespace of the recorder: pid_ns.h. */
struct gt_record {
	gt_u64 time; /* CLOCK_MONOTONIC, ns; stamped after the slot was reserved */
	gt_u32 tid;
	gt_u16 kind; /* enum gt_kind */
	gt_u16 cpu;
	gt_u64 object; /* an address in the target, or GT_STACK: the 64-bit hash */
	gt_u32 stack;  /* number of the GT_STACK record with the PCs; 0: none */
	gt_u32 seq;    /* number in its ring; a number that never arrives is a lost record */
};

/* Payloads, by their names in kinds.h. */

struct gt_none {
};

struct gt_execute {
	gt_u64 goid;
};

struct gt_park {
	gt_u8 block_reason; /* m.waitTraceBlockReason (Go's traceBlockReason) */
	gt_u8 wait_reason;  /* g.waitreason */
	gt_u16 derived;	    /* 0: the hit is its own; otherwise ns, or 1: see GT_DERIVED_NS */
	gt_u32 skip;	    /* m.waitTraceSkip: logical frames to omit */
};

/*
 * A goroutine starts, and the one before it on this thread has left it: derived from one hit.
 * userspace/sequence/derived.c makes two records of it, of which the first is earlier by
 * gt_park.derived, but after the previous record of the thread.
 */
struct gt_execute_parked {
	gt_u64 goid;
	gt_u64 before; /* g of the goroutine that parked; the record's stack is its own */
	struct gt_park park;
};

/*
 * When its thread noticed that it had left, the goroutine had ended: there, or elsewhere after it
 * had parked there.
 */
struct gt_ended {
	gt_u64 goid;
	struct gt_park park;
};

struct gt_execute_ended {
	gt_u64 goid;
	gt_u64 before; /* g of the goroutine that ended */
	struct gt_ended ended;
};

/*
 * gt_park.derived is the time from the park or end to that of the record, which a later hit of the
 * thread has sent: what the probe needed after its first reads until it took the time, which it
 * measured, and before that GT_DERIVED_OF() a trap, for the trap and the scheduler's code (at a poll
 * of the network for that code alone, which takes longer). That is the median of parks after which
 * the thread starts another goroutine at once. 1: files of earlier versions, and GT_DERIVED_NS.
 */
#define GT_DERIVED_OF(trap_ns) ((trap_ns) * 3 / 2)
#define GT_DERIVED_NS	       650    /* where a trap was not measured */
#define GT_DERIVED_NS_MAX      0xffff /* longer times count as this */

/* Both a begin of a goroutine's call and one of its thread's. */
struct gt_go_sys_enter {
	gt_u32 number;
	gt_u32 since; /* ns from the begin to the record: the stack was read meanwhile; over GT_DERIVED_NS_MAX: 0 */
};

/* Both an exit of a goroutine and one of its thread. */
struct gt_go_sys_exit {
	gt_u64 number;
	gt_u64 result;
};

/* what made g runnable */
enum gt_via {
	GT_VIA_READY = 0,
	GT_VIA_SCHEDULER = 1, /* findRunnable, injectglist: no goroutine */
	GT_VIA_GC_WORKER = 2, /* the same for a GC mark worker: `mode` is set */
	GT_VIA_REFUSED = 3,   /* park_m: the unlock function rejected the park */
};

struct gt_ready {
	gt_u16 via;
	gt_u16 mode; /* p.gcMarkWorkerMode, with GT_VIA_GC_WORKER */
	gt_u32 skip; /* logical frames to omit from the unblocker's stack */
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

/* A thread created by C calls Go: its goroutine exists, as if in a system call. */
struct gt_create_syscall {
	gt_u64 goid;
	gt_u64 p; /* m.oldp: the P with which the M's last call of Go ended; 0: none */
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
 * Texts are sent in records of their own, before the record that names them. A recurring text is
 * named by its hash and sent once; the message of a log has a number of its own (GT_TEXT_ONCE), for
 * that record only. In a flight recorder buffer, which overwrites earlier records, all texts are
 * sent like messages.
 */
/* Texts that the probes remember, each in the place given by its number's low bits */
#define GT_TEXT_PLACES	 8192
#define GT_TEXT_EMPTY	 0 /* the empty text is never sent */
#define GT_TEXT_UNREAD	 1 /* nor is a text that the probe could not read */
#define GT_TEXT_ONCE	 (1ull << 63)
/* Names that the recorder gives, before the window; no hash is such a number (see text__number()) */
#define GT_TEXTS_GIVEN	 64
#define GT_TEXT_GIVEN(i) (1ull << 62 | (gt_u64)(i) << 2)

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

enum gt_recorded_as {
	GT_AS_REGION = 0,
	GT_AS_TASK = 1,
	GT_AS_TASK_INHERITED = 2, /* goroutines that are created in the task belong to it */
};

enum gt_call_step {
	GT_CALL_BEGINS = 0,
	GT_CALL_ENDS = 1,
	GT_CALL_RECOVERED = 2, /* a panic was recovered: it has unwound all deeper calls */
};

/*
 * A call of a function that is recorded as a region or a task. `depth` is the distance of the return
 * address from the upper end of the goroutine's stack; it stays the same when the stack grows and
 * moves.
 */
struct gt_func_call {
	gt_u64 depth;	/* bytes; of a recovered panic: of what is below the frame that continues */
	gt_u64 name;	/* text: GT_TEXT_GIVEN */
	gt_u32 ends;	/* enum gt_call_step */
	gt_u16 task;	/* enum gt_recorded_as */
	gt_u16 stepped; /* 1: the kernel single-stepped the probed instruction */
};

/* A call of a function that shows a step of a request: see request.h. `depth` as above. */
struct gt_request {
	gt_u64 depth;
	gt_u64 text[2];
	gt_u32 number; /* GT_REQUEST_NO_NUMBER: none */
	gt_u8 preset, step;
	gt_u8 inherited; /* 1: goroutines that are created in the request belong to it */
	gt_u8 stepped;	 /* 1: the kernel single-stepped the probed instruction */
};

/* What a thread of the target did with a TCP connection. */
enum gt_socket_what {
	GT_SOCKET_READ = 0, /* the goroutine that reads the connection has read, or found no data */
	GT_SOCKET_AHEAD = 1, /* another goroutine has read: net/http's background read */
	GT_SOCKET_WROTE = 2,
	GT_SOCKET_WHATS
};

struct gt_socket {
	gt_u64 connection; /* its number */
	gt_u64 caller;	   /* g of the goroutine that has called */
	gt_u64 arrived; /* of a read: when its first byte could be read, CLOCK_MONOTONIC; 0: unknown */
	gt_u32 bytes; /* 0: no data to read */
	gt_u32 what;  /* enum gt_socket_what */
};

struct gt_log {
	gt_u64 task;	 /* 0: none */
	gt_u64 category; /* text */
	gt_u64 message;	 /* text */
};

#define GT_LABELS_MAX 16 /* labels of a set that are recorded */

/* A label of the set that a goroutine gets. An empty set is one record with n = 0. */
struct gt_label {
	gt_u64 key;   /* text */
	gt_u64 value; /* text */
	gt_u16 index; /* 0 ... n - 1 */
	gt_u16 n;     /* labels that are sent */
	gt_u32 cut;   /* 1: the set has more labels, or could not be read */
};

/* The recorder's own, of a goroutine that existed; the labels are those of the record's time. */
struct gt_labels_present {
	gt_u64 goid;
	gt_u64 text; /* GT_TEXT_ONCE: the message of the log */
};

/* The recorder's own. Shares are millionths of a CPU. */
struct gt_recorded {
	gt_u32 sets;   /* bits, by enum site_set; 0: no probe is attached */
	gt_u32 cost;   /* of the last second, for the target */
	gt_u32 budget; /* at this time */
	gt_u32 asked;  /* the sets that are recorded when all is well */
};

/* The recorder's own. */
struct gt_plugin {
	gt_u64 since, until; /* what it executed in between is missing; until 0: to the end */
	gt_u64 text;	     /* GT_TEXT_ONCE: the file's name, a line break, and the reason */
	gt_u64 recorded;     /* 1: from `until` on */
};

struct gt_text {
	gt_u32 len; /* bytes that follow */
	gt_u32 cut; /* 1: the text is longer */
};

#define GT_TEXT_MAX 1024 /* bytes; the limit of Go's reader, at which its tracer cuts, too */

#define GT_PAGE	    8192 /* bytes of a page of Go's heap, on all architectures (_PageShift) */

struct gt_span {
	gt_u64 bytes;
	gt_u64 objects; /* allocated in the span */
	gt_u64 size;	/* of an object */
};

struct gt_left {
	gt_u64 objects; /* still allocated in the span */
	gt_u64 pages;	/* instead: pages of a heap chunk that were freed uninspected */
};

/* Why a thread leaves its CPU, according to the kernel. The values are part of the file format. */
enum gt_off {
	GT_OFF_PREEMPTED = 0, /* runnable, but another thread got the CPU */
	GT_OFF_YIELDED = 1,   /* runnable, but it called sched_yield */
	GT_OFF_THROTTLED = 2, /* runnable, but its cgroup has used up its time */
	GT_OFF_SLEEPING = 3,  /* interruptible sleep */
	GT_OFF_DISK = 4,      /* uninterruptible sleep */
	GT_OFF_STOPPED = 5,   /* by a signal, a debugger or the freezer */
	GT_OFF_DEAD = 6,
	GT_OFF_END
};

/*
 * Why a thread sleeps or is stopped, beyond enum gt_off: what the system call in which it sleeps, if there
 * is one, does not show. The values are part of the file format.
 */
enum gt_sleep {
	GT_SLEEP_PLAIN = 0,  /* nothing more, or unknown */
	GT_SLEEP_FROZEN = 1, /* by the freezer of its cgroup */
	GT_SLEEP_TRACED = 2, /* by a debugger (ptrace) */
	GT_SLEEP_EXIT = 3,   /* it is ending */
	GT_SLEEP_MEMORY = 4, /* it reclaims memory */
	GT_SLEEP_DISK = 5,   /* in a system call: it waits for a disk */
	GT_SLEEP_PAGE = 6,   /* outside of system calls: it waits for a page of a file or of swap */
	GT_SLEEP_USER = 7,   /* outside of system calls: in a page fault, or before a signal */
	GT_SLEEP_END
};

/* How far a thread had come when it left its CPU, which its next record shows only later. */
enum gt_off_at {
	GT_OFF_AT_UNKNOWN = 0,
	GT_OFF_AT_CALL = 1,  /* in a system call of Go's, maybe on its way back to user mode */
	GT_OFF_AT_BEGIN = 2, /* its goroutine has begun a system call, and not entered the kernel */
	GT_OFF_AT_LEFT = 3,  /* the goroutine of its slot has left it: slot.h */
};

struct gt_off_cpu {
	gt_u32 next_tgid;
	gt_u8 why;   /* enum gt_off */
	gt_u8 at;    /* enum gt_off_at */
	gt_u8 sleep; /* enum gt_sleep */
	gt_u8 pad;
	char next_comm[16];
};

struct gt_waking {
	gt_u32 tgid;	  /* of the waker */
	gt_u32 interrupt; /* 1: by an interrupt: the waker is only the interrupted thread */
};

enum gt_thread_what {
	GT_THREAD_CREATED = 0, /* object: the creator's tid */
	GT_THREAD_ENDED = 1,
	GT_THREAD_NAMED = 2,   /* by itself or another thread */
	GT_THREAD_PRESENT = 3, /* existed at the start; object: system call number + 1, 0: none */
	/*
	 * While a thread of the target waits for a CPU. Object: that CPU << 32 | process. tid: a thread of
	 * any process, GT_IDLE_THREAD, or GT_NO_THREAD: unknown.
	 */
	GT_THREAD_HAS_CPU = 4, /* it gets the CPU */
	GT_THREAD_HAD_CPU = 5, /* it has had the CPU since before the wait began */
	GT_THREAD_MOVED = 6, /* waits for another CPU from now on; object: former CPU << 32 | CPU */
};

#define GT_NO_THREAD   ((gt_u32) - 1)
#define GT_IDLE_THREAD ((gt_u32) - 2) /* a record needs a tid that is not 0 */

struct gt_thread {
	gt_u8 what;   /* enum gt_thread_what */
	gt_u8 on_cpu; /* PRESENT: 1: it runs, on the record's cpu */
	gt_u8 why;    /* PRESENT: enum gt_off, if it does not run */
	gt_u8 waits;  /* PRESENT: 1: the recorder records HAS_CPU, HAD_CPU and MOVED */
	gt_u8 sleep;  /* PRESENT: enum gt_sleep, if it does not run */
	gt_u8 pad[3];
	char comm[16];
};

/*
 * Stack numbers. The probes remember GT_STACK_PLACES stacks, each in the place given by the low
 * bits of its hash: the BPF programs in the first half of the places, the inline probes in the
 * second. A number consists of a place and the count of its changes: when another stack
 * is sent for a place, the former number is no longer used. A stack without a place keeps its
 * number: in a flight recorder buffer, and in raw files of older recorders, where it is the low
 * half of the hash.
 */
#define GT_STACK_PLACES 131072
#define GT_STACK_SEEN	65536 /* places of one half */
#define GT_STACK_NUMBER(place, changes)                                                            \
	((gt_u32)((changes) & 0x7fff) << 17 | ((place) & (GT_STACK_PLACES - 1)))

/*
 * The first PC of a sample is where the CPU was, plus 1, like a return address. The next two are
 * the words on top of the stack: the first is a return address if the function there has pushed
 * nothing, the second if it has pushed the frame pointer but not set it yet.
 */
struct gt_stack {
	gt_u32 depth;  /* number of PCs */
	gt_u32 cut;    /* 1: the walk reached its limit */
	gt_u64 placed; /* 1: one of GT_STACK_PLACES, given by the number's low bits; see above */
	gt_u64 pc[];   /* return addresses in the target, leaf first */
};

#define GT_SAMPLE_TOP 3	  /* PCs of a sample that are not from frames */
#define GT_STACK_MAX  128 /* frames; the limit of Go's reader (internal/trace/tracev2) */

static inline int gt_kind_is_kernels(unsigned int kind)
{
	return kind >= GT_CPU_ON && kind <= GT_FAULT_END;
}

static inline int gt_kind_is_plugins(unsigned int kind)
{
	return kind == GT_PLUGIN_MAPPED || kind == GT_PLUGINS_PROBED || kind == GT_PLUGIN;
}

/* Size of a kind's fixed payload in bytes; -1 for an unknown kind. */
static inline int gt_payload_size(unsigned int kind)
{
	switch (kind) {
#define GT_SIZE(number, NAME, name, payload, ...)                                                  \
	case GT_##NAME:                                                                            \
		return (int)sizeof(struct gt_##payload);
		GT_KINDS(GT_SIZE)
#undef GT_SIZE
	}
	return -1;
}

/* Required bytes after the fixed payload; -1: more than the kind allows. */
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

#define GT_TIME_MAX 0x7fffffffffffffffull /* readers of traces have signed times */

/* Whether a record's size in bytes is that of its kind, and its time can be in a trace. */
static inline int gt_record_is_whole(const struct gt_record *rec, gt_u64 size)
{
	int payload = size < sizeof(*rec) ? -1 : gt_payload_size(rec->kind);
	int tail = payload < 0 || size < sizeof(*rec) + (gt_u64)payload ? -1 : gt_tail_size(rec);

	return tail >= 0 && size == sizeof(*rec) + (gt_u64)payload + (gt_u64)tail &&
	       rec->time <= GT_TIME_MAX;
}

#define GT_PAYLOAD_MAX 32 /* bytes, without a tail */

#ifndef __cplusplus
#define GT_FITS(number, NAME, name, payload, ...)                                                  \
	_Static_assert(sizeof(struct gt_##payload) <= GT_PAYLOAD_MAX, #name);
GT_KINDS(GT_FITS)
#undef GT_FITS
_Static_assert(sizeof(struct gt_record) == 32, "the record header is 32 bytes");
_Static_assert(__builtin_offsetof(struct gt_record, tid) == 8, "tid");
_Static_assert(__builtin_offsetof(struct gt_record, kind) == 12, "kind");
_Static_assert(__builtin_offsetof(struct gt_record, object) == 16, "object");
_Static_assert(__builtin_offsetof(struct gt_record, stack) == 24, "stack");
_Static_assert(__builtin_offsetof(struct gt_record, seq) == 28, "seq");
_Static_assert(sizeof(struct gt_park) == 8 && sizeof(struct gt_ready) == 8, "8-byte payloads");
_Static_assert(sizeof(struct gt_execute_parked) == 24 && sizeof(struct gt_execute_ended) == 32,
	       "24 and 32 bytes");
_Static_assert(sizeof(struct gt_create) == 24 && sizeof(struct gt_switch) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_task) == 24 && sizeof(struct gt_region) == 24 &&
		       sizeof(struct gt_log) == 24 && sizeof(struct gt_label) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_off_cpu) == 24 && sizeof(struct gt_thread) == 24,
	       "24-byte payloads");
_Static_assert(sizeof(struct gt_stack) == 16, "a stack record's fixed part is 16 bytes");
#endif

#endif

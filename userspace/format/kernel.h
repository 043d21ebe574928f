/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel events: scheduling, system calls, page faults and lifetimes of the target's threads,
 * stored as items in the private data of a trace.
 *
 * Upstream: sequence/kernel_events.c, which makes items from records of kind GT_CPU_ON and later, and
 * align/ (`gotrace align`), which adds events of perf.data. A generation contains the state of all
 * threads at its start (PRIVATE_THREADS) and its items by time (PRIVATE_KERNEL, PRIVATE_MACHINE,
 * PRIVATE_WAITS).
 * Downstream: reader/timeline.c, which merges items with events. gotrace-private(5) defines the
 * bytes.
 */
#ifndef FORMAT_KERNEL_H
#define FORMAT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "format/private_read.h"
#include "gotrace/record.h"
#include "lib/map.h"

/* the values are part of the file format */
enum kernel_kind {
	KERNEL_ON = 1, /* thread tid is on `cpu`; other: the previous thread */
	KERNEL_OFF, /* off CPU because of `why`; other: next thread (0: idle), its pid and name */
	KERNEL_WAKING,	  /* thread tid is runnable; other: the waker, its process; interrupt */
	KERNEL_SYS_ENTER, /* number */
	KERNEL_SYS_EXIT,  /* number, value: the result */
	KERNEL_CREATED,	  /* thread tid; other: its creator */
	KERNEL_ENDED,
	KERNEL_NAMED,	    /* name */
	KERNEL_FAULT_BEGIN, /* value: the address */
	KERNEL_FAULT_END,
	/*
	 * PRIVATE_MACHINE: `cpu` runs another process's thread tid, or is idle (0), or it is unknown what
	 * it runs (KERNEL_NO_THREAD)
	 */
	KERNEL_CPU,
	/*
	 * PRIVATE_WAITS, only while a thread of the target waits for `cpu`: it runs another process's
	 * thread tid, or is idle (0), or it is unknown what it runs (KERNEL_NO_THREAD); before: it has
	 * done so since before the wait began
	 */
	KERNEL_OCCUPANT,
	/* Thread tid waits for `cpu`, and until now for CPU `other`. kernel_thread.cpu stays the last CPU. */
	KERNEL_MOVED,
	KERNEL_KIND_END
};

struct kernel_item {
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint32_t tid;  /* in the PID namespace of the recorder, as the M of events */
	uint8_t kind;  /* enum kernel_kind */
	uint8_t why;   /* enum gt_off */
	uint8_t sleep; /* enum gt_sleep */
	bool interrupt, before;
	uint16_t cpu; /* where it happened */
	uint32_t other, other_pid;
	uint32_t number; /* of a system call */
	uint64_t value;
	/*
	 * OFF, CPU, OCCUPANT: name of the thread now on the CPU. CREATED, NAMED: name of the thread.
	 * SYS_ENTER, SYS_EXIT: name of the call, as in the file; a writer may leave it empty for
	 * the usual name. Lives as long as the reader, or as the writer's call.
	 */
	struct trace_string name;
};

/* of KERNEL_CPU and KERNEL_OCCUPANT: it is unknown which thread has the CPU from then on */
#define KERNEL_NO_THREAD UINT32_MAX

/* The recorder does not show what has the CPU; perf's items (KERNEL_CPU) may. */
static inline bool kernel_item__is_unknown(const struct kernel_item *item)
{
	return item->kind == KERNEL_OCCUPANT && item->tid == KERNEL_NO_THREAD;
}

enum kernel_run {
	KERNEL_UNKNOWN,	 /* nothing known yet, or since a loss */
	KERNEL_RUNNING,	 /* on `cpu` */
	KERNEL_RUNNABLE, /* woken, preempted or yielded: waits for a CPU */
	KERNEL_THROTTLED,
	KERNEL_SLEEPING,
	KERNEL_BLOCKED, /* uninterruptible */
	KERNEL_STOPPED,
	KERNEL_GONE,
};

#define KERNEL_NO_CALL	UINT32_MAX
/* the program passed the number -1, which no call has */
#define KERNEL_BAD_CALL (UINT32_MAX - 1)
#define KERNEL_NAME_MAX 16 /* bytes; longer names are truncated */

/* The state of a thread after the items so far. */
struct kernel_thread {
	uint32_t tid;
	uint8_t run;   /* enum kernel_run */
	uint8_t sleep; /* enum gt_sleep: SLEEPING, BLOCKED, STOPPED */
	bool in_fault;
	uint16_t cpu;	/* present or last CPU */
	uint64_t since; /* time of the last change of run; 0: before the trace */
	uint32_t call;	/* number of the present system call; KERNEL_NO_CALL: none */
	uint64_t call_since;
	uint64_t fault_since;
	uint32_t other, other_pid; /* RUNNABLE: the waker, or the thread that took the CPU */
	/*
	 * RUNNABLE: woken by an interrupt; woken, not preempted. RUNNING: `other` has sent a
	 * wake-up already, in case the thread is about to sleep.
	 */
	bool interrupt, woken;
	uint8_t name_len;
	char name[KERNEL_NAME_MAX];
};

/*
 * The threads, by tid; {} is empty. Writers and readers share these rules for the effect of an
 * item.
 */
struct kernel_threads {
	struct map map;	  /* of struct kernel_thread; ended threads stay until forgotten */
	struct map calls; /* by number: names from the file that kernel__syscall() lacks */
	bool waits;	  /* the trace has each KERNEL_OCCUPANT and KERNEL_MOVED */
};

/* Whether its thread may be another process's: the state of the target's threads is not affected. */
static inline bool kernel_item__is_of_cpu(const struct kernel_item *item)
{
	return item->kind == KERNEL_CPU || item->kind == KERNEL_OCCUPANT;
}

void kernel_threads__deinit(struct kernel_threads *t);
struct kernel_thread *kernel_threads__find(const struct kernel_threads *t, uint32_t tid);
/* Applies an item; one of a CPU changes nothing. Returns 0 or -ENOMEM. */
int kernel_threads__apply(struct kernel_threads *t, const struct kernel_item *item);
/*
 * The other thread whose state the item may have changed: one that wakes another is on a CPU. 0:
 * none. It need not be one of the target's.
 */
uint32_t kernel_item__waker(const struct kernel_item *item);
int kernel_threads__set(struct kernel_threads *t, const struct kernel_thread *thread);
/* Sets the name of a system call, as KERNEL_SYS_ENTER does. Returns 0 or -ENOMEM. */
int kernel_threads__name_call(struct kernel_threads *t, uint32_t number,
			      const struct trace_string *name);
/* The name by kernel__syscall() or the file; empty if unknown. Lives as long as `t`. */
struct trace_string kernel_threads__syscall(const struct kernel_threads *t, uint32_t number);
void kernel_threads__forget_gone(struct kernel_threads *t);
/* Resets the state of all threads after a loss, but keeps their names. */
void kernel_threads__lose(struct kernel_threads *t);
/* Resets only what has not changed since `time`, when the loss ended. */
void kernel_threads__lose_before(struct kernel_threads *t, uint64_t time);

/* Name of a Linux/amd64 system call ("futex"), or NULL. */
const char *kernel__syscall(uint32_t number);
const char *kernel__item(uint8_t kind); /* "on_cpu" */
const char *kernel__why(uint8_t why);	/* "preempted" */
/* Of enum gt_sleep: "frozen", or NULL if there is nothing to add to kernel__why(). */
const char *kernel__sleep(uint8_t sleep);

/* ---- writing ---- */

/*
 * Encodes the kernel events of one generation: begin with the state of the threads, add items by
 * time (an earlier time becomes that of the last item), and put the records at the end. An item
 * keeps the members that its kind has, see enum kernel_kind; a name keeps 16 bytes.
 */
struct kernel_writer;

struct kernel_writer *kernel_writer__create(void); /* NULL: no memory */
void kernel_writer__destroy(struct kernel_writer *k);
/*
 * Begins a generation at `time` (CLOCK_MONOTONIC, ns). Encodes `threads`, with the names of their
 * system calls, and whether it has the items of waits. Returns 0 or -ENOMEM.
 */
int kernel_writer__begin(struct kernel_writer *k, uint64_t time,
			 const struct kernel_threads *threads);
/* The generation has each KERNEL_OCCUPANT and KERNEL_MOVED, which was not known when it began. */
void kernel_writer__set_waits(struct kernel_writer *k);
/* Adds the initial state of a thread that was not known at the start. Returns 0 or -ENOMEM. */
int kernel_writer__add_thread(struct kernel_writer *k, const struct kernel_thread *thread);
int kernel_writer__add(struct kernel_writer *k, const struct kernel_item *item);
size_t kernel_writer__size(const struct kernel_writer *k); /* bytes encoded so far */
/*
 * Passes each private data record to `put`, which returns 0 or a negative errno, until one fails;
 * returns that error. private__kernel() in writer/private_write.h adds them to the open generation.
 */
int kernel_writer__put(struct kernel_writer *k,
		       int (*put)(void *to, enum private_kind kind, const void *data, size_t len),
		       void *to);

/* ---- reading ---- */

/* The kernel events of a generation, of all private data kinds, by time. */
struct kernel_reader;

/*
 * Returns 1; 0 without a reader if there are no kernel events; or -ENOMEM. Corrupt records are
 * skipped and counted. Copies the bytes: the dictionary may be freed.
 */
int kernel_reader__open(struct kernel_reader **ret, const struct dictionary *dictionary);
void kernel_reader__close(struct kernel_reader *r); /* may be NULL */
/* The next thread at the start of the generation; false at the end. */
bool kernel_reader__thread(struct kernel_reader *r, struct kernel_thread *ret);
/* Name of that thread's system call, as in the file; valid until the next thread is read. */
struct trace_string kernel_reader__call(const struct kernel_reader *r);
/* Whether the generation has each KERNEL_OCCUPANT and KERNEL_MOVED: for struct kernel_threads. */
bool kernel_reader__has_waits(const struct kernel_reader *r);
/* The next item by time; false at the end. */
bool kernel_reader__item(struct kernel_reader *r, struct kernel_item *ret);
uint64_t kernel_reader__bytes(const struct kernel_reader *r); /* size of the private data records */
uint64_t kernel_reader__bad(const struct kernel_reader *r);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of a trace: what happened to the target's threads, in private data.
 *
 * Before it in an event's way: sequence/kernel.c, which makes items of the records of the kinds from
 * GT_CPU_ON on, and align/ (`gotrace align`), which adds what perf has seen. A generation holds the
 * threads as it begins (PRIVATE_THREADS) and the items in it, in the order of time (PRIVATE_KERNEL,
 * PRIVATE_MACHINE). After it: timeline.h, which puts items among the events. The bytes:
 * gotrace-private(5).
 */
#ifndef TRACE_KERNEL_H
#define TRACE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "lib/map.h"
#include "trace/dictionary.h"
#include "trace/private_read.h"

struct writer;

enum kernel_kind {		  /* the values are the file's */
		   KERNEL_ON = 1, /* thread tid has core `cpu`; other: who left it */
		   KERNEL_OFF, /* it has none: `why`; other: who got the core (0: idle), its process and name */
		   KERNEL_WAKING, /* thread tid can go on; other: the waker, its process; interrupt */
		   KERNEL_SYS_ENTER, /* number */
		   KERNEL_SYS_EXIT,  /* number, value: the result */
		   KERNEL_CREATED,   /* thread tid; other: its creator */
		   KERNEL_ENDED,
		   KERNEL_NAMED,       /* name */
		   KERNEL_FAULT_BEGIN, /* value: the address */
		   KERNEL_FAULT_END,
		   KERNEL_CORE, /* PRIVATE_MACHINE: from now on core `cpu` runs thread tid (0: idle), which is
			   not the target's, of process other_pid, of that name */
		   KERNEL_KIND_END
};

struct kernel_item {
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint32_t tid;  /* the host's, as the M of events */
	uint8_t kind;  /* enum kernel_kind */
	uint8_t why;   /* enum gt_off */
	bool interrupt;
	uint16_t cpu; /* where it happened */
	uint32_t other, other_pid;
	uint32_t number; /* of a system call */
	uint64_t value;
	/* OFF, CORE: of who has the core now; CREATED, NAMED: the thread's. SYS_ENTER, SYS_EXIT: the
	   call's, as the file has it; to a writer it may be empty, for the usual one. Lives as long
	   as the reader, or the call that it is given to. */
	struct trace_string name;
};

enum kernel_run {
	KERNEL_UNKNOWN,	 /* nothing known yet, or since a loss */
	KERNEL_RUNNING,	 /* has core `cpu` */
	KERNEL_RUNNABLE, /* woken, preempted or yielded: waits for a core */
	KERNEL_THROTTLED,
	KERNEL_SLEEPING,
	KERNEL_BLOCKED, /* uninterruptible */
	KERNEL_STOPPED,
	KERNEL_GONE,
};

#define KERNEL_NO_CALL UINT32_MAX
#define KERNEL_BAD_CALL                                                                            \
	(UINT32_MAX - 1)   /* what a program called by the number -1, which is no call's */
#define KERNEL_NAME_MAX 16 /* of a thread; longer ones are cut */

/* A thread, as the items so far say. */
struct kernel_thread {
	uint32_t tid;
	uint8_t run; /* enum kernel_run */
	bool in_fault;
	uint16_t cpu;	/* the one that it has or had last */
	uint64_t since; /* it is so; 0: since before the trace */
	uint32_t call;	/* number of the system call that it is in; KERNEL_NO_CALL: none */
	uint64_t call_since;
	uint64_t fault_since;
	uint32_t other, other_pid; /* RUNNABLE: who woke it, or got its core */
	/* RUNNABLE: by an interrupt; by a wake-up, not taken off its core. RUNNING: a wake-up came, for
	   the sleep that it may be about to begin, by `other`. */
	bool interrupt, woken;
	uint8_t name_len;
	char name[KERNEL_NAME_MAX];
};

/* The threads, by tid: how an item changes them is said once, for writers and readers. */
struct kernel_threads {
	struct map map;	  /* to struct kernel_thread; those that are gone stay until forgotten */
	struct map calls; /* by number: names that the file brings and kernel__syscall() lacks */
};

int kernel_threads__init(struct kernel_threads *t);
void kernel_threads__deinit(struct kernel_threads *t);
struct kernel_thread *kernel_threads__find(const struct kernel_threads *t, uint32_t tid);
/* KERNEL_CORE changes nothing. 0 or -ENOMEM. */
int kernel_threads__apply(struct kernel_threads *t, const struct kernel_item *item);
int kernel_threads__set(struct kernel_threads *t, const struct kernel_thread *thread);
/* The name that a file has for a system call; KERNEL_SYS_ENTER is applied so. 0 or -ENOMEM. */
int kernel_threads__name_call(struct kernel_threads *t, uint32_t number,
			      const struct trace_string *name);
/* As kernel__syscall(), or by the file; empty: it has none. Lives as long as `t`. */
struct trace_string kernel_threads__syscall(const struct kernel_threads *t, uint32_t number);
void kernel_threads__forget_gone(struct kernel_threads *t);
/* A loss in between: what threads do is not known any more, names are. */
void kernel_threads__lose(struct kernel_threads *t);
/* The same of what was so before `time` already: what came after the loss is known. */
void kernel_threads__lose_before(struct kernel_threads *t, uint64_t time);

/* Name of a Linux/amd64 system call ("futex"), NULL: it has none. */
const char *kernel__syscall(uint32_t number);
const char *kernel__item(uint8_t kind); /* "on_cpu" */
const char *kernel__why(uint8_t why);	/* "preempted" */
const char *kernel__run(uint8_t run);	/* "running" */

/* ---- writing ---- */

/*
 * What goes into one generation: begun with the threads as they are then, added to in the order of
 * time (an earlier one is taken for one of the time of the last), written at its end. An item keeps
 * what its kind has, see enum kernel_kind, and 16 bytes of a name.
 */
struct kernel_writer;

struct kernel_writer *kernel_writer__create(void); /* NULL: no memory */
void kernel_writer__destroy(struct kernel_writer *k);
/* A generation begins at `time` (CLOCK_MONOTONIC): what `threads` are is copied. 0 or -ENOMEM. */
int kernel_writer__begin(struct kernel_writer *k, uint64_t time,
			 const struct kernel_threads *threads);
/* Of a thread not among them then: what it was, as told by what came later. 0 or -ENOMEM. */
int kernel_writer__was(struct kernel_writer *k, const struct kernel_thread *thread);
int kernel_writer__add(struct kernel_writer *k, const struct kernel_item *item);
size_t kernel_writer__size(const struct kernel_writer *k); /* bytes so far */
/* Into the open generation as private data; nothing if there is nothing. 0 or a negative errno. */
int kernel_writer__end(struct kernel_writer *k, struct writer *w);
/*
 * The same to elsewhere: each record that there is, of whatever kind, to `put`, which returns 0 or a
 * negative errno. For align/write.c, which adds to a file without a struct writer.
 */
int kernel_writer__put(struct kernel_writer *k,
		       int (*put)(void *to, enum private_kind kind, const void *data, size_t len),
		       void *to);

/* ---- reading ---- */

/* What a generation's dictionary has, all kinds of private data in one order of time. */
struct kernel_reader;

/*
 * 1: there is some; 0: none, and no reader; -ENOMEM. Broken records are passed over and counted. The
 * bytes are copied: the dictionary may go.
 */
int kernel_reader__open(struct kernel_reader **ret, const struct dictionary *words);
void kernel_reader__close(struct kernel_reader *r); /* may be NULL */
/* The threads as the generation begins, one after the other. */
bool kernel_reader__thread(struct kernel_reader *r, struct kernel_thread *ret);
/* The name of the system call that the last one is in, as the file has it; until the next. */
struct trace_string kernel_reader__call(const struct kernel_reader *r);
/* The items, by time. */
bool kernel_reader__item(struct kernel_reader *r, struct kernel_item *ret);
uint64_t kernel_reader__bytes(const struct kernel_reader *r); /* of its records */
uint64_t kernel_reader__bad(const struct kernel_reader *r);

#endif

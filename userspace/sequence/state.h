/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state machine: applies records to the model and emits the resulting trace events. Upstream:
 * sequencer.c and hold.c. Downstream: transition.c and boundary.c.
 */
#ifndef SEQUENCE_STATE_H
#define SEQUENCE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/private.h"
#include "sequence/once.h"

struct goroutine;
struct gt_record;
struct sequencer;
struct thread;

/* State of the Go runtime as a whole, for state_runtime.c and state_proc.c. */
struct runtime {
	struct goroutine *stw; /* goroutine with an open STW range; NULL: none */
	uint32_t stw_name;     /* string id of its reason */
	uint64_t gc_seq;
	bool gc_running;
	bool heap_sampled;  /* the trace states that not all sizes of the heap were recorded */
	bool gc_active_due; /* the GC began in an earlier generation: write GCActive */
	uint32_t procs;	    /* number of Ps last written, or due */
	uint32_t procs_due; /* ProcsChange to write with the first running goroutine; 0: none */
};

/* Tasks and regions, for state_user.c and open_regions.c. */
struct user {
	size_t open_bytes;    /* memory of open regions */
	uint64_t *task_named; /* bits of TASK_WINDOW ids */
	uint64_t task_max;    /* the greatest id named; 0: none */
	bool task_begun;      /* a task began in the window */
	uint64_t call_tasks;  /* calls and requests that were written as tasks */
	size_t members;	      /* goroutines that belong to a task of these: members.c */
	struct map present;   /* goid: labels that it has had since before the file */
	size_t present_bytes; /* memory of these */
	struct map kept;      /* goid: the labels that it has, for the files that follow */
	size_t kept_bytes;    /* memory of these */
};

/* CPU samples, for state_sample.c. */
struct samples {
	struct once pcs;		  /* PCs of samples that are queued in the merge */
	uint64_t last_time;		  /* time of the latest sample written */
	struct private_cpu_samples taken; /* since the generation began; period 0: none are taken */
};

/* Writes how the samples of the generation that ends were taken. 0 or a negative errno. */
int samples__end_generation(struct sequencer *s);

enum apply_result { DONE, WAIT };
/*
 * Apply one record of thread t to the model and emit the resulting trace events. WAIT: the record
 * does not fit yet, and nothing was changed. With `force`, inserts repairs first and never waits.
 */
enum apply_result state__apply(struct sequencer *s, struct thread *t, const struct gt_record *rec,
			       bool force);
/* The other thread whose next record may make this one fit; NULL: none is known. */
struct thread *state__awaited(const struct sequencer *s, const struct thread *t,
			      const struct gt_record *rec);
/* Confirms a tentative system call exit: the thread kept its P. */
void state__exit_kept(struct sequencer *s, struct thread *t);
/*
 * A switch, GT_CPU_OFF or GT_CPU_ON: a thread that loses its CPU, or is throttled, on its way from
 * the end of a system call to user mode is in the call, for Go, until it is on a CPU again. A park,
 * an end or the begin of a call that the thread has behind it then was no later: see state__time().
 */
void state__switched(struct sequencer *s, const struct gt_record *rec);
/*
 * At a boundary, confirms the tentative exits of all threads that had time for another record and
 * have none, according to kernel events. If `final`, also those for which this is unknown.
 */
void state__settle_exits(struct sequencer *s, uint64_t time, bool final);

/* Frees a goroutine's open regions without ending them in the trace. */
void open_regions__free(struct sequencer *s, struct goroutine *g);
/* Before the thread's running goroutine ends: ends the tasks of its calls and requests. */
void open_regions__leave(struct sequencer *s, struct thread *t, uint64_t time);

/* state_labels.c */

/* Frees the labels of which records are missing. */
void labels__free(struct thread *t);
/* Notes labels that a goroutine had when the recording began. 0 or -ENOMEM. */
int labels__note_present(struct sequencer *s, const struct gt_record *rec);
/* Forgets those of goroutines that have set others up to then, according to the `n` records. */
void labels__forget_changed(struct sequencer *s, const struct gt_record *const *rec, size_t n);
/* Writes those of the goroutine that runs on the thread, once. */
void labels__write_present(struct sequencer *s, struct thread *t, uint64_t time);
/* `to`, which `from` has created, has its labels. NULL: it was created by none. */
void labels__inherit(struct sequencer *s, const struct goroutine *from, const struct goroutine *to);
/* A file begins: those that goroutines have are to be written in it. */
void labels__begin_file(struct sequencer *s);
void labels__forget_goroutine(struct sequencer *s, uint64_t goid); /* at its end */
void labels__deinit(struct sequencer *s);

/* End the open mark assist range of the thread's goroutine, or the sweep range of its P, if any. */
void range__end_assist(struct sequencer *s, struct thread *t, uint64_t time);
void range__end_sweep(struct sequencer *s, struct thread *t, uint64_t time);

#endif

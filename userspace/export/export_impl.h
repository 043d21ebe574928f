/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that export a trace: export.c has goroutines and Ps, export_threads.c threads,
 * export_cpus.c CPUs, export_ranges.c the garbage collector and counters, export_annotations.c tasks, regions
 * and logs, export_track.c tracks and lanes.
 */
#ifndef EXPORT_EXPORT_IMPL_H
#define EXPORT_EXPORT_IMPL_H

#include <string.h>

#include "analysis/annotation_tracker.h"
#include "analysis/goroutine_tracker.h"
#include "export/export.h"

/*
 * How many goroutines, threads and CPUs are visited because of losses, and how many slices of
 * goroutines are divided by them: a trace with more was made to slow this down (timeline.c).
 */
#define EXPORT_VISITS_MAX  (1u << 30)
#define EXPORT_DIVIDED_MAX (1u << 24)

/*
 * A track with one open slice at most, or with `depth` nested ones. {}: not described yet, or of a goroutine
 * that is not selected; then it has no events.
 */
struct lane {
	uint64_t track, parent; /* IDs; track 0: not described */
	enum export_group group;
	unsigned int depth;
	int64_t last; /* time of its last slice begin or end: times of a track do not decrease */
};

/* a goroutine */
struct exported {
	struct tracked_goroutine go;
	struct lane lane;		/* its states, and within them what its thread waits for */
	struct lane regions;		/* export_annotations.c */
	struct lane assist;		/* mark assists */
	uint32_t described;		/* the name with which its track is described */
	bool lost;			/* its state is shown as unknown */
	uint64_t flow;			/* an arrow that leads to its next state; 0: none */
	struct exported_proc *proc;	/* whose lane has its slice; NULL: none */
	struct exported_thread *thread; /* the same */
};

struct exported_proc {
	struct lane lane;  /* the goroutines that run on it */
	struct lane sweep; /* its child */
	uint64_t id, goroutine;
};

struct exported_thread {
	struct lane lane;	   /* the goroutines that it runs */
	struct lane state;	   /* what the kernel does with it; its child */
	struct lane calls, faults; /* its children */
	uint64_t id;
	uint64_t goroutine; /* that it runs, or is in a system call for; TRACE_NO_G: none */
	uint8_t run;	    /* enum kernel_run, as it is shown: KERNEL_UNKNOWN during a loss */
	bool named;	    /* its track has its name */
	bool lost;	    /* its state was known before a loss */
	uint64_t flow;	    /* of a wake-up */
};

/* What has a CPU since a switch. */
struct cpu_run {
	int64_t since;
	uint32_t tid; /* KERNEL_NO_THREAD: unknown; 0: none, the CPU is idle */
	bool other;   /* it is of another process */
	uint8_t name_len;
	char name[KERNEL_NAME_MAX];
};

/* export_cpus.c */
struct exported_cpu {
	struct lane lane; /* the threads that it executes */
	uint64_t id;
	struct cpu_run now; /* its slice is written when it is known whether the next item agrees */
	struct cpu_run
		before; /* with `doubt`: until then, it waits for an item that confirms its end */
	bool begun, doubt;
};

struct counter {
	uint64_t track;
	uint64_t value, written;
};

struct task_lanes {
	struct lane *at;
	uint32_t *free; /* lanes without a task */
	size_t n, cap, nfree, cap_free;
};

struct export
{
	struct export_sink *sink;
	struct goroutine_tracker goroutines; /* of struct exported */
	struct annotation_tracker annotations;
	struct intern *names;
	struct map functions; /* by name in `names` plus 1: ids of tracks, cast to pointers */
	struct map procs, threads, cpus;
	struct counter counters[EXPORT_COUNTERS_ALL];
	int64_t counted; /* when counters of states were written last */
	struct lane gc, stw, gaps;
	struct task_lanes tasks;
	int64_t now;		    /* never decreases */
	uint64_t last_track, flows; /* the last IDs that were assigned */
	uint64_t visits;	    /* of goroutines, threads and CPUs, after losses */
	uint64_t divided;	    /* slices of goroutines, by losses */
	bool started;
	bool in_loss;	    /* kernel events of this moment may be missing */
	int64_t known_from; /* time of the latest correction after which the states were shown again */
	int64_t go_lost_to; /* end of the latest loss of Go's events; INT64_MIN: there was none */
	bool go_lost;	    /* until then, the states of goroutines are shown as unknown */
	const struct kernel_threads *kernel; /* after the current step */
	const struct selection *select;	     /* of goroutines; NULL: all */
	const struct map *matches;
};

/* ---- export_track.c ---- */

/* Describes a new track of this name and returns its ID. */
uint64_t export__track(struct export *e, enum export_group group, uint64_t parent,
		       struct trace_string name, uint64_t rank);
/* Sets up the lane, once; `name` as of printf(), at most 255 bytes. */
__attribute__((format(printf, 6, 7))) void export__lane(struct export *e, struct lane *lane,
							enum export_group group, uint64_t parent,
							uint64_t rank, const char *name, ...);
/* Begins a slice, which *ev names, at the later of `time` and the last time of the lane. */
void lane__begin(struct export *e, struct lane *lane, int64_t time, struct export_event *ev);
/* Ends the innermost slice, if there is one; all slices. */
void lane__end(struct export *e, struct lane *lane, int64_t time);
void lane__close(struct export *e, struct lane *lane, int64_t time);
void lane__instant(struct export *e, struct lane *lane, struct export_event *ev);

static inline struct trace_string text_of(const char *s)
{
	return (struct trace_string){ s, (uint32_t)strlen(s) };
}

/* Adds an argument to an event, which has at most EXPORT_ARGS_MAX. */
static inline void add_number(struct export_event *ev, const char *name, uint64_t number)
{
	ev->arg[ev->args++] = (struct export_arg){ .name = name, .number = number };
}

static inline void add_text(struct export_event *ev, const char *name, struct trace_string text)
{
	text.data = text.data ?: "";
	ev->arg[ev->args++] = (struct export_arg){ .name = name, .text = text };
}

/* ---- export.c ---- */

/* Applies an event; export->kernel is set. 0 or -ENOMEM. */
int export__event(struct export *e, const struct trace_event *ev);
struct exported *export__goroutine(struct export *e, uint64_t id); /* NULL: not known */
struct trace_string export__function(struct export *e, const struct exported *g);
struct exported_proc *export__proc(struct export *e, uint64_t id); /* NULL: no memory */

/* ---- export_threads.c ---- */

struct exported_thread *export__thread(struct export *e, uint64_t id); /* NULL: no memory */
/* The goroutine begins to run on the thread at `time`, whose state may already be that it has no CPU. */
void export__run_on(struct export *e, struct exported_thread *t, struct exported *g, int64_t time);
int export__item(struct export *e, const struct timeline *t, const struct kernel_item *item);
/*
 * Before an item of the step: kernel events were lost since `time`, or a generation's table of threads has
 * come. 0 or -ENOMEM.
 */
int export__refresh(struct export *e, const struct timeline_step *step, int64_t time);
int export__finish_threads(struct export *e); /* 0 or -ENOMEM */
void export__free_threads(struct export *e);

/* ---- export_cpus.c ---- */

/* A thread has got, or left, a CPU. 0 or -ENOMEM. */
int export__switch(struct export *e, const struct kernel_item *item);
/* As export__refresh(), which calls it. 0 or -ENOMEM. */
int export__refresh_cpus(struct export *e, bool loss, int64_t time);
int export__finish_cpus(struct export *e); /* 0 or -ENOMEM */

/* ---- export_ranges.c ---- */

int export__range(void *e, const struct trace_event *ev, const struct semantics *m);
void export__metric(struct export *e, const struct semantics *m);
/* Writes counters of states that have changed, */
void export__write_counts(struct export *e);
/* once per COUNTER_STEP, after a step of the timeline, */
void export__count(struct export *e);
/*
 * or before one at `time`, if the counters have changed since they were written: otherwise, what
 * they were in a burst of events would remain as long as nothing happens.
 */
void export__count_until(struct export *e, int64_t time);

/* ---- export_annotations.c ---- */

extern const struct annotation_client export_annotations;
void export__log(struct export *e, const struct trace_event *ev, const struct semantics *m);
void export__label(struct export *e, const struct trace_event *ev, const struct semantics *m);

#endif

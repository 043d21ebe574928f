/* SPDX-License-Identifier: GPL-2.0 */
/*
 * THE event table of Go's v2 trace format: every event's name, arguments, and versions.
 *
 * Encoder, decoder, text forms, order checker, self-description and tests read this one table
 * (spec.c). Numbers and argument lists: Go's internal/trace/tracev2.
 */
#ifndef TRACE_SPEC_H
#define TRACE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ev {
	EV_NONE = 0,
	EV_EVENT_BATCH = 1,
	EV_STACKS = 2,
	EV_STACK = 3,
	EV_STRINGS = 4,
	EV_STRING = 5,
	EV_CPU_SAMPLES = 6,
	EV_CPU_SAMPLE = 7,
	EV_FREQUENCY = 8,
	EV_PROCS_CHANGE = 9,
	EV_PROC_START = 10,
	EV_PROC_STOP = 11,
	EV_PROC_STEAL = 12,
	EV_PROC_STATUS = 13,
	EV_GO_CREATE = 14,
	EV_GO_CREATE_SYSCALL = 15,
	EV_GO_START = 16,
	EV_GO_DESTROY = 17,
	EV_GO_DESTROY_SYSCALL = 18,
	EV_GO_STOP = 19,
	EV_GO_BLOCK = 20,
	EV_GO_UNBLOCK = 21,
	EV_GO_SYSCALL_BEGIN = 22,
	EV_GO_SYSCALL_END = 23,
	EV_GO_SYSCALL_END_BLOCKED = 24,
	EV_GO_STATUS = 25,
	EV_STW_BEGIN = 26,
	EV_STW_END = 27,
	EV_GC_ACTIVE = 28,
	EV_GC_BEGIN = 29,
	EV_GC_END = 30,
	EV_GC_SWEEP_ACTIVE = 31,
	EV_GC_SWEEP_BEGIN = 32,
	EV_GC_SWEEP_END = 33,
	EV_GC_MARK_ASSIST_ACTIVE = 34,
	EV_GC_MARK_ASSIST_BEGIN = 35,
	EV_GC_MARK_ASSIST_END = 36,
	EV_HEAP_ALLOC = 37,
	EV_HEAP_GOAL = 38,
	EV_GO_LABEL = 39,
	EV_USER_TASK_BEGIN = 40,
	EV_USER_TASK_END = 41,
	EV_USER_REGION_BEGIN = 42,
	EV_USER_REGION_END = 43,
	EV_USER_LOG = 44,
	EV_GO_SWITCH = 45,
	EV_GO_SWITCH_DESTROY = 46,
	EV_GO_CREATE_BLOCKED = 47,
	EV_GO_STATUS_STACK = 48,
	EV_EXPERIMENTAL_BATCH = 49,
	EV_SYNC = 50,
	EV_CLOCK_SNAPSHOT = 51,
	EV_END_OF_GENERATION = 52,
	EV_COUNT,

	/* Experiment AllocFree: numbered apart from the others. */
	EV_SPAN = 128,
	EV_SPAN_ALLOC = 129,
	EV_SPAN_FREE = 130,
	EV_HEAP_OBJECT = 131,
	EV_HEAP_OBJECT_ALLOC = 132,
	EV_HEAP_OBJECT_FREE = 133,
	EV_GOROUTINE_STACK = 134,
	EV_GOROUTINE_STACK_ALLOC = 135,
	EV_GOROUTINE_STACK_FREE = 136,
	EV_END /* one past the highest number: for arrays indexed by event */
};

enum ev_experiment { EXPERIMENT_NONE = 0, EXPERIMENT_ALLOC_FREE = 1 };

/* What an argument of an event is. */
enum ev_arg {
	ARG_NONE = 0,
	ARG_TIME,
	ARG_G,
	ARG_M,
	ARG_P,
	ARG_SEQ,
	ARG_STRING,
	ARG_STACK,
	ARG_STATUS,
	ARG_VALUE, /* a plain number */
	ARG_BYTES,
	ARG_TASK,
	ARG_GEN,
	ARG_SIZE,
	ARG_ID, /* of what the event itself defines or is about */
	ARG_NS,
	ARG_SEC,
};

#define EV_ARGS_MAX 5 /* of a timed event, the time difference included */

struct ev_spec {
	const char *name; /* Go's: "GoCreate" */
	bool timed;	  /* the first argument is the time difference, dt */
	uint8_t nargs;	  /* dt included */
	struct {
		const char *name; /* Go's, in full: "p_seq" */
		enum ev_arg type;
	} arg[EV_ARGS_MAX];
	uint8_t since;	    /* first header that may hold it, 22: Go 1.22 … */
	uint8_t until;	    /* the last one */
	bool blob;	    /* followed by a length and bytes (String, ExperimentalBatch) */
	bool frames;	    /* followed by 4 numbers a frame: pc, func, file, line (Stack) */
	uint8_t experiment; /* enum ev_experiment */
	uint8_t start;	    /* the event whose end this one is (enum ev); 0: none */
};

/* Limits of the format (Go's internal/trace/tracev2). */
#define TRACE_BATCH_MAX	 65536 /* bytes of a batch's data */
#define TRACE_STRING_MAX 1024  /* bytes behind an event: a string's */
#define TRACE_STACK_MAX	 128   /* frames */
#define TRACE_NO_M	 UINT64_MAX

enum trace_go_status { GO_RUNNABLE = 1, GO_RUNNING = 2, GO_SYSCALL = 3, GO_WAITING = 4 };
enum trace_proc_status { PROC_RUNNING = 1, PROC_IDLE = 2, PROC_SYSCALL = 3, PROC_ABANDONED = 4 };

const struct ev_spec *spec__event(unsigned int type); /* NULL: no such event */
unsigned int spec__type(const char *name);	      /* EV_NONE: no such name */
bool spec__in_version(const struct ev_spec *spec, unsigned int version);
bool spec__version_known(unsigned int version); /* as a header: 22, 23, 25, 26 */

/*
 * What an event means (spec_words.c): of use to people, and to readers that do not know the event.
 * The numbers are those of the self-description's binary form.
 */
enum ev_scope { SCOPE_G = 0, SCOPE_M = 1, SCOPE_P = 2, SCOPE_GLOBAL = 3 };
enum ev_class { CLASS_INSTANT = 0, CLASS_BEGIN = 1, CLASS_END = 2 };

struct ev_words {
	const char *what; /* one sentence */
	/*
	 * Says something about what runs, which can be understood without it. The others, control
	 * events, are what a reader must know to follow the execution; they have no scope and class.
	 */
	bool descriptive;
	uint8_t scope; /* enum ev_scope: what it is said of, and what a range is open on */
	uint8_t class; /* enum ev_class: alone, or an end of a range of time */
	uint8_t link;  /* of a range: the event of its other end (enum ev) */
};

struct ev_value { /* of an argument that is one of a few numbers */
	uint8_t value;
	const char *name, *what;
};

const struct ev_words *spec__words(unsigned int type); /* NULL: no such event */
const char *spec__arg_words(const char *name);	       /* of an argument by its name; or NULL */
/* The values of an event's status argument, *ret_n of them; NULL: it has none. */
const struct ev_value *spec__values(unsigned int type, size_t *ret_n);

#endif

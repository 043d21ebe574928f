/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event table of Go's v2 trace format: names, arguments and versions of all events.
 *
 * Encoder, decoder, text form, order checks, self-description and tests share this table (spec.c).
 * Numbers and argument lists are from Go's internal/trace/tracev2 (events.go, spec.go).
 */
#ifndef FORMAT_SPEC_H
#define FORMAT_SPEC_H

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

	/* Experiment AllocFree has a separate range of numbers. */
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

/*
 * The first byte of a batch of EXPERIMENT_ALLOC_FREE. Types: records of id, address, size, bytes with
 * pointers, length of the name, name. Units, in the first generation only: lowest address, page size,
 * alignment of heap objects, alignment of stacks.
 */
enum alloc_free_batch { ALLOC_FREE_TYPES = 0, ALLOC_FREE_UNITS = 1 };

/* The type of an argument. */
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
	ARG_ID, /* of what the event defines or describes */
	ARG_NS,
	ARG_SEC,
};

#define EV_ARGS_MAX 5 /* for timed events, dt included */

struct ev_spec {
	const char *name; /* as in Go: "GoCreate" */
	bool timed;	  /* the first argument is dt, the time difference */
	uint8_t nargs;	  /* dt included */
	struct {
		const char *name; /* as in Go: "p_seq" */
		enum ev_arg type;
	} arg[EV_ARGS_MAX];
	uint8_t since;	    /* first header version that permits it; 22: Go 1.22 */
	uint8_t until;	    /* last header version */
	bool blob;	    /* followed by a length and bytes (String, ExperimentalBatch) */
	bool frames;	    /* followed by 4 numbers per frame: pc, func, file, line (Stack) */
	uint8_t experiment; /* enum ev_experiment */
	uint8_t start; /* the event that begins the range which this one ends (enum ev); 0: none */
};

/* Limits of the format (Go's internal/trace/tracev2). */
#define TRACE_BATCH_MAX	 65536 /* bytes of a batch's data */
#define TRACE_STRING_MAX 1024  /* bytes of a string */
#define TRACE_STACK_MAX	 128   /* frames */
#define TRACE_NO_M	 UINT64_MAX

enum trace_go_status { GO_RUNNABLE = 1, GO_RUNNING = 2, GO_SYSCALL = 3, GO_WAITING = 4 };
enum trace_proc_status { PROC_RUNNING = 1, PROC_IDLE = 2, PROC_SYSCALL = 3, PROC_ABANDONED = 4 };

const struct ev_spec *spec__event(unsigned int type); /* NULL: no such event */
bool spec__in_version(const struct ev_spec *spec, unsigned int version);

/*
 * The versions of the format, as in the header of a file: the minor number of the first Go release
 * that wrote it. `sep` is between two of them, `last` before the last one.
 */
/* clang-format off */
#define TRACE_VERSIONS(X, sep, last) X(22) sep X(23) sep X(25) last X(26)
/* clang-format on */
#define TRACE_VERSION_OLDEST	     22
#define TRACE_VERSION_NEWEST	     26

#define TRACE_VERSION_STRING(number) "1." #number
#define TRACE_VERSION_TEXT(version)  TRACE_VERSION_STRING(version) /* 25: "1.25" */
#define TRACE_VERSION_LIST(last)     TRACE_VERSIONS(TRACE_VERSION_TEXT, ", ", last)
#define TRACE_VERSION_CHOICE	     TRACE_VERSIONS(TRACE_VERSION_TEXT, "|", "|")

bool spec__version_known(unsigned int version);
unsigned int spec__parse_version(const char *text); /* "1.25" to 25; 0: no such version */
/*
 * The version that the recorder writes for programs of Go 1.`minor`, so that `go tool trace` of that
 * release opens the file: 22, 23 or 25. Releases before 1.22 have another format; their files are for
 * newer tools.
 */
unsigned int spec__version_for(unsigned int minor);
/* Format of the message about such a text, for the commands. */
#define TRACE_VERSION_UNKNOWN "unknown trace format '%s': must be " TRACE_VERSION_LIST(" or ")

/*
 * Documentation of an event (spec_doc.c), for people, and for readers that do not know the event.
 * The numbers are those in the binary self-description.
 */
enum ev_scope { SCOPE_G = 0, SCOPE_M = 1, SCOPE_P = 2, SCOPE_GLOBAL = 3 };
enum ev_class { CLASS_INSTANT = 0, CLASS_BEGIN = 1, CLASS_END = 2 };

struct ev_doc {
	const char *what; /* one sentence */
	/*
	 * The event adds information about what runs, and can be skipped. Other events are control
	 * events, which a reader must know to follow the execution; they have no scope and class.
	 */
	bool descriptive;
	uint8_t scope; /* enum ev_scope: what the event or range belongs to */
	uint8_t class; /* enum ev_class: instant, or one end of a range */
	uint8_t link;  /* the event at the other end of the range (enum ev) */
};

/* A value of an argument that has few of them. */
struct ev_value {
	uint8_t value;
	const char *name, *what;
};

const struct ev_doc *spec__doc(unsigned int type); /* NULL: no such event */
const char *spec__arg_doc(const char *name);	   /* by name of the argument; NULL: none */
/* The *ret_n values of an event's status argument, or NULL if it has none. */
const struct ev_value *spec__values(unsigned int type, size_t *ret_n);

#endif

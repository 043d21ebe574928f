/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that read v1 traces (v1.h lists them): events as in the file, and the state
 * of goroutines and Ps.
 *
 * v1_parse.c looks goroutines and Ps up by id once. All later steps use array indices, so that
 * ordering and checking need no look-ups.
 */
#ifndef V1_IMPL_H
#define V1_IMPL_H

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/map.h"
#include "v1/v1.h"

enum v1_type {
	V1_BATCH = 1,
	V1_FREQUENCY = 2,
	V1_STACK = 3,
	V1_GOMAXPROCS = 4,
	V1_PROC_START = 5,
	V1_PROC_STOP = 6,
	V1_GC_START = 7,
	V1_GC_DONE = 8,
	V1_STW_START = 9, /* GCScanStart before 1.10, which stopped the world */
	V1_STW_DONE = 10,
	V1_SWEEP_START = 11,
	V1_SWEEP_DONE = 12,
	V1_GO_CREATE = 13,
	V1_GO_START = 14,
	V1_GO_END = 15,
	V1_GO_STOP = 16,
	V1_GO_SCHED = 17,
	V1_GO_PREEMPT = 18,
	V1_GO_SLEEP = 19,
	V1_GO_BLOCK = 20,
	V1_GO_UNBLOCK = 21,
	V1_GO_BLOCK_SEND = 22,
	V1_GO_BLOCK_RECV = 23,
	V1_GO_BLOCK_SELECT = 24,
	V1_GO_BLOCK_SYNC = 25,
	V1_GO_BLOCK_COND = 26,
	V1_GO_BLOCK_NET = 27,
	V1_GO_SYS_CALL = 28,
	V1_GO_SYS_EXIT = 29,
	V1_GO_SYS_BLOCK = 30,
	V1_GO_WAITING = 31,
	V1_GO_IN_SYSCALL = 32,
	V1_HEAP_ALLOC = 33,
	V1_HEAP_GOAL = 34,
	V1_TIMER_GOROUTINE = 35,
	V1_FUTILE_WAKEUP = 36,
	V1_STRING = 37,
	V1_GO_START_LOCAL = 38,
	V1_GO_UNBLOCK_LOCAL = 39,
	V1_GO_SYS_EXIT_LOCAL = 40,
	V1_GO_START_LABEL = 41,
	V1_GO_BLOCK_GC = 42,
	V1_MARK_ASSIST_START = 43,
	V1_MARK_ASSIST_DONE = 44,
	V1_TASK_CREATE = 45,
	V1_TASK_END = 46,
	V1_REGION = 47,
	V1_LOG = 48,
	V1_CPU_SAMPLE = 49,
	V1_COUNT,
};

struct v1_spec {
	const char *name; /* as in Go 1.21 */
	uint8_t since;	  /* first header version that permits it; 0: all */
	uint8_t nargs;	  /* in 1.21, without time and stack; see v1_spec__nargs() */
	bool stack;	  /* the last argument is a stack id */
};

#define V1_ARGS_MAX  8	  /* for all events except V1_STACK */
#define V1_STACK_MAX 1000 /* frames; limit of Go's readers */

const struct v1_spec *v1_spec__find(unsigned int type, unsigned int version); /* NULL: none */
/* Number of arguments in the file, times and stack included. Not for V1_STACK. */
unsigned int v1_spec__nargs(unsigned int type, unsigned int version);

/* Go 1.5 and 1.6 have a sequence number in addition to the time, and PCs without names. */
static inline bool v1__has_seq(unsigned int version)
{
	return version == 5;
}

static inline bool v1__has_symbols(unsigned int version)
{
	return version >= 7;
}

/*
 * Indices of Ps that stand for other contexts. As in Go, Ps of the file with these ids are the
 * same.
 */
enum { V1_P_TIMER, V1_P_NETPOLL, V1_P_SYSCALL, V1_P_GC, V1_P_FAKES };
#define V1_P_FAKE_ID 1000001 /* of V1_P_TIMER; the others follow */

/* Indices of goroutines that always exist: id 0 means none; the other one orders GC cycles. */
enum { V1_G_NONE, V1_G_GARBAGE };

/*
 * An event of the file. `arg`, `other` and `more` (v1.more from index `other` on) by type:
 *
 *   GoCreate	other: the new goroutine; arg: its start stack, before 1.7 its start PC
 *   GoStart	arg: seq			GoStartLabel: also more[0]: label
 *   GoUnblock	other: the goroutine; arg: seq
 *   GoSysExit	arg: real time in ticks, or 0; more[0]: seq
 *   GoSysExitLocal other: the goroutine, which may differ from `g`
 *   GCSweepDone arg: swept; more[0]: reclaimed
 *   UserTaskCreate, UserTaskEnd arg: task; of the first more[0]: parent, more[1]: name; of the
 *		second other: its V1_TASK_CREATE + 1, or 0
 *   UserRegion	arg: task; more[0]: mode, or for an open region the outer one; more[1]: name
 *   UserLog	arg: task; more[0]: key; more[1]: message
 *   all others	arg: their only argument
 */
struct v1_event {
	int64_t time; /* ticks; after ordering, ns since the first event */
	uint64_t arg;
	uint32_t g, p; /* indices */
	uint32_t stack;
	uint32_t other;
	uint64_t offset : 48;
	uint64_t type : 8;
	uint64_t blocked : 1; /* GoSysCall: the thread lost its P */
	uint64_t ended : 1;   /* UserRegion: end of a region */
	uint64_t futile : 1;  /* part of a futile wake-up: omitted */
};
_Static_assert(sizeof(struct v1_event) == 40, "millions of them are in memory");

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING };

struct v1_g {
	uint64_t id;
	/* v1_order.c */
	uint64_t seq;
	int64_t left; /* when it lost its P in a system call; 0: unknown */
	uint8_t order_status;
	/* v1_state.c */
	uint8_t status;
	uint8_t last;	  /* the event that determines how it may be unblocked; 0: none */
	bool exists;	  /* created at least once */
	bool assists;	  /* in a mark assist */
	bool timer;	  /* v1_parse.c: a timer goroutine, which unblocks others */
	bool unknown;	  /* v1_convert.c: existed before the trace, state unknown */
	uint32_t region;  /* innermost open region: event + 1 */
	uint32_t syscall; /* last event if it is V1_GO_SYS_CALL: event + 1 */
};

/* Consecutive events of one P in v1.events. */
struct v1_batch {
	uint32_t first, n;
	uint32_t next; /* next batch of the P + 1; 0: none */
};

struct v1_p {
	int32_t id;
	uint32_t last_g;		  /* v1_parse.c: last goroutine on it */
	uint32_t first_batch, last_batch; /* + 1; v1_order.c removes batches at the front */
	uint32_t event, left;		  /* v1_order.c: next event, number left in the batch */
	uint32_t waiting;		  /* v1_order.c: next P that waits for the same, + 1 */
	uint32_t g;			  /* v1_state.c: running goroutine */
	uint64_t m;			  /* v1_convert.c: its thread */
	bool running, sweeping, stw, gc;  /* v1_state.c */
	bool has_m, seen;		  /* v1_convert.c */
};

struct v1 {
	unsigned int version;
	int64_t ticks_per_sec;
	struct dictionary dictionary;
	uint64_t max_string;	    /* the largest string id */
	struct dictionary messages; /* of V1_LOG, by number + 1, until v1__add_strings() */

	struct v1_event *events; /* in file order, CPU samples last */
	uint64_t *more;
	int64_t *seqs;	 /* sequence numbers by event, until ordered; versions 0 and 5 */
	uint32_t *order; /* indices of events in order, without futile ones */
	struct v1_g *gs;
	struct v1_p *ps;
	struct v1_batch *batches;
	struct map g_by_id, p_by_id; /* index + 1 */
	size_t nevents, nmore, norder, ngs, nps, nbatches;
	size_t events_cap, more_cap, seqs_cap, gs_cap, ps_cap, batches_cap;

	/* v1_convert.c */
	uint64_t *reasons; /* string ids */
	uint32_t *unknown; /* goroutines whose status follows the initialization */
	size_t nunknown, unknown_at, at;
	struct trace_event next; /* derived from the event delivered last */
	bool has_next, initialized, ended;
	uint64_t stw; /* string id: kind of the last STW pause */
	int64_t last_time;
	struct trace_sync sync;
};

/* Sets an error with position and event. Returns -EBADMSG. */
int v1__broken(struct error *error, uint64_t offset, unsigned int type, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct v1_symbols; /* function names by PC */

/* The steps of v1__open(). Return 0 or a negative errno, with a message unless it is -ENOMEM. */
int v1__parse(struct v1 *v, struct input *in, struct v1_symbols *symbols, struct error *error);
int v1__sort(struct v1 *v, struct error *error);   /* sets v1.order */
int v1__verify(struct v1 *v, struct error *error); /* requires times in ns */
int v1__add_strings(struct v1 *v);		   /* strings that v2 events need in addition */

/* Opens the executable; rejects it with a message unless it is of Go 1.2 to 1.15, linux/amd64. */
int v1_symbols__open(struct v1_symbols **ret, const char *path, struct error *error);
void v1_symbols__destroy(struct v1_symbols *s);
/*
 * Adds function, file and line to a frame by its PC, a return address. Adds their strings to
 * `dictionary`. Returns 0 or -ENOMEM.
 */
int v1_symbols__frame(struct v1_symbols *s, struct dictionary *dictionary,
		      struct trace_frame *frame);

/* Dictionary id of a stack with only a start PC. Ids of the file have 32 bits. */
#define V1_START_STACK(pc) ((pc) | 1ull << 63)

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that read v1 traces (v1.h says which does what): events as the file has them,
 * and what is known of the goroutines and Ps that they are about.
 *
 * Goroutines and Ps are met by their ids once, in v1_parse.c; from there on they are numbers of
 * arrays, so that ordering and checking look nothing up.
 */
#ifndef TRACE_V1_IMPL_H
#define TRACE_V1_IMPL_H

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/map.h"
#include "trace/v1.h"

enum v1_type {
	V1_BATCH = 1,
	V1_FREQUENCY = 2,
	V1_STACK = 3,
	V1_GOMAXPROCS = 4,
	V1_PROC_START = 5,
	V1_PROC_STOP = 6,
	V1_GC_START = 7,
	V1_GC_DONE = 8,
	V1_STW_START = 9, /* GCScanStart before 1.10: the world was stopped for it */
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
	const char *name; /* as Go 1.21 has it */
	uint8_t since;	  /* first header that may hold it; 0: all */
	uint8_t nargs;	  /* as of 1.21, without time and stack: v1_spec__nargs() for a version */
	bool stack;	  /* ends with the id of a stack */
};

#define V1_ARGS_MAX  8	  /* of any event but V1_STACK */
#define V1_STACK_MAX 1000 /* frames: Go's readers take no more */

const struct v1_spec *v1_spec__find(unsigned int type, unsigned int version); /* NULL: none */
/* All that the file has of an event that is not V1_STACK: times and stack included. */
unsigned int v1_spec__nargs(unsigned int type, unsigned int version);

/* Those of Go 1.5 and 1.6: a sequence number besides the time, and PCs without names. */
static inline bool v1__has_seq(unsigned int version)
{
	return version == 5;
}

static inline bool v1__has_symbols(unsigned int version)
{
	return version >= 7;
}

/* P ids that stand for what is no P. Ps of the file with such an id are the same ones, as in Go. */
enum { V1_P_TIMER, V1_P_NETPOLL, V1_P_SYSCALL, V1_P_GC, V1_P_FAKES };
#define V1_P_FAKE_ID 1000001 /* of V1_P_TIMER; the others follow */

/* Goroutines that are always there: number 0 is id 0, which is none; 1 orders collections. */
enum { V1_G_NONE, V1_G_GARBAGE };

/*
 * An event of the file. `arg`, `other` and `more` (in v1.more, from index `other` on) by type:
 *
 *   GoCreate	other: the new goroutine; arg: its start stack, before 1.7 its start PC
 *   GoStart	arg: seq			GoStartLabel: and more[0]: label
 *   GoUnblock	other: the goroutine; arg: seq
 *   GoSysExit	arg: when it was, in ticks, or 0; more[0]: seq
 *   GoSysExitLocal other: the goroutine, which `g` need not be
 *   GCSweepDone arg: swept; more[0]: reclaimed
 *   UserTaskCreate, UserTaskEnd arg: task; of the first more[0]: parent, more[1]: name; of the
 *		second other: its V1_TASK_CREATE + 1, or 0
 *   UserRegion	arg: task; more[0]: mode, of one that is open its outer one; more[1]: name
 *   UserLog	arg: task; more[0]: key; more[1]: message
 *   all others	arg: their only one
 */
struct v1_event {
	int64_t time; /* ticks; once ordered, ns since the first one */
	uint64_t arg;
	uint32_t g, p; /* numbers; of a P that may be a fake one */
	uint32_t stack;
	uint32_t other;
	uint64_t offset : 48;
	uint64_t type : 8;
	uint64_t blocked : 1; /* GoSysCall: the thread's P was taken from it */
	uint64_t ended : 1;   /* UserRegion: it is the end of one */
	uint64_t futile : 1;  /* part of a wake-up that was for nothing: left out */
};
_Static_assert(sizeof(struct v1_event) == 40, "millions of them are in memory");

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING };

struct v1_g {
	uint64_t id;
	/* v1_order.c */
	uint64_t seq;
	int64_t left; /* time when it lost its P in a system call; 0: not known */
	uint8_t order_status;
	/* v1_state.c */
	uint8_t status;
	uint8_t last;	  /* the event that decides what an unblocking means; 0: none */
	bool exists;	  /* it was created, at least once */
	bool assists;	  /* a mark assist is open */
	bool timer;	  /* v1_parse.c: its unblocking is a timer's */
	bool unknown;	  /* v1_convert.c: was there when the trace began, in which state? */
	uint32_t region;  /* the innermost one that is open: event + 1 */
	uint32_t syscall; /* its last event, if that is V1_GO_SYS_CALL: event + 1 */
};

struct v1_batch { /* events of one P that stand one after another in v1.events */
	uint32_t first, n;
	uint32_t next; /* batch of the same P + 1 */
};

struct v1_p {
	int32_t id;
	uint32_t last_g;		  /* v1_parse.c: that ran on it last */
	uint32_t first_batch, last_batch; /* + 1; v1_order.c takes them off at the front */
	uint32_t event, left;		  /* v1_order.c: its next event, how many in this batch */
	uint32_t waiting;		  /* v1_order.c: the next P that waits for the same, + 1 */
	uint32_t g;			  /* v1_state.c: that runs on it */
	uint64_t m;			  /* v1_convert.c: that runs it */
	bool running, sweeping, stw, gc;  /* v1_state.c */
	bool has_m, seen;		  /* v1_convert.c */
};

struct v1 {
	unsigned int version;
	int64_t ticks_per_sec;
	struct dictionary words;
	uint64_t max_string;	    /* the greatest id in `words` */
	struct dictionary messages; /* of V1_LOG, by number + 1, until they are in `words` */

	struct v1_event *events; /* in the order of the file, CPU samples behind all others */
	uint64_t *more;
	int64_t *seqs;	 /* versions with them: an event's, until ordered */
	uint32_t *order; /* the events as they happened, without futile ones */
	struct v1_g *gs;
	struct v1_p *ps;
	struct v1_batch *batches;
	struct map g_by_id, p_by_id; /* numbers + 1 */
	size_t nevents, nmore, norder, ngs, nps, nbatches;
	size_t events_cap, more_cap, seqs_cap, gs_cap, ps_cap, batches_cap;

	/* v1_convert.c */
	uint64_t *reasons; /* string ids */
	uint32_t *unknown; /* goroutines whose state is told when initialisation ends */
	size_t nunknown, unknown_at, at;
	struct trace_event next; /* what follows from the event delivered last */
	bool has_next, initialised, ended;
	uint64_t stw; /* string id: why the world was stopped last */
	int64_t last_time;
	struct trace_sync sync;
};

/* Makes room for n + 1 elements in the array that `array` points to. 0 or -ENOMEM. */
static inline int v1__grow(void *array, size_t *cap, size_t n, size_t size)
{
	void **at = array, *moved;
	size_t bigger = *cap ? *cap * 2 : 256;

	if (n < *cap)
		return 0;
	moved = reallocarray(*at, bigger, size);
	if (!moved)
		return -ENOMEM;
	*at = moved;
	*cap = bigger;
	return 0;
}

/* -EBADMSG and the reason with place and event. */
int v1__broken(struct error *err, uint64_t offset, unsigned int type, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct v1_symbols; /* names of a program's PCs */

/* The steps of v1__open(): 0 or a negative errno, with the reason unless memory is short. */
int v1__parse(struct v1 *v, struct input *in, struct v1_symbols *symbols, struct error *err);
int v1__sort(struct v1 *v, struct error *err);	 /* sets `order` */
int v1__verify(struct v1 *v, struct error *err); /* needs times in ns */
int v1__add_strings(struct v1 *v);		 /* those that today's events need besides */

/* Refuses, with the reason, a program that is not one of Go 1.2 to 1.15 for linux/amd64. */
int v1_symbols__open(struct v1_symbols **ret, const char *path, struct error *err);
void v1_symbols__destroy(struct v1_symbols *s);
/* Names a frame by its PC, a return address, with strings of `words`. 0 or -ENOMEM. */
int v1_symbols__frame(struct v1_symbols *s, struct dictionary *words, struct trace_frame *frame);

/* Stacks of one frame, a start PC: their ids in the dictionary. The file's have 32 bits. */
#define V1_START_STACK(pc) ((pc) | 1ull << 63)

#endif

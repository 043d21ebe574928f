/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the scheduler events of a perf.data file, written by `perf sched record` or `perf record
 * -e sched:...` of any perf since 4.x, compressed with zstd (-z) or not, in the format of a file
 * or of a pipe (-o -).
 *
 * Input: lib/input.c, through a bounded buffer. Output: align/fit.c and align/join.c.
 * libtraceevent parses the formats of tracepoints; nothing in the file is trusted. Memory: 48
 * bytes per scheduler event, sorted by time, 32 bytes per thread, and the formats; a compressed
 * file contains at most as many of these as it has bytes, plus 262,144.
 */
#ifndef ALIGN_PERFDATA_H
#define ALIGN_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/input.h"

enum perf_sched_kind {
	PERF_SWITCH,  /* tid leaves the CPU in state (prev_state as in the file); next gets it */
	PERF_WAKING,  /* sched_waking: of tid by the sample's own thread, for CPU `next` */
	PERF_WAKEUP,  /* sched_wakeup, sched_wakeup_new: the same */
	PERF_MIGRATE, /* tid, from CPU `state` to CPU `next` */
	PERF_FORK,    /* tid creates next */
	PERF_EXIT,
	PERF_OTHER_SCHED, /* any other sched event: time, CPU and, if present, tid */
};

struct perf_sched {
	uint64_t time; /* as in the file */
	uint64_t state;
	uint32_t tid, next;
	uint32_t pid; /* process of the sample's own thread; ~0: unknown to the kernel */
	uint32_t by;  /* the sample's own thread; ~0: unknown */
	uint16_t cpu;
	uint8_t kind;		  /* enum perf_sched_kind */
	uint8_t preempted;	  /* the thread that was switched out is runnable: R, or R+ */
	uint32_t comm, next_comm; /* perf_data__comm(): of tid, of next; 0: unknown */
	uint32_t event;		  /* perf_data__comm(): "sched_switch", ... */
};

/* events between these times were lost; times as in the file */
struct perf_loss {
	uint64_t from, to, count;
};

#define PERF_CPUS	(UINT16_MAX + 1) /* limit of CPU numbers */
#define PERF_NO_CLOCK	(-1)
#define PERF_LOSSES_MAX 1024 /* more losses than these are merged */

struct perf_data;

/*
 * Read all of it; takes over the input. 0, or a negative errno with the reason, one line: not a
 * perf.data file, truncated, no scheduler events, ...
 */
int perf_data__open(struct perf_data **ret, struct input *in, struct error *error);
/* The same for a path; "-" is stdin. */
int perf_data__open_path(struct perf_data **ret, const char *path, struct error *error);
void perf_data__close(struct perf_data *d); /* may be NULL */

/* The clockid_t of the timestamps, as set with -k; PERF_NO_CLOCK: perf's own clock. */
int perf_data__clock(const struct perf_data *d);
/* Sorted by time, then by order in the file. At least one. */
const struct perf_sched *perf_data__sched(const struct perf_data *d, size_t *ret_n);
/* Any bytes but NUL, as the thread chose them, at most 63. 0 is "". */
const char *perf_data__comm(const struct perf_data *d, uint32_t comm);
/* Process of a thread according to the file; 0: unknown. */
uint32_t perf_data__process(const struct perf_data *d, uint32_t tid);
uint64_t perf_data__lost(const struct perf_data *d); /* number of samples, as counted by perf */
/* Losses whose times the file contains, by end. */
const struct perf_loss *perf_data__losses(const struct perf_data *d, size_t *ret_n);
const char *perf_data__describe(const struct perf_data *d); /* "perf 6.1.187, zstd, pipe" */

#endif

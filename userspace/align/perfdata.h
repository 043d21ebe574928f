/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the scheduler's events out of a perf.data file: what `perf sched record` or `perf record -e
 * sched:...` wrote, of any perf from 4.x on, zstd-compressed (-z) or not, a file or a pipe's output (-o -).
 *
 * Before it: lib/input.c (bytes; nothing is read but through a bounded buffer). After it: align/fit.c
 * and align/join.c. Formats of tracepoints by libtraceevent; nothing in the file is trusted. Memory: the
 * scheduler's events (56 bytes each), sorted by time, 32 bytes a thread, and the formats; whatever is
 * compressed holds no more of these than it has bytes, and 262,144 more.
 */
#ifndef ALIGN_PERFDATA_H
#define ALIGN_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/input.h"

enum perf_sched_kind {
	PERF_SWITCH,  /* tid, state (prev_state as in the file) leaves the core; next gets it */
	PERF_WAKING,  /* sched_waking: tid by the sample's own thread, for core `next` */
	PERF_WAKEUP,  /* sched_wakeup, sched_wakeup_new: the same */
	PERF_MIGRATE, /* tid, from core `state` to core `next` */
	PERF_FORK,    /* tid creates next */
	PERF_EXIT,
	PERF_OTHER_SCHED, /* another event of subsystem sched: time, core and, if it names one, tid */
};

struct perf_sched {
	uint64_t time;	/* as in the file */
	uint64_t order; /* of the sample in the file: 0, 1, … */
	uint64_t state;
	uint32_t tid, next;
	uint32_t pid; /* the process of the sample's own thread; ~0: the kernel knew it no more */
	uint32_t by;  /* the sample's own thread; ~0: the same */
	uint16_t cpu;
	uint8_t kind;		  /* enum perf_sched_kind */
	uint8_t preempted;	  /* the switched-out thread could go on: R, or R+ */
	uint32_t comm, next_comm; /* perf_data__comm(): of tid, of next; 0: not said */
	uint32_t event;		  /* perf_data__comm(): "sched_switch", ... */
};

struct perf_loss { /* events were lost between; times as in the file */
	uint64_t from, to, count;
};

#define PERF_CPUS	(UINT16_MAX + 1) /* numbers that a core may have */
#define PERF_NO_CLOCK	(-1)
#define PERF_LOSSES_MAX 1024 /* more of them are told as fewer and longer ones */

struct perf_data;

/*
 * Reads all of it. Takes the input over. 0, or a negative errno with the reason, one line: no perf.data,
 * cut at such a place, no scheduler's events, ...
 */
int perf_data__open(struct perf_data **ret, struct input *in, struct error *err);
/* The same of a path, or "-": stdin. */
int perf_data__open_path(struct perf_data **ret, const char *path, struct error *err);
void perf_data__close(struct perf_data *d); /* may be NULL */

/* The clockid_t that its times are of, as recorded by -k; PERF_NO_CLOCK: perf's own. */
int perf_data__clock(const struct perf_data *d);
/* Sorted by time; of one time in the order of the file. At least one. */
const struct perf_sched *perf_data__sched(const struct perf_data *d, size_t *ret_n);
/* Any bytes but NUL, as the thread chose them, at most 63. 0: "" */
const char *perf_data__comm(const struct perf_data *d, uint32_t comm);
/* The process of a thread, as far as the file says; 0: not known. */
uint32_t perf_data__process(const struct perf_data *d, uint32_t tid);
/* Its last name by perf's own records of it; "": none. */
const char *perf_data__thread_name(const struct perf_data *d, uint32_t tid);
uint64_t perf_data__lost(const struct perf_data *d); /* samples, by perf's own count */
/* Those of which the file says when, by their ends. */
const struct perf_loss *perf_data__losses(const struct perf_data *d, size_t *ret_n);
const char *perf_data__describe(const struct perf_data *d); /* "perf 6.1.187, zstd, pipe" */

#endif

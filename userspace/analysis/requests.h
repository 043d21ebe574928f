/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks as requests: how long those of each name took, how many failed, and where the time of the
 * goroutines went that worked for them.
 *
 * Upstream: annotation_tracker.h (tasks and regions) and latency.h (the parts of each goroutine's
 * time). Downstream: `gotrace requests`.
 *
 * A goroutine works for a task while it has a region of it open; the goroutine that created the
 * task works for it until one of the two ends. A goroutine that works for a task works for its
 * ancestors that are open, up to a limit (requests_impl.h). So a goroutine may work for several
 * tasks at once, and several for one: the time that is summed up may exceed the duration of the
 * task. A task fails if it has a log of category "error", or one of category "status" whose text is
 * a number of 500 or more (an HTTP status). A task counts in the window in which it ends.
 *
 * A request begins when its first byte could be read, and ends when the last byte of its answer has
 * been written, as far as the trace contains that (reader/request_times.h); else with its task, which
 * is its handler. Meanwhile the goroutine that serves it works for it.
 *
 * The critical path of a request is found backward from its end. It begins with the goroutine that
 * ended the task, and goes on, for the time before that one worked for the request, with the
 * creator. Where a goroutine waited for another one that worked for the request, the path is that of
 * the other one until it ended the wait. A goroutine for which no other one waited, such as a
 * watchdog, is not on it.
 *
 * Memory is proportional to the goroutines that are alive, the tasks that are open, and to names
 * times classes of lengths: requests of one class are summed up, so that the slowest 1 % can be
 * separated at the end. For critical paths, it is also proportional to what the goroutines did that
 * work for open requests, up to REQUEST_TRAILS_MAX.
 */
#ifndef ANALYSIS_REQUESTS_H
#define ANALYSIS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/annotation_filter.h"
#include "analysis/latency.h"
#include "analysis/lengths.h"
#include "analysis/name_table.h"
#include "reader/timeline.h"

#define REQUEST_SLOWEST	   0.01		 /* the share of the requests that are summed up again */
#define REQUEST_TRAILS_MAX (256ul << 20) /* bytes */

/* What the begin of a request is. */
enum request_source {
	REQUEST_FROM_TASK,    /* the begin of its task: nothing else is known */
	REQUEST_FROM_ARRIVAL, /* the kernel reported that its first byte can be read */
	REQUEST_FROM_READY,   /* its goroutine, which waited for it, was made runnable */
	REQUEST_FROM_READ,    /* its goroutine could begin to read it */
	REQUEST_SOURCES
};

/* The sum of several requests. */
struct request_sum {
	uint64_t count;
	int64_t shortest; /* ns; 0: none */
	/* ns of the durations: before the begins of the tasks, and after their ends */
	int64_t before, after;
	uint64_t from[REQUEST_SOURCES]; /* how many began so */
	struct latency_stats time, path;
};

struct request_name {
	uint32_t name; /* requests__name() */
	uint64_t failed, unfinished;
	struct lengths lengths;
	struct request_sum *classes[LENGTH_CLASSES]; /* NULL: none of that length */
};

/* A single one. */
struct request_single {
	uint64_t id;
	uint64_t creator, g; /* the goroutines on which it began and ended */
	int64_t begin, end;
	int64_t before, after; /* ns before its task began, and after it ended */
	uint8_t source;	       /* enum request_source */
	uint32_t name;
	bool failed;
	struct latency_stats time;
	/* On the critical path: the parts, their sum, reasons, places and mark assists. Else 0. */
	struct latency_stats path;
};

struct requests;

/* Keeps the `worst` longest requests one by one. NULL: no memory. */
struct requests *requests__create(size_t worst);
/* Without critical paths, which take time and memory. NULL: no memory. */
struct requests *requests__create_pathless(void);
/*
 * For a trace that does not end: keeps one sum per name, so that nothing can be said of the slowest
 * requests, no critical paths and no places (latency_stats.places). Calls `done` for each goroutine that ends, as
 * latency_opts.done. NULL: no memory.
 */
struct requests *requests__create_endless(int (*done)(void *context,
						      const struct latency_goroutine *g),
					  void *context);
/*
 * Calls `ended` for each request that ends, and sums nothing up. It may use ->time during the call
 * only, and returns 0 or a negative errno. NULL: no memory.
 */
struct requests *requests__create_single(int (*ended)(void *context,
						      const struct request_single *single),
					 void *context);
void requests__destroy(struct requests *r); /* may be NULL */
/*
 * Before the first step of one for single requests: it uses an analysis of the caller's instead of
 * its own, which would have each goroutine twice. That one has neither a window nor places, gets each
 * step before the requests do, and its opts.done() calls requests__goroutine_done(). Borrowed.
 */
void requests__share(struct requests *r, struct latency *latency);
int requests__goroutine_done(struct requests *r, const struct latency_goroutine *g);
/* Only what ends in [from, to) counts; by default all. */
void requests__set_window(struct requests *r, int64_t from, int64_t to);
/* Only what it accepts counts; by default all. */
void requests__set_filter(struct requests *r, const struct annotation_filter *filter);

/*
 * Requests begin and end before the next step, as far as their times are earlier. A client that
 * shares an analysis calls this before the analysis gets the step. 0, or a negative errno with the reason.
 */
int requests__pass(struct requests *r, const struct timeline *t, const struct timeline_step *step,
		   struct error *error);
/* Applies the next step of a timeline. 0, or a negative errno with the reason. */
int requests__step(struct requests *r, const struct timeline *t, const struct timeline_step *step,
		   struct error *error);
/* After the last step of the window or trace. 0 or -ENOMEM. */
int requests__finish(struct requests *r);

/* Requests, in the window, that the filter did not accept. */
uint64_t requests__left_out(const struct requests *r);
/* Requests that ended, but whose begin, and so their name, is not in the trace. */
uint64_t requests__unbegun(const struct requests *r);
/* Requests without a critical path: REQUEST_TRAILS_MAX, or the steps for all of them, were used up. */
uint64_t requests__pathless(const struct requests *r);
struct trace_string requests__name(const struct requests *r, uint32_t name);
/* For the texts of the reasons, and the times of the goroutines that are alive. */
struct latency *requests__latency(const struct requests *r);
size_t requests__open(const struct requests *r); /* number of tasks that have not ended */
/* The i-th name with requests so far, in the order of their first tasks; NULL: none of that name. */
#define REQUEST_NAMES (NAME_TABLE_MAX + 1)
const struct request_name *requests__at(const struct requests *r, uint32_t i);

/* The figures that names can be sorted by: those of lengths.h, and the number of errors. */
enum request_key { REQUESTS_ERRORS = LENGTHS_KEYS, REQUESTS_KEYS };
/*
 * The names in descending order of `key`, of either enum; the caller frees the array, not the
 * elements. NULL: no memory.
 */
const struct request_name **requests__sorted(const struct requests *r, unsigned int key,
					     size_t *ret_n);
/*
 * The sum of all requests of a name; and of the slowest: as many as REQUEST_SLOWEST of them, and
 * those that are in the same class of lengths (lengths.h) as the shortest of these. To be
 * deinitialized. 0 or -ENOMEM.
 */
int request_name__sum(const struct request_name *n, struct request_sum *ret);
int request_name__slowest(const struct request_name *n, struct request_sum *ret);
void request_sum__deinit(struct request_sum *sum);

/* The longest, in descending order; valid until destroy. */
const struct request_single *requests__worst(const struct requests *r, size_t *ret_n);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flight recorder: a window of the latest generations in memory. A snapshot of it is written to
 * a file on a request for one, such as a signal.
 *
 * A request for a snapshot has a cause and a time. The snapshot contains the window before that time,
 * and the tail after it. Upstream: capture/sink.c. Downstream: window.c and finisher.c.
 */
#ifndef FLIGHT_FLIGHT_H
#define FLIGHT_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "flight/file_name.h"
#include "flight/window.h"
#include "lib/error.h"

#define FLIGHT_BYTES_MIN (1ull << 20)
#define FLIGHT_CAUSE_MAX 200
#define FLIGHT_CAUSES	 16 /* of one snapshot */

struct flight;
struct folder;
struct writer;

struct flight_opts {
	const char *dir;	       /* borrowed; NULL: no flight recorder */
	uint64_t window_ns, max_bytes; /* of the window: both limits hold */
	uint64_t tail_ns;	       /* recorded after a request */
	uint64_t keep;		       /* limit of the directory, bytes */
	unsigned int version;	       /* of the trace format */
	struct file_target target;
	struct folder *folder; /* that of `dir`, open already, and borrowed; NULL: none */
};

/* A request for a snapshot. `kind` is part of the file's name. */
struct flight_cause {
	const char *kind;
	char text[FLIGHT_CAUSE_MAX]; /* in the file and in a message */
	uint64_t time;		     /* CLOCK_MONOTONIC, ns */
};

/* Opens the directory, unless that is open. 0, or a negative errno and the reason. */
int flight__open(struct flight **ret, const struct flight_opts *opts, struct error *error);
/* See trace_file__in_folder_of_other(). */
bool flight__in_folder_of_other(const struct flight *f);
/* Begins, at t0 (CLOCK_MONOTONIC, ns; `wall_ns` by CLOCK_REALTIME). Borrows the writer. */
void flight__start(struct flight *f, struct writer *w, uint64_t t0, uint64_t wall_ns);
/*
 * To be called between two generations, the next of which begins at `time`. 1: a trace must be able to
 * begin with it, so it must contain the state of all goroutines. 0: it need not. Or a negative errno.
 */
int flight__next(struct flight *f, uint64_t time);
/*
 * For a caller that takes the generations from the writer itself, and passes each on: as the function
 * of writer__use_memory(); and, after flight__next(), that the next generation contains that state.
 */
int flight__append(struct flight *f, const struct iovec *iov, size_t n);
void flight__has_state(struct flight *f);

/*
 * Requests a snapshot. A request within the tail of another one is a cause of the same snapshot. At most
 * FLIGHT_CAUSES are kept, others are only counted; a cause of kind exit then replaces the latest one.
 * Returns whether it was kept.
 */
bool flight__request(struct flight *f, const struct flight_cause *cause);
/*
 * The oldest request, if its tail is complete, all records up to `watermark` being written, once the
 * snapshot before it is on the disk; NULL: none. The caller notes all causes up to the watermark in
 * the open generation, ends that, and calls flight__save().
 */
const struct flight_cause *flight__due(struct flight *f, uint64_t watermark);
/* The i-th cause up to `time`, due or not; NULL: there are fewer. */
const struct flight_cause *flight__pending(const struct flight *f, size_t i, uint64_t time);
/*
 * Writes the window to a file, in the background; the causes up to `time` are those of this file.
 * A failure is reported, and ends neither the recording nor later snapshots.
 */
void flight__save(struct flight *f, uint64_t time);
/*
 * Ends with the last generation at `time`: saves it if there is a request, and waits until all
 * snapshots are on the disk. Returns `err`, or a failure if a snapshot could not be written, with the
 * reason.
 */
int flight__end(struct flight *f, int err, uint64_t time, struct error *error);
uint64_t flight__snapshots(const struct flight *f); /* number of files written or being written */
uint64_t flight__causes(const struct flight *f);    /* number of requests, kept or not */
struct window_part flight__window(const struct flight *f); /* window__sums() */
void flight__destroy(struct flight *f);			   /* NULL allowed */

#endif

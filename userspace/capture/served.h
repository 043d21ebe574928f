/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording of 'gotrace-bpf serve': its generations go to several consumers, and it answers requests.
 *
 * Consumers are the window of the flight recorder, if there is one, the metrics, and the traces that
 * clients have requested (service/streams.c). The supervisor's requests are handled between two drains
 * of the rings, and nothing here waits for another process.
 *
 * Upstream: recorder.c (the loop) and sink.c (generations). Downstream: service/channel.c.
 */
#ifndef CAPTURE_SERVED_H
#define CAPTURE_SERVED_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "service/streams.h"

#define SERVED_FDS (STREAMS_MAX + 1)

struct flight;
struct served;
struct writer;

/* Answers a request whose result are bytes: returns 0 or a negative errno; the caller frees *ret. */
typedef int (*served_fn)(void *ctx, void **ret, size_t *size);

struct served_opts {
	int channel;	      /* to the supervisor; borrowed */
	unsigned int version; /* of the trace format */
	served_fn stats;      /* CHANNEL_STATS; NULL: unsupported */
	void *stats_ctx;
};

int served__create(struct served **ret, const struct served_opts *opts); /* 0 or -ENOMEM */
void served__destroy(struct served *l);					 /* NULL allowed */

/*
 * Takes the generations of the writer, from t0 (CLOCK_MONOTONIC, ns) on. `flight`: NULL or the flight
 * recorder; borrowed, like the writer. 0 or -ENOMEM.
 */
int served__start(struct served *l, struct writer *w, struct flight *flight, uint64_t t0);
/* Between two generations: as flight__next(), which it calls. */
int served__next(struct served *l, uint64_t time);
/*
 * Whether the open generation should end, all records up to `watermark` being in it; *ret_since: since
 * which watermark.
 */
bool served__is_due(struct served *l, uint64_t watermark, uint64_t *ret_since);

/* Fills fd[], of SERVED_FDS, with what to wait for. Returns the number. */
unsigned int served__fds(const struct served *l, struct pollfd *fd);
/* Handles the requests that have arrived, and sends what is queued. */
void served__step(struct served *l);
/* The last generation has been written: sends the rest of the streams, for at most some seconds. */
void served__finish(struct served *l);

#endif

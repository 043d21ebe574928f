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
#ifndef CAPTURE_LIVE_H
#define CAPTURE_LIVE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "service/streams.h"

#define LIVE_FDS (STREAMS_MAX + 1)

struct flight;
struct live;
struct writer;

/* Answers a request whose result are bytes: returns 0 or a negative errno; the caller frees *ret. */
typedef int (*live_fn)(void *ctx, void **ret, size_t *size);

struct live_opts {
	int channel;	      /* to the supervisor; borrowed */
	unsigned int version; /* of the trace format */
	live_fn stats;	      /* CHANNEL_STATS; NULL: unsupported */
	void *stats_ctx;
};

int live__create(struct live **ret, const struct live_opts *opts); /* 0 or -ENOMEM */
void live__destroy(struct live *l);				   /* NULL allowed */

/*
 * Takes the generations of the writer, from t0 (CLOCK_MONOTONIC, ns) on. `flight`: NULL or the flight
 * recorder; borrowed, like the writer. 0 or -ENOMEM.
 */
int live__start(struct live *l, struct writer *w, struct flight *flight, uint64_t t0);
/* Between two generations: as flight__next(), which it calls. */
int live__next(struct live *l, uint64_t time);
/*
 * Whether the open generation should end, all records up to `watermark` being in it; *ret_since: since
 * which watermark.
 */
bool live__is_due(struct live *l, uint64_t watermark, uint64_t *ret_since);

/* Fills fd[], of LIVE_FDS, with what to wait for. Returns the number. */
unsigned int live__fds(const struct live *l, struct pollfd *fd);
/* Handles the requests that have arrived, and sends what is queued. */
void live__step(struct live *l);
/* The last generation has been written: sends the rest of the streams, for at most some seconds. */
void live__finish(struct live *l);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests for snapshots of a flight recorder buffer during the recording: when each is due, and the
 * child process that writes it, so that this process continues to write checkpoints, and a failure
 * does not end the recording.
 *
 * Upstream: blackbox_record.c, whose loop calls this. Downstream: blackbox_flight_opts.save.
 */
#ifndef BLACKBOX_BLACKBOX_FLIGHT_H
#define BLACKBOX_BLACKBOX_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flight/flight.h"

struct blackbox_flight {
	uint64_t tail_ns;
	/* Writes a snapshot; returns whether it is on the disk. Called in the child process. */
	bool (*save)(void *ctx, const struct flight_cause *cause);
	void *ctx;
	/* zero at the start: */
	bool has_request;
	struct flight_cause request;
	uint64_t ignored; /* requests since the last snapshot */
	pid_t child;	  /* writes a snapshot; 0: none */
	uint64_t written, failed;
	bool last_failed;
};

/*
 * Requests a snapshot at `now` (CLOCK_MONOTONIC, ns). One request at a time is kept, others are only
 * counted. Returns whether it was kept. `kind` and `text`: see struct flight_cause. Every
 * cause that is known without reading the events is requested here.
 */
bool blackbox_flight__request(struct blackbox_flight *f, const char *kind, const char *text,
			      uint64_t now);
/*
 * To be called at least at the time that it returns, in ns: starts the snapshot that is due, once the
 * one before it is on the disk.
 */
uint64_t blackbox_flight__step(struct blackbox_flight *f, uint64_t now);
/*
 * The recording has ended: writes the snapshot that is requested, if any. Returns whether nothing is
 * left to be written.
 */
bool blackbox_flight__end(struct blackbox_flight *f);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording into a flight recorder buffer: the probes write into a session of the kernel module,
 * and this process writes checkpoints, and on request snapshots of the buffer. The buffer outlives
 * the process. Upstream: gotrace-bpf/blackbox.c. Downstream: blackbox_read.c, for a snapshot, or once
 * the buffer is recovered.
 */
#ifndef BLACKBOX_BLACKBOX_RECORD_H
#define BLACKBOX_BLACKBOX_RECORD_H

#include <stdint.h>

#include "capture/recorder.h"
#include "gotrace/uapi.h"
#include "lib/error.h"

#define BLACKBOX_RING_MIN (GT_SUBBUF_MIN * GT_SUBBUFS_MIN) /* bytes */

struct kmod;

/* Snapshots of a running recording: `gotrace-bpf flight --blackbox`. */
struct blackbox_flight_opts {
	uint64_t tail_ns; /* recorded after a request */
	/*
	 * Writes a snapshot of the session of `kmod`, which continues to record. `symbolizer` names
	 * what no checkpoint contains. Called in a child process; reports all errors itself.
	 */
	bool (*save)(void *ctx, struct kmod *kmod, const struct symbolizer *symbolizer,
		     const struct flight_cause *cause);
};

struct blackbox_opts {
	const struct recorder_opts *recorder; /* its sink is not used */
	const char *name;
	uint32_t timeout;	/* seconds that the buffer is kept afterwards; 0: unlimited */
	uint64_t bytes_max;	/* of all rings together; 0: by recorder->ring_size */
	unsigned int privilege; /* to keep, besides PRIVILEGE_READ */
	struct blackbox_flight_opts flight; /* its `save` NULL: no snapshots */
	/*
	 * Called once the probes are live (t0). A negative errno makes the recording fail with it.
	 */
	int (*on_started)(void *ctx);
	void *ctx; /* of all calls */
};

struct blackbox_stats {
	uint64_t memory;       /* of the session, in bytes */
	uint64_t t0, t1;       /* CLOCK_MONOTONIC, ns; t0 is 0 if the probes were never live */
	uint64_t checkpoints;  /* with snapshots */
	bool exited, replaced; /* why the recording ended, if not by a signal or its duration */
	uint64_t snapshots, failed_snapshots;
	bool released; /* the buffer was freed: its last snapshot is on the disk, or there is none */
};

/* Whether the module accepts the name. */
bool blackbox__name_is_valid(const char *name);

/*
 * Returns when the recording has ended, as recorder__run(), under the same conditions. The session
 * is kept, except on failure: a negative errno and the reason. With flight.save it is released at the
 * end, unless the last snapshot could not be written.
 */
int blackbox__record(const struct blackbox_opts *opts, struct blackbox_stats *ret,
		     struct error *error);

#endif

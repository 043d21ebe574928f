/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording into a flight recorder buffer: the probes write into a session of the kernel module,
 * and this process writes checkpoints. The buffer outlives the process. Upstream:
 * gotrace-bpf/blackbox.c. Downstream: blackbox_read.c, once the buffer is recovered.
 */
#ifndef BLACKBOX_BLACKBOX_RECORD_H
#define BLACKBOX_BLACKBOX_RECORD_H

#include <stdint.h>

#include "capture/recorder.h"
#include "gotrace/uapi.h"
#include "lib/error.h"

#define BLACKBOX_RING_MIN (GT_SUBBUF_MIN * GT_SUBBUFS_MIN) /* bytes */

struct blackbox_opts {
	const struct recorder_opts *recorder; /* its sink is not used */
	const char *name;
	uint32_t timeout; /* seconds that the buffer is kept afterwards; 0: unlimited */
	/*
	 * Called once the probes are live (t0). A negative errno makes the recording fail with it.
	 */
	int (*on_started)(void *ctx);
	void *ctx;
};

struct blackbox_stats {
	uint64_t memory;       /* of the session, in bytes */
	uint64_t t0, t1;       /* CLOCK_MONOTONIC, ns; t0 is 0 if the probes were never live */
	uint64_t checkpoints;  /* with snapshots */
	bool exited, replaced; /* why the recording ended, if not by a signal or its duration */
};

/* Whether the module accepts the name. */
bool blackbox__name_is_valid(const char *name);

/*
 * Returns when the recording has ended, as recorder__run(), under the same conditions. The session
 * is kept, except on failure: a negative errno and the reason.
 */
int blackbox__record(const struct blackbox_opts *opts, struct blackbox_stats *ret,
		     struct error *error);

#endif

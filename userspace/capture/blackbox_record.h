/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording into a black box: probes into a session of the kernel module, and a checkpoint beside it now and
 * then. What is recorded outlives this process.
 */
#ifndef CAPTURE_BLACKBOX_RECORD_H
#define CAPTURE_BLACKBOX_RECORD_H

#include <stdint.h>

#include "capture/recorder.h"
#include "gotrace/uapi.h"
#include "lib/error.h"

#define BLACKBOX_RING_MIN (GT_SUBBUF_MIN * GT_SUBBUFS_MIN) /* bytes */

struct blackbox_opts {
	const struct recorder_opts *recorder; /* its sink names no files */
	const char *name;
	uint32_t
		timeout; /* seconds that it stays when nobody records into it any more; 0: for ever */
	/* The probes are live: t0. Other than 0: it is not to be, and fails by this errno. */
	int (*began)(void *ctx);
	void *ctx;
};

struct blackbox_stats {
	uint64_t memory;       /* bytes of the session's */
	uint64_t t0, t1;       /* CLOCK_MONOTONIC, ns; t0 0: it came not so far */
	uint64_t checkpoints;  /* with snapshots */
	bool exited, replaced; /* why it ended, if not by a signal or its duration */
};

/* Whether it is a name that the module takes. */
bool blackbox__name_is_good(const char *name);

/*
 * Returns when the recording has ended, as recorder__run() does, under the same conditions; the session stays.
 * On failure, a negative errno and the reason, it is released.
 */
int blackbox__record(const struct blackbox_opts *opts, struct blackbox_stats *ret,
		     struct error *err);

#endif

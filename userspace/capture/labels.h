/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The labels that goroutines had when the recording began, read from the target's memory.
 *
 * Upstream: recorder.c, with the first snapshot of the process. Downstream: sink.c, which gets a
 * record for each goroutine that has labels; sequence/state_labels.c.
 */
#ifndef CAPTURE_LABELS_H
#define CAPTURE_LABELS_H

#include "capture/recorder.h"
#include "target/process/snapshot.h"

struct sink;

#define LABELS_GOROUTINES_MAX 65536 /* with labels; those of others are not recorded */
#define LABELS_SETS_MAX	      4096  /* distinct ones */

/*
 * Reads the labels of the goroutines in `snap` and passes them to the sink, unless the options exclude
 * labels or the program has none. `between` is called every few milliseconds meanwhile, as in
 * struct snapshot_reading. 0, or a negative errno of the sink or of `between`; labels that cannot be
 * read are left out.
 */
int labels__read_present(const struct recorder_opts *opts, const struct snapshot *snap,
			 int (*between)(void *), void *ctx, struct sink *sink);

#endif

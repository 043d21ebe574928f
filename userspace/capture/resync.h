/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resynchronization after a loss: reads a pair of snapshots of the process.
 *
 * A separate thread reads them, because that takes longer for a million goroutines than the rings
 * can go without a drain. Upstream: sequence/losses.c, which detects losses. Downstream:
 * sequence/resync.c.
 */
#ifndef CAPTURE_RESYNC_H
#define CAPTURE_RESYNC_H

#include <stdint.h>

struct layout;
struct process;
struct resync;
struct sink;

/* Borrows both. NULL: out of memory. */
struct resync *resync__create(const struct process *process, const struct layout *layout);
/* Waits for the end of a read. NULL allowed. */
void resync__destroy(struct resync *r);

/*
 * To be called once per iteration of the recorder's loop, after the drain. Starts reading a pair
 * after a loss, and passes it to the sink once the watermark has passed it. 0, or a negative errno
 * of the sink.
 */
int resync__step(struct resync *r, uint64_t now, uint64_t watermark, struct sink *sink);

#endif

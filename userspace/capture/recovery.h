/* SPDX-License-Identifier: GPL-2.0 */
/*
 * After a loss: a pair of snapshots of the process, read beside the recorder's loop.
 *
 * The reading is done by a thread of its own, since a process with a million goroutines takes longer
 * to read than the rings can be left alone. Before it: sequence/losses.c, which says that something is
 * lost. After it: sequence/resnapshot.c.
 */
#ifndef CAPTURE_RECOVERY_H
#define CAPTURE_RECOVERY_H

#include <stdint.h>

struct layout;
struct process;
struct recovery;
struct sink;

/* NULL: no memory. Both are borrowed. */
struct recovery *recovery__create(const struct process *process, const struct layout *layout);
/* Waits for a read that is under way. NULL allowed. */
void recovery__destroy(struct recovery *r);

/*
 * Once a round of the recorder's loop, after its drain: begins a pair when one is wanted, gives it to
 * the sink once the stream has come to its end. 0, or a negative errno of the sink's.
 */
int recovery__step(struct recovery *r, uint64_t now, uint64_t watermark, struct sink *sink);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gotrace-bpf record --blackbox and flight --blackbox: their messages, and how the first becomes a
 * daemon.
 *
 * Upstream: record.c and flight.c (options), recording.c. Downstream: blackbox/blackbox_record.c, and
 * blackbox_image.c, which writes snapshots.
 */
#ifndef BLACKBOX_H
#define BLACKBOX_H

#include <stdbool.h>

#include "blackbox/blackbox_record.h"
#include "recording.h"

/*
 * Forks, for --daemonize. To be called before signals are prepared. Returns true in the calling
 * process, after waiting until the recording has started or failed: *ret_status is its exit status,
 * and the reason of a failure has been reported, or is in `error`. Returns false in the child,
 * which becomes the daemon, with args->ready_fd set.
 */
bool blackbox__fork(struct record_args *args, int *ret_status, struct error *error);

/* Records until the end of the recording, and reports the snapshots, or how to recover. */
int blackbox__run(const struct record_args *args, const struct recorder_opts *opts,
		  struct error *error);

#endif

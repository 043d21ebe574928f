/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gotrace-bpf record --blackbox: what it says, and how it becomes a daemon.
 *
 * Before it: record.c (options), recording.c. After it: capture/blackbox_record.c.
 */
#ifndef BLACKBOX_H
#define BLACKBOX_H

#include <stdbool.h>

#include "capture/blackbox_record.h"
#include "recording.h"

/*
 * For --daemonize, before signals are prepared: forks. True in the process that was called, which has waited
 * until recording runs, or will not: *ret_status is its exit status, and the reason was said. False in the
 * daemon-to-be, whose args->ready_fd is set.
 */
bool blackbox__fork(struct record_args *args, int *ret_status, struct error *err);

/* Records until its end, and says how to recover. */
int blackbox__run(const struct record_args *args, const struct recorder_opts *opts,
		  struct error *err);

#endif

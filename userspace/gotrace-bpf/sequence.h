/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A raw file, of a disk or of memory, into a trace: what `sequence` and `recover` share.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "capture/rawfile.h"
#include "capture/sink.h"
#include "lib/error.h"

/* Of the options path, raw_path, version and tick_ns count. `name`: of the raw file, for messages. */
int sequence__replay(const struct sink_opts *opts, struct replay *r, const char *name,
		     struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace of a flight recorder buffer: what 'gotrace-bpf recover' and the snapshots of
 * 'gotrace-bpf flight --blackbox' share.
 *
 * Upstream: recover.c (a frozen session), blackbox.c (one that records). Downstream: blackbox/,
 * replay.c.
 */
#ifndef BLACKBOX_IMAGE_H
#define BLACKBOX_IMAGE_H

#include <stdbool.h>

#include "blackbox/blackbox.h"
#include "capture/kmod.h"
#include "capture/sink.h"
#include "lib/error.h"

/*
 * Reads the checkpoints of the session of `kmod`; one that was never written is missing. 0, or a
 * negative errno and the reason. blackbox_image__free_checkpoints() in both cases.
 */
int blackbox_image__read_checkpoints(struct kmod *kmod, struct blackbox_image *ret,
				     struct error *error);
void blackbox_image__free_checkpoints(struct blackbox_image *image);

/* Reports what the trace of a buffer lacks. `remedy`: the option that makes the buffer larger. */
void blackbox_image__report(const struct blackbox_facts *facts, const char *remedy);

/* Writes the trace of records in memory, as replay__write_trace(). `name` is for messages. */
int blackbox_image__write(struct rawfile *raw, const char *name, const struct sink_opts *sink,
			  const struct flight_cause *cause, struct error *error);

/*
 * Writes a snapshot of the session of `kmod` to the directory of sink->flight, up to now or, if it is
 * frozen, up to then. Returns whether it is on the disk; if not, the reason was reported.
 */
bool blackbox_image__save(struct kmod *kmod, const struct symbolizer *symbolizer,
			  const struct sink_opts *sink, const struct flight_cause *cause);

#endif

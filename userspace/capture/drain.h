/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consumes the BPF ring buffers: passes each record to a callback, in the order of its ring and
 * without a copy, and computes the watermark.
 *
 * Upstream: bpf/emit.bpf.h. Downstream: handle_record() in recorder.c (raw file, sequencer).
 */
#ifndef CAPTURE_DRAIN_H
#define CAPTURE_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"

struct drain;
struct inline_probes;
struct probes;

/* `rec` points into the ring and is valid only during the call. A negative errno ends the run. */
typedef int (*drain_fn)(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size);

/* `inl`: NULL, or a further source, with rings of its own behind those of BPF. */
int drain__create(struct drain **ret, const struct probes *probes, struct inline_probes *inl,
		  drain_fn fn, void *ctx);
void drain__destroy(struct drain *d);

/*
 * Passes on what the rings contain now. Returns the number of records or the callback's negative
 * errno. All records up to *ret_watermark (CLOCK_MONOTONIC, ns; never decreases) have been passed
 * on.
 */
int drain__run(struct drain *d, uint64_t *ret_watermark);

/* Fill level of the fullest ring before the last run, in percent. */
unsigned int drain__fill(const struct drain *d);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings to memory, without a copy: each record once, in its ring's order, and how far time is
 * whole.
 *
 * Before it in an event's way: bpf/emit.bpf.h. After it: the recorder's callback (raw file,
 * sequencer).
 */
#ifndef CAPTURE_DRAIN_H
#define CAPTURE_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"

struct drain;
struct session;

/* `rec` is in the ring: valid only during the call. A negative errno ends the run. */
typedef int (*drain_fn)(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size);

int drain__create(struct drain **ret, const struct session *session, drain_fn fn, void *ctx);
void drain__destroy(struct drain *d);

/*
 * Hands over what the rings hold. Returns the number of records or the callback's negative errno.
 * All records up to *ret_watermark (CLOCK_MONOTONIC, ns; never goes back) have been handed over.
 */
int drain__run(struct drain *d, uint64_t *ret_watermark);

/* The fullest ring before the last run, in percent. */
unsigned int drain__fill(const struct drain *d);

#endif

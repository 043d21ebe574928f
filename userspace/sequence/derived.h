/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of which the probes send one for two transitions, or send it late because the transition
 * had no hit of its own (bpf/slot.bpf.h): makes the records that a probe at each would have sent,
 * with a time close to the transition's. Upstream: sequencer.c. Downstream: merge.c.
 */
#ifndef SEQUENCE_DERIVED_H
#define SEQUENCE_DERIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_record;
struct sequencer;

/* Whether derived__put() is to queue the record. */
bool derived__is(const struct gt_record *rec);
/*
 * When the hit was that sent the record, and had read its stack; of a system call's begin no earlier
 * than that, within the time in which a stack's number is not used for another one.
 */
uint64_t derived__sent(const struct sequencer *s, const struct gt_record *rec);
/* Queues what the record stands for: 0 or the errno of merge__put(). */
int derived__put(struct sequencer *s, unsigned int ring, const struct gt_record *rec);

#endif

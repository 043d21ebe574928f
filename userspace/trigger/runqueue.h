/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trigger runqueue: threads that wait too long for a CPU. Upstream: trigger.c. Downstream:
 * wait_list.c.
 */
#ifndef TRIGGER_RUNQUEUE_H
#define TRIGGER_RUNQUEUE_H

#include "trigger/trigger_impl.h"

struct runqueue;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. Borrows t, which must outlive it. */
int runqueue__create(struct runqueue **ret, struct triggers *t);
void runqueue__destroy(struct runqueue *r); /* NULL allowed */
void runqueue__kernel(struct runqueue *r, const struct kernel_item *item);
void runqueue__watermark(struct runqueue *r, uint64_t time);

#endif

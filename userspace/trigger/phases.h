/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers stw, gc, goroutines and heap: states of the whole program. Upstream: trigger.c.
 * Downstream: wait_list.c.
 */
#ifndef TRIGGER_PHASES_H
#define TRIGGER_PHASES_H

#include "trigger/trigger_impl.h"

struct phases;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. Borrows t, which must outlive it. */
int phases__create(struct phases **ret, struct triggers *t);
void phases__destroy(struct phases *p); /* NULL allowed */
void phases__event(struct phases *p, const struct watch_event *ev);
void phases__watermark(struct phases *p, uint64_t time);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers runnable, blocked and syscall: they watch the waits of goroutines in progress, and are met
 * when one lasts too long. analysis/waits.h, in contrast, finds the longest waits of a whole trace.
 */
#ifndef TRIGGER_WAITS_H
#define TRIGGER_WAITS_H

#include "trigger/trigger_impl.h"

struct wait_triggers;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. Borrows t, which must outlive it. */
int wait_triggers__create(struct wait_triggers **ret, struct triggers *t);
void wait_triggers__destroy(struct wait_triggers *w); /* NULL allowed */
void wait_triggers__event(struct wait_triggers *w, const struct watch_event *ev);
void wait_triggers__kernel(struct wait_triggers *w, const struct kernel_item *item);
void wait_triggers__watermark(struct wait_triggers *w, uint64_t time);

#endif

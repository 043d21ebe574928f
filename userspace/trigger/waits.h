/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers runnable, blocked and syscall: goroutines that wait too long. Upstream: trigger.c.
 * Downstream: wait_list.c.
 */
#ifndef TRIGGER_WAITS_H
#define TRIGGER_WAITS_H

#include "trigger/trigger_impl.h"

struct waits;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. Borrows t, which must outlive it. */
int waits__create(struct waits **ret, struct triggers *t);
void waits__destroy(struct waits *w); /* NULL allowed */
void waits__event(struct waits *w, const struct watch_event *ev);
void waits__kernel(struct waits *w, const struct kernel_item *item);
void waits__watermark(struct waits *w, uint64_t time);

#endif

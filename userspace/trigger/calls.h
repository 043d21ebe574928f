/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers on calls: func, region, request and status.
 *
 * They watch the events of package runtime/trace, which are also those of --region, --task and
 * --requests. A request is a task, as in `gotrace requests`. Upstream: trigger.c.
 */
#ifndef TRIGGER_CALLS_H
#define TRIGGER_CALLS_H

#include "trigger/trigger_impl.h"

#define OPEN_CALLS_MAX 65536 /* regions and requests that are watched at the same time: 12 MiB */

struct call_triggers;

/* *ret: NULL if there is no such condition. 0 or -ENOMEM. */
int call_triggers__create(struct call_triggers **ret, const struct triggers *t);
void call_triggers__destroy(struct call_triggers *c); /* NULL allowed */
void call_triggers__event(struct triggers *t, struct call_triggers *c,
			  const struct watch_event *ev);
/* All events up to `time` were passed. */
void call_triggers__watermark(struct triggers *t, struct call_triggers *c, uint64_t time);

#endif

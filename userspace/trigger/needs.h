/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording must contain so that a condition can be met. Upstream: gotrace-bpf/flight.c.
 */
#ifndef TRIGGER_NEEDS_H
#define TRIGGER_NEEDS_H

#include <stdint.h>

#include "trigger/condition.h"

/* The event sets, as SITE_SET() of target/probe/site.h; 0: sched alone, which is always recorded. */
uint32_t condition__sets(const struct condition *c);
/* -EINVAL and the reason, if a name or a set that is not in `sets` makes the condition useless. */
int condition__check(const struct condition *c, uint32_t sets, struct error *error);

#endif

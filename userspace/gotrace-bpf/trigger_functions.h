/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that the conditions func: of --trigger name.
 *
 * Upstream: target/probe/calls.c, which finds functions. Downstream: trigger/calls.c, which gets their
 * names from recording.c.
 */
#ifndef TRIGGER_FUNCTIONS_H
#define TRIGGER_FUNCTIONS_H

#include "analysis.h"
#include "recording.h"
#include "target/probe/calls.h"
#include "trigger/trigger.h"

struct trigger_functions {
	struct trigger_func func[CALLS_MAX];
	size_t n;
};

/* Those of `calls`, which must contain them and outlives *ret. 0, or a negative errno and why. */
int trigger_functions__find(struct trigger_functions *ret, const struct record_args *a,
			    const struct analysis *an, const struct calls *calls,
			    struct error *error);

#endif

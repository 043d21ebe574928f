/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that match the conditions func: of --trigger.
 *
 * Upstream: target/probe/calls.c, which finds functions. Downstream: trigger/calls.c, which gets their
 * names from recording.c.
 */
#ifndef TRIGGER_FUNCTIONS_H
#define TRIGGER_FUNCTIONS_H

#include "recording.h"
#include "target/probe/calls.h"
#include "trigger/trigger.h"

struct trigger_functions {
	struct trigger_func func[CALLS_MAX];
	size_t n;
};

/* Finds them in `calls`, which must contain them and outlive *ret. 0, or a negative errno and the reason. */
int trigger_functions__find(struct trigger_functions *ret, const struct record_args *a,
			    const struct calls *calls, struct error *error);

#endif

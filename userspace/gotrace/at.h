/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opening a trace at a point in time with the help of its index, for `gotrace events`, `path` and
 * `cut`. An index that is stale or corrupt is reported and not used.
 */
#ifndef AT_H
#define AT_H

#include "reader/start_functions.h"
#include "command.h"

/*
 * As open_trace(). With `from` and a valid index, events start with the sync of a generation that
 * begins before *from, and *ret_start is the time of the first event of the trace. Otherwise they
 * start with that first event, and *ret_start is INT64_MIN.
 *
 * `ret_functions`: NULL or, for callers that need the creators of the goroutines that exist at that
 * point, an empty one. It stays empty if *ret_start is INT64_MIN; otherwise reader__order() is the
 * state at that point.
 */
int open_trace_at(const struct trace_args *args, const struct moment *from, struct reader **ret,
		  int64_t *ret_start, struct start_functions *ret_functions, struct error *error);

#endif

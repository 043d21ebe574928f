/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace opened in its middle, by its index: what `gotrace events` and `gotrace cut` begin with
 * when they are asked for a moment. An index that is stale or broken is said to be so and not used.
 */
#ifndef AT_H
#define AT_H

#include "command.h"
#include "trace/rewrite_origins.h"

/*
 * As open_trace(); with `have_from` and a good index the events begin with the sync of a generation
 * that begins before *from, and *ret_start is the trace's start, its first event's time. Else they
 * begin with the first one, which tells the start, and *ret_start is INT64_MIN.
 */
int open_trace_at(const char *path, const struct reader_opts *opts, bool have_from,
		  const struct moment *from, struct reader **ret, int64_t *ret_start,
		  struct error *err);

/*
 * The same for those who need to know how the goroutines came to be that are there then: if
 * *ret_start is not INT64_MIN, *ret_origins is to be deinitialized, and reader__order() is the
 * state there.
 */
int open_trace_with_origins(const char *path, const struct reader_opts *opts, bool have_from,
			    const struct moment *from, struct reader **ret, int64_t *ret_start,
			    struct origins *ret_origins, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface between path.c, which parses the command line, and path_read.c.
 */
#ifndef PATH_READ_H
#define PATH_READ_H

#include "analysis/path.h"
#include "reader/timeline.h"
#include "command.h"

struct path_request {
	uint64_t goroutine;
	struct trace_args in; /* the trace, and the requested part of it */
};

struct path_window {
	int64_t start;	    /* of the trace */
	int64_t from, to;   /* the requested time within the lifetime of the goroutine; from < to */
	uint32_t goroutine; /* index in the history */
	bool lossy;	    /* some kernel events were lost */
};

/*
 * Fill the history, which must be initialized. `start`: as from open_trace_at(). 0, or a negative
 * errno with the reason: -ENOENT (the goroutine does not exist at that time), -E2BIG (the history
 * exceeds its limit), or an error of the reader.
 */
int path__read(struct reader *r, int64_t start, const struct path_request *a,
	       struct path_history *h, struct path_window *ret, struct error *error);

/* Apply the step that timeline__next() has returned. 0 or -ENOMEM. */
int path__take_step(const struct timeline *t, struct path_fold *f,
		    const struct timeline_step *step);

#endif

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
	struct trace_args in; /* the trace, the requested part of it, and the goroutines */
	uint64_t worst;	      /* only so many goroutines, those that lasted longest; 0: all */
};

/* The requested time within the lifetime of a goroutine, an index in the history; from < to. */
struct path_window {
	int64_t from, to;
	uint32_t goroutine;
};

struct path_windows {
	struct path_window *at; /* by duration, longest first; at least one */
	size_t n;
	int64_t start;		     /* of the trace */
	bool lossy;		     /* some kernel events were lost */
	struct private_short shorts; /* timeline__short() */
};

/*
 * Fill the history, which must be initialized, and choose the goroutines. `start`: as from
 * open_trace_at(). The caller frees ret->at. 0, or a negative errno with the reason: -ENOENT (no
 * such goroutine exists at that time), -E2BIG (the history exceeds its limit), or an error of the
 * reader.
 */
int path__read(struct reader *r, int64_t start, struct path_request *a, struct path_history *h,
	       struct path_windows *ret, struct error *error);

/* Apply the step that timeline__next() has returned. 0 or -ENOMEM. */
int path__take_step(const struct timeline *t, struct path_fold *f,
		    const struct timeline_step *step);

#endif

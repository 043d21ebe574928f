/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What path.c, which knows the command line, asks of path_read.c.
 */
#ifndef PATH_READ_H
#define PATH_READ_H

#include "command.h"
#include "trace/path.h"

struct path_request {
	uint64_t goroutine;
	struct trace_source in; /* the trace, and the part of it */
};

struct path_window {
	int64_t start;	    /* of the trace */
	int64_t from, to;   /* what is asked for, as far as the goroutine is there; from < to */
	uint32_t goroutine; /* its index in the history */
	bool lossy;	    /* some of the kernel's side was lost */
};

/*
 * Fills the history, which is initialized. `start`: as open_trace_at() says. 0, or a
 * negative errno with the reason: -ENOENT (no such goroutine then), -E2BIG (beyond the history's
 * limit), what the reader says.
 */
int path__read(struct reader *r, int64_t start, const struct path_request *a,
	       struct path_history *h, struct path_window *ret, struct error *err);

#endif

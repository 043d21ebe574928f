/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that path_print.c and path_json.c share.
 */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include "analysis/path.h"
#include "lib/json.h"

/* Print to stdout; `goroutine` is an index, `start` the start of the trace. 0 or -ENOMEM. */
int path__print(const struct path_history *h, uint32_t goroutine, const struct path *p,
		int64_t start);
/* The same as an object, the element of an array or all of the output. */
int path__print_json(struct json *j, const struct path_history *h, uint32_t goroutine,
		     const struct path *p);

const char *path__kind(uint8_t kind);	/* "on-CPU" */
const char *path__cause(uint8_t cause); /* "interrupt"; NULL: none */
/* Name of a system call, built in or from the trace; empty: unknown. */
struct trace_string path__call(const struct path_history *h, uint32_t number);
/* Reason of the wait, from Go or the kernel; empty: it did not wait. */
struct trace_string path__reason(const struct path_history *h, const struct path_segment *seg);
/* Kind of the interrupt, inferred from the wait: "disk", "timer", "network"; NULL: unknown. */
const char *path__interrupt(const struct path_segment *seg);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words that path_print.c and path_json.c have in common.
 */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include "trace/path.h"

/* To stdout; `goroutine` is its index, `start` the trace's. 0 or -ENOMEM. */
int path__print(const struct path_history *h, uint32_t goroutine, const struct path *p,
		int64_t start);
int path__print_json(const struct path_history *h, uint32_t goroutine, const struct path *p);

const char *path__kind(uint8_t kind);	/* "on-CPU" */
const char *path__cause(uint8_t cause); /* "interrupt"; NULL: none */
/* What an interned id says; empty if nothing. */
struct trace_string path__word(const struct path_history *h, uint32_t id);
/* The name of a system call, ours or the trace's; empty: there is none. */
struct trace_string path__call(const struct path_history *h, uint32_t number);
/* Why it waited: Go's reason, or the kernel's; empty: it did not. */
struct trace_string path__reason(const struct path_history *h, const struct path_segment *seg);
/* "disk", "timer", "network": of which kind an interrupt must have been; NULL: not known. */
const char *path__interrupt(const struct path_segment *seg);

#endif

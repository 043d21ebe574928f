/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by path_print.c and path_json.c: names, and the texts of causes, also for waits_print.c and
 * waits_json.c.
 */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include "analysis/path.h"
#include "lib/json.h"
#include "path_read.h"
#include "print/print.h"

/* Print to stdout; `goroutine` is an index, `start` the start of the trace. 0 or -ENOMEM. */
int path__print(const struct path_history *h, uint32_t goroutine, const struct path *p,
		int64_t start, const struct selection *select);
int path__print_json(struct json *j, const struct path_history *h, uint32_t goroutine,
		     const struct path *p, const struct selection *select);
/* The sums of several paths, instead of these. 0 or -ENOMEM. */
int path__print_sums(const struct path_sums *s, const struct selection *select);
int path__print_sums_json(struct json *j, const struct path_sums *s,
			  const struct path_windows *windows, const struct selection *select);

/* A segment without its times, as in the summary: kind, goroutine and cause. */
void path__put_cause(struct out *o, const struct path_history *h, const struct path_segment *seg);
void path__put_json_cause(struct json *j, const struct path_history *h,
			  const struct path_segment *seg);
/* "g12 main.worker" */
void path__put_goroutine(struct out *o, const struct path_history *h, uint32_t index);
/* Seconds since the start of the trace, right-aligned in 10 more columns than `width`. */
void path__put_offset(struct out *o, int64_t time, int64_t start, int width);

const char *path__kind(uint8_t kind);	/* "on-CPU" */
const char *path__cause(uint8_t cause); /* "interrupt"; NULL: none */
/* Name of a system call, built in or from the trace; empty: unknown. */
struct trace_string path__call(const struct path_history *h, uint32_t number);
/* Reason of the wait, from Go or the kernel; empty: it did not wait. */
struct trace_string path__reason(const struct path_history *h, const struct path_segment *seg);
/* Kind of the interrupt, inferred from the wait: "disk", "timer", "network"; NULL: unknown. */
const char *path__interrupt(const struct path_segment *seg);

#endif

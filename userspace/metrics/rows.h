/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The metrics: a table with one row per family and fixed label, which the analysis fills
 * (metrics/engine.h), snapshots contain (metrics/values.h) and print.c prints.
 *
 * A number of this enum is part of a snapshot. Recorder and supervisor are one program, so numbers
 * may change from version to version.
 */
#ifndef METRICS_ROWS_H
#define METRICS_ROWS_H

#include <stdbool.h>

#include "analysis/latency.h"

enum metrics_row {
	ROW_TIME, /* by part, in the order of enum latency_part */
	ROW_TIME_UNKNOWN = ROW_TIME + LATENCY_PARTS,
	ROW_SYSCALL_CPU,
	ROW_CPU,
	ROW_MIGRATIONS,
	ROW_WAIT_KERNEL_RUNNABLE,
	ROW_WAIT_KERNEL_BLOCKED,
	ROW_WAIT_SYSCALL_BLOCKED,
	ROW_WAIT_GO_BLOCKED,
	ROW_BLOCKS,
	ROW_SCHED,
	ROW_RUN_QUEUE,
	ROW_SYSCALL,
	ROW_GC,
	ROW_GC_ASSIST,
	ROW_GC_WORKER,
	ROW_GC_WORKER_CPU,
	ROW_STW,
	ROW_GOROUTINES_RUNNABLE,
	ROW_GOROUTINES_RUNNING,
	ROW_GOROUTINES_WAITING,
	ROW_GOROUTINES_SYSCALL,
	ROW_CREATED,
	ROW_ENDED,
	ROW_HEAP,
	ROW_HEAP_GOAL,
	ROW_GOMAXPROCS,
	ROW_REQUEST,
	ROW_REQUEST_ERRORS,
	ROW_REQUEST_CPU,
	ROW_REQUESTS_UNBEGUN,
	ROW_LOGS,
	ROW_EVENTS,
	ROW_KERNEL_EVENTS,
	ROW_GENERATIONS,
	ROW_DROPPED,
	ROW_RESTARTS,
	ROW_LOST,
	ROW_RECORDED,
	METRICS_ROWS
};

enum metrics_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
enum metrics_unit { UNIT_NONE, UNIT_SECONDS, UNIT_BYTES };

struct metrics_info {
	/* Without the prefix "gotrace_" and, for counters, the suffix "_total". */
	const char *family;
	enum metrics_type type;
	enum metrics_unit unit; /* values of UNIT_SECONDS are ns */
	const char *state;	/* value of the label "state"; NULL: it has none */
	const char *label;	/* name of the label whose values come from the trace; NULL: none */
	const char *help;
};

/* Rows of one family follow one another. */
extern const struct metrics_info metrics_rows[METRICS_ROWS];

#endif

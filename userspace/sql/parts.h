/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The columns with the parts of goroutines' time, which goroutines and requests have.
 */
#ifndef SQL_PARTS_H
#define SQL_PARTS_H

#include "analysis/latency.h"
#include "sql/tables.h"

#define PARTS_COLUMNS (LATENCY_PARTS + 5)

/* Elements of an array of columns, in the order of latency_stats.times. */
/* clang-format off */
#define PARTS_LIST \
	{ "oncpu_ns", "BIGINT", "running on a CPU, or on an unknown thread" }, \
	{ "go_runnable_ns", "BIGINT", "waiting for a P" }, \
	{ "kernel_runnable_ns", "BIGINT", "running for Go, while its thread waited for a CPU" }, \
	{ "throttled_ns", "BIGINT", "the same, because the cgroup's CPU time was used up" }, \
	{ "kernel_blocked_ns", "BIGINT", "running for Go, while its thread was asleep" }, \
	{ "syscall_blocked_ns", "BIGINT", "asleep in a system call" }, \
	{ "go_blocked_ns", "BIGINT", "waiting for something other than a P" }, \
	{ "total_ns", "BIGINT", "the sum of these and of lost_ns" }, \
	{ "lost_ns", "BIGINT", "unknown, because records were lost" }, \
	{ "syscall_oncpu_ns", "BIGINT", "of oncpu_ns: in system calls" }, \
	{ "gc_assist_ns", "BIGINT", "of oncpu_ns: in mark assists of the garbage collector" }, \
	{ "unknown_ns", "BIGINT", "of total_ns: the state of the thread was unknown" }
/* clang-format on */

_Static_assert(offsetof(struct latency_stats, migrations) ==
		       PARTS_COLUMNS * sizeof(((struct latency_stats *)NULL)->times[0]),
	       "one column per time, in their order");

static inline void row__parts(struct rows *r, unsigned int column,
			      const struct latency_stats *stats)
{
	for (unsigned int i = 0; i < PARTS_COLUMNS; i++)
		row__number(r, column + i, stats->times[i]);
}

/* Of what has no such times. */
static inline void row__no_parts(struct rows *r, unsigned int column)
{
	for (unsigned int i = 0; i < PARTS_COLUMNS; i++)
		row__number(r, column + i, ROW_NULL);
}

#endif

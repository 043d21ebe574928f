/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures of one recording that `gotrace diff` compares: what kinds there are, and their sums or
 * quantiles in each slice of time.
 *
 * Filled by diff/measure.h, read by diff/compare.c. Memory: 8 bytes per figure and slice; figures are
 * per start function, name of a request, or reason.
 */
#ifndef DIFF_FIGURES_H
#define DIFF_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/latency.h"
#include "lib/map.h"

enum figure_group {
	GROUP_FUNCTION, /* time of goroutines, by start function */
	GROUP_REASON,	/* time in which they were blocked, by reason */
	GROUP_REQUEST,	/* tasks, by name */
	GROUP_SCHEDULER,
	GROUP_GC,
	FIGURE_GROUPS
};

enum figure_kind {
	FIGURE_RUNNING,
	FIGURE_RUNNABLE,
	FIGURE_SYSCALL,
	FIGURE_BLOCKED,
	FIGURE_ASSIST, /* in mark assists, a part of the others */
	FIGURE_REASON,
	FIGURE_REQUEST_RATE,
	FIGURE_REQUEST_MEAN,
	FIGURE_REQUEST_P50,
	FIGURE_REQUEST_P99,
	FIGURE_REQUEST_ERRORS,
	FIGURE_REQUEST_PART, /* and the following: enum latency_part */
	FIGURE_REQUEST_ASSIST = FIGURE_REQUEST_PART + LATENCY_PARTS,
	FIGURE_SCHED_WAIT,
	FIGURE_SCHED_P50,
	FIGURE_SCHED_P99,
	FIGURE_GC_CYCLES,
	FIGURE_GC_MARK,
	FIGURE_GC_ASSIST,
	FIGURE_STW,
	FIGURE_STW_P99,
	FIGURE_KINDS
};

/* What the sums are divided by. */
enum figure_weight {
	WEIGHT_CHOSEN, /* seconds, or requests of all names */
	WEIGHT_SECONDS,
	WEIGHT_NAME,	/* requests of that name */
	WEIGHT_QUANTILE /* it is no sum */
};

struct figure_info {
	const char *name;
	enum figure_group group;
	enum figure_weight weight;
	bool is_time; /* ns; otherwise a number */
	bool is_bad;  /* more of it is worse; otherwise it may be either */
};

extern const struct figure_info figure_infos[FIGURE_KINDS];

struct figure {
	uint8_t kind;
	uint32_t name;	/* of the start function or request, or the reason; 0: none */
	double all;	/* of a quantile: that of the whole recording; otherwise unused */
	double slice[]; /* sum or quantile of each; quantiles are NaN without data */
};

struct figures {
	size_t slices;
	struct map by_key; /* to struct figure */
};

void figures__init(struct figures *f, size_t slices); /* allocates nothing */
void figures__deinit(struct figures *f);
/* Finds or adds one, with sums of 0 and quantiles of NaN. NULL: no memory. */
struct figure *figures__get(struct figures *f, enum figure_kind kind, uint32_t name);
const struct figure *figures__find(const struct figures *f, enum figure_kind kind, uint32_t name);

static inline uint64_t figure__key(enum figure_kind kind, uint32_t name)
{
	return (uint64_t)kind << 32 | name;
}

#endif

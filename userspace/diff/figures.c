// SPDX-License-Identifier: GPL-2.0
/*
 * The figures of one recording: see figures.h.
 */
#include "diff/figures.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
const struct figure_info figure_infos[FIGURE_KINDS] = {
	[FIGURE_RUNNING] = { "running", GROUP_FUNCTION, WEIGHT_CHOSEN, true, true },
	[FIGURE_RUNNABLE] = { "runnable", GROUP_FUNCTION, WEIGHT_CHOSEN, true, true },
	[FIGURE_SYSCALL] = { "syscall", GROUP_FUNCTION, WEIGHT_CHOSEN, true, false },
	[FIGURE_BLOCKED] = { "blocked", GROUP_FUNCTION, WEIGHT_CHOSEN, true, false },
	[FIGURE_ASSIST] = { "mark assist", GROUP_FUNCTION, WEIGHT_CHOSEN, true, true },
	[FIGURE_REASON] = { "blocked", GROUP_REASON, WEIGHT_CHOSEN, true, false },
	[FIGURE_REQUEST_RATE] = { "rate", GROUP_REQUEST, WEIGHT_SECONDS, false, false },
	[FIGURE_REQUEST_MEAN] = { "mean", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_P50] = { "p50", GROUP_REQUEST, WEIGHT_QUANTILE, true, true },
	[FIGURE_REQUEST_P99] = { "p99", GROUP_REQUEST, WEIGHT_QUANTILE, true, true },
	[FIGURE_REQUEST_ERRORS] = { "errors", GROUP_REQUEST, WEIGHT_NAME, false, true },
	[FIGURE_REQUEST_PART + PART_ONCPU] = { "on CPU", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_GO_RUNNABLE] =
		{ "Go-runnable", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_KERNEL_RUNNABLE] =
		{ "kernel-runnable", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_THROTTLED] =
		{ "throttled", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_KERNEL_BLOCKED] =
		{ "kernel-blocked", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_SYSCALL_BLOCKED] =
		{ "syscall-blocked", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_PART + PART_GO_BLOCKED] =
		{ "Go-blocked", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_REQUEST_ASSIST] = { "mark assist", GROUP_REQUEST, WEIGHT_NAME, true, true },
	[FIGURE_SCHED_WAIT] = { "waits", GROUP_SCHEDULER, WEIGHT_CHOSEN, true, true },
	[FIGURE_SCHED_P50] = { "wait, p50", GROUP_SCHEDULER, WEIGHT_QUANTILE, true, true },
	[FIGURE_SCHED_P99] = { "wait, p99", GROUP_SCHEDULER, WEIGHT_QUANTILE, true, true },
	[FIGURE_GC_CYCLES] = { "cycles", GROUP_GC, WEIGHT_CHOSEN, false, true },
	[FIGURE_GC_MARK] = { "mark phases", GROUP_GC, WEIGHT_CHOSEN, true, true },
	[FIGURE_GC_ASSIST] = { "mark assists", GROUP_GC, WEIGHT_CHOSEN, true, true },
	[FIGURE_STW] = { "stop-the-world", GROUP_GC, WEIGHT_CHOSEN, true, true },
	[FIGURE_STW_P99] = { "stop-the-world, p99", GROUP_GC, WEIGHT_QUANTILE, true, true },
};
/* clang-format on */

void figures__init(struct figures *f, size_t slices)
{
	*f = (struct figures){ .slices = slices };
}

void figures__deinit(struct figures *f)
{
	map__free(&f->by_key);
}

const struct figure *figures__find(const struct figures *f, enum figure_kind kind, uint32_t name)
{
	return map__get(&f->by_key, figure__key(kind, name));
}

struct figure *figures__get(struct figures *f, enum figure_kind kind, uint32_t name)
{
	uint64_t key = figure__key(kind, name);
	struct figure *figure = map__get(&f->by_key, key);

	if (figure)
		return figure;
	figure = map__put_new(&f->by_key, key, sizeof(*figure) + f->slices * sizeof(double));
	if (!figure)
		return NULL;
	figure->kind = (uint8_t)kind;
	figure->name = name;
	for (size_t i = 0; i < f->slices; i++)
		if (figure_infos[kind].weight == WEIGHT_QUANTILE)
			figure->slice[i] = NAN;
	return figure;
}

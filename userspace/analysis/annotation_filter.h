/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tasks or regions are requested: by --goroutine, --function and --name of select.h.
 *
 * A task belongs to the goroutine that created it, a region to the one on which it began. Used by
 * annotations.c and requests.c when one ends, so that a filter only leaves rows and counts out.
 */
#ifndef ANALYSIS_ANNOTATION_FILTER_H
#define ANALYSIS_ANNOTATION_FILTER_H

#include "analysis/name_table.h"
#include "analysis/select.h"

/* All of it is borrowed. */
struct annotation_filter {
	struct selection *select; /* NULL: everything is requested */
	/* With --function: those whose start function matches, by ID. */
	const struct map *goroutines;
};

/* Whether one of goroutine `g` with the name of that index is requested. 0 or -ENOMEM. */
int annotation_filter__accepts(const struct annotation_filter *f, const struct name_table *names,
			       uint64_t g, uint32_t name, bool *ret);
/* Whether one is requested whose name and goroutine are not known: only if all of them are. */
bool annotation_filter__accepts_unknown(const struct annotation_filter *f);

#endif

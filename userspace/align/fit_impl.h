/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the fit share: fit_runs.c (runs of switches that look alike), fit.c (lines through
 * them, and the verdict).
 */
#ifndef ALIGN_FIT_IMPL_H
#define ALIGN_FIT_IMPL_H

#include "align/fit.h"
#include "lib/map.h"

/* One recording. A key is a core and the two threads of a switch, numbered from 0. */
struct fit_side {
	const struct fit_switch *at;
	size_t n;
	uint32_t *key;	 /* of each switch */
	uint64_t *times; /* by key, then by time */
	size_t *first;	 /* of a key in `times`; one more than there are keys */
};

struct fit_sides {
	struct fit_side ours, theirs;
	struct map keys; /* to their numbers + 1 */
};

int fit_sides__init(struct fit_sides *s, const struct fit_switch *ours, size_t nours,
		    const struct fit_switch *theirs, size_t ntheirs); /* 0 or -ENOMEM */
void fit_sides__deinit(struct fit_sides *s);

/* The time of that key nearest to `time`, at most `slack` away: true. */
int fit_side__nearest(const struct fit_side *side, uint32_t key, uint64_t time, uint64_t slack,
		      uint64_t *ret);

/* At `ours` (index `at`) the clocks may be `offset` apart. */
struct fit_candidate {
	int64_t offset; /* ours - theirs */
	size_t at;
};

/*
 * Runs of switches that both sides hold with the same gaps between them: sorted by offset. The rare ones
 * first, about a million at most. 0 or -ENOMEM.
 */
int fit_runs__find(const struct fit_sides *s, struct fit_candidate **ret, size_t *ret_n);

#endif

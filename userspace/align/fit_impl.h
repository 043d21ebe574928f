/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the clock alignment: fit_runs.c (candidate offsets) and fit.c (lines
 * through them, and the choice of one).
 */
#ifndef ALIGN_FIT_IMPL_H
#define ALIGN_FIT_IMPL_H

#include "align/fit.h"
#include "lib/map.h"

/* One recording. A key is a CPU and the two threads of a switch, numbered from 0. */
struct fit_side {
	const struct fit_switch *at;
	size_t n;
	uint32_t *key;	 /* of each switch */
	uint64_t *times; /* by key, then by time */
	size_t *first;	 /* of a key in `times`; one more entry than keys */
};

struct fit_sides {
	struct fit_side ours, theirs;
	struct map keys; /* to key numbers + 1 */
};

int fit_sides__init(struct fit_sides *s, const struct fit_switch *ours, size_t nours,
		    const struct fit_switch *theirs, size_t ntheirs); /* 0 or -ENOMEM */
void fit_sides__deinit(struct fit_sides *s);

/* The time of that key nearest to `time`, at most `slack` away. True: there is one. */
int fit_side__nearest(const struct fit_side *side, uint32_t key, uint64_t time, uint64_t slack,
		      uint64_t *ret);

/* A candidate offset: the clocks may differ by `offset` at `ours` (index `at`). */
struct fit_candidate {
	int64_t offset; /* ours - theirs */
	size_t at;
};

/*
 * Candidate offsets from runs of switches that both recordings contain with equal gaps, sorted by
 * offset. Rare runs first, up to about a million. 0 or -ENOMEM.
 */
int fit_runs__find(const struct fit_sides *s, struct fit_candidate **ret, size_t *ret_n);

#endif

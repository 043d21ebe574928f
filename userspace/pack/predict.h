/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Codes a number that is probably one of a few candidates, and texts.
 *
 * Upstream: the models of events (event_model.c), tables (table_model.c) and kernel events
 * (item_model.c), which know the candidates. Downstream: coder.h. As there, each function encodes
 * or decodes, and returns the value in both cases.
 */
#ifndef PACK_PREDICT_H
#define PACK_PREDICT_H

#include "pack/coder.h"

struct predictor {
	struct coder *coder; /* borrowed */
	uint64_t *guess;     /* by hash of a context: the last value in it */
};

int predictor__init(struct predictor *p, struct coder *coder); /* 0 or -ENOMEM */
void predictor__deinit(struct predictor *p);

/* Where the last value of a context is kept; never NULL. Other contexts may share it. */
uint64_t *predictor__guess(const struct predictor *p, uint64_t a, uint64_t b);

/*
 * Whether a number is one of n candidates, the best ones first, which is stored in *ret. `a` and
 * `b` are contexts, `mixer` the first of 8 mixers.
 */
bool predictor__one_of(struct predictor *p, uint64_t a, uint64_t b, unsigned int mixer,
		       const uint64_t *candidate, unsigned int n, uint64_t value, uint64_t *ret);
/*
 * A number for which there are n >= 1 candidates, the best ones first; if it is none of them, its
 * difference to the first one is coded. `a` and `b` are contexts, `mixer` the first of 32 mixers.
 */
uint64_t predictor__candidate(struct predictor *p, uint64_t a, uint64_t b, unsigned int mixer,
			      const uint64_t *candidate, unsigned int n, uint64_t value);
/* A number of a kind, which often repeats after the same `near`, or after the same `far`. */
uint64_t predictor__value(struct predictor *p, uint64_t kind, uint64_t near, uint64_t far,
			  uint64_t value);
/* A byte after up to eight others, the last of them lowest in `before`. */
uint8_t predictor__byte(struct predictor *p, uint64_t kind, uint64_t before, uint8_t byte);

#endif

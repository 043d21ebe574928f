// SPDX-License-Identifier: GPL-2.0
/*
 * Candidates for a number: see predict.h.
 */
#include "pack/predict.h"

#include <errno.h>
#include <stdlib.h>

#define GUESSES_LOG2 16

/* Mixers: the models use those below. */
enum { MIXER_VALUE = 3072, MIXER_BYTE = 4032 };

int predictor__init(struct predictor *p, struct coder *coder)
{
	p->coder = coder;
	p->guess = calloc((size_t)1 << GUESSES_LOG2, sizeof(*p->guess));
	return p->guess ? 0 : -ENOMEM;
}

void predictor__deinit(struct predictor *p)
{
	free(p->guess);
	p->guess = NULL;
}

uint64_t *predictor__guess(const struct predictor *p, uint64_t a, uint64_t b)
{
	return &p->guess[pack__index(pack__hash(a, b), GUESSES_LOG2)];
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

static bool was_offered(const uint64_t *candidate, unsigned int i)
{
	for (unsigned int j = 0; j < i; j++)
		if (candidate[j] == candidate[i])
			return true;
	return false;
}

bool predictor__one_of(struct predictor *p, uint64_t a, uint64_t b, unsigned int mixer,
		       const uint64_t *candidate, unsigned int n, uint64_t value, uint64_t *ret)
{
	for (unsigned int i = 0; i < n; i++)
		if (!was_offered(candidate, i) &&
		    coder__bit(p->coder, pack__hash(a, i), pack__hash(b, i), mixer + i,
			       value == candidate[i])) {
			*ret = candidate[i];
			return true;
		}
	return false;
}

uint64_t predictor__candidate(struct predictor *p, uint64_t a, uint64_t b, unsigned int mixer,
			      const uint64_t *candidate, unsigned int n, uint64_t value)
{
	if (predictor__one_of(p, a, b, mixer, candidate, n, value, &value))
		return value;
	value = coder__number(p->coder, pack__hash(a, n), pack__hash(b, n), mixer + 8,
			      zigzag(value - candidate[0]));
	return candidate[0] + unzigzag(value);
}

uint64_t predictor__value(struct predictor *p, uint64_t kind, uint64_t near, uint64_t far,
			  uint64_t value)
{
	uint64_t *by_near = predictor__guess(p, kind, near);
	uint64_t *by_far = predictor__guess(p, kind + 1, far),
		 *last = predictor__guess(p, kind, kind);
	uint64_t candidate[] = { *by_near, *by_far, *last + 1, *last };

	value = predictor__candidate(p, kind, pack__hash(kind, near), MIXER_VALUE + kind % 30 * 32,
				     candidate, 4, value);
	*by_near = *by_far = *last = value;
	return value;
}

uint8_t predictor__byte(struct predictor *p, uint64_t kind, uint64_t before, uint8_t byte)
{
	return (uint8_t)coder__symbol(p->coder, pack__hash(kind, before & 0xffff),
				      pack__hash(kind + 1, before & 0xffffffff), MIXER_BYTE, 8,
				      byte);
}

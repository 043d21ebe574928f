// SPDX-License-Identifier: GPL-2.0
/*
 * The distribution of durations: see lengths.h. Each is counted in its class at once, so memory
 * does not depend on their number.
 */
#include "analysis/lengths.h"

uint32_t length_class__of(int64_t ns)
{
	unsigned int bits;

	if (ns < 32)
		return ns > 0 ? (uint32_t)ns : 0;
	bits = 63 - (unsigned int)__builtin_clzll((uint64_t)ns);
	return (bits - 4) * 16 + (uint32_t)(ns >> (bits - 4));
}

int64_t length_class__middle(uint32_t class)
{
	unsigned int shift;

	if (class < 32)
		return class;
	shift = class / 16 - 1;
	return ((int64_t)(class % 16 + 16) << shift) + ((int64_t)1 << shift) / 2;
}

void lengths__add(struct lengths *l, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	if (!l->count || ns < l->min)
		l->min = ns;
	if (ns > l->max)
		l->max = ns;
	if (__builtin_add_overflow(l->sum, ns, &l->sum))
		l->sum = INT64_MAX;
	l->count++;
	l->class[length_class__of(ns)]++;
}

int64_t lengths__share(const struct lengths *l, double share)
{
	double wanted = share * (double)l->count;
	uint32_t class = 0;
	uint64_t n = 0;
	int64_t middle;

	if (!l->count)
		return 0;
	while (class + 1 < LENGTH_CLASSES && (n += l->class[class], !n || (double)n < wanted))
		class ++;
	middle = length_class__middle(class);
	if (middle < l->min)
		return l->min;
	return middle < l->max ? middle : l->max;
}

int64_t lengths__key(const struct lengths *l, enum lengths_key key)
{
	switch (key) {
	case LENGTHS_COUNT:
		return (int64_t)l->count;
	case LENGTHS_P50:
		return lengths__share(l, 0.5);
	case LENGTHS_P90:
		return lengths__share(l, 0.9);
	case LENGTHS_P99:
		return lengths__share(l, 0.99);
	case LENGTHS_MAX:
		return l->max;
	default:
		return l->sum;
	}
}

/* The bucket of a length: 0, or 1 + the exponent of its power of two. */
static unsigned int bucket_of(int64_t ns)
{
	return ns > 0 ? 64 - (unsigned int)__builtin_clzll((uint64_t)ns) : 0;
}

size_t lengths__buckets(const struct lengths *l, struct lengths_bucket ret[LENGTH_BUCKETS])
{
	unsigned int first = bucket_of(l->min), last = bucket_of(l->max);

	if (!l->count)
		return 0;
	for (unsigned int i = first; i <= last; i++)
		ret[i - first] = (struct lengths_bucket){
			.from = i ? (int64_t)1 << (i - 1) : 0,
			.to = i < 63 ? (int64_t)1 << i : INT64_MAX,
		};
	/* No class extends over a power of two. */
	for (uint32_t class = 0; class < LENGTH_CLASSES; class ++)
		if (l->class[class])
			ret[bucket_of(length_class__middle(class)) - first].count +=
				l->class[class];
	return last - first + 1;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Candidate offsets: runs of switches that look alike in both recordings.
 *
 * Input: both arrays. Output: fit.c, which tries the offsets that most runs support. A run
 * consists of a few successive switches of one CPU. Its threads are weak evidence (two threads
 * that wake each other switch in the same way thousands of times), its gaps are strong evidence:
 * they agree to some microseconds only in recordings of the same moments, unless the program is
 * strictly periodic.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "align/fit_impl.h"
#include "lib/array.h"

#define RUN	       6 /* switches; fewer where that finds nothing */
#define RUN_MIN	       3
#define JITTER	       5000 /* ns: by which either timestamp may be late */
#define DRIFT_SHARE    2000 /* 500 ppm of a gap */
#define CANDIDATES_MAX (1u << 20)

static uint64_t key_of(const struct fit_switch *s)
{
	return (uint64_t)s->cpu << 44 | (uint64_t)(s->prev & 0x3fffff) << 22 | (s->next & 0x3fffff);
}

/* The largest PID of Linux has 22 bits. */
static int number_keys(struct fit_side *side, struct map *keys)
{
	uint64_t key;
	uintptr_t number;

	side->key = malloc(side->n * sizeof(*side->key) + 1);
	if (!side->key)
		return -ENOMEM;
	for (size_t i = 0; i < side->n; i++) {
		key = key_of(&side->at[i]);
		number = (uintptr_t)map__get(keys, key);
		if (!number) {
			number = keys->n + 1;
			if (map__put(keys, key, (void *)number))
				return -ENOMEM;
		}
		side->key[i] = (uint32_t)number - 1;
	}
	return 0;
}

/* Counting sort: the times of a key stay in order. */
static int sort_times(struct fit_side *side, size_t nkeys)
{
	size_t *first = calloc(nkeys + 2, sizeof(*first));

	side->times = malloc(side->n * sizeof(*side->times) + 1);
	side->first = first;
	if (!first || !side->times)
		return -ENOMEM;
	for (size_t i = 0; i < side->n; i++)
		first[side->key[i] + 2]++;
	for (size_t k = 2; k < nkeys + 2; k++)
		first[k] += first[k - 1];
	for (size_t i = 0; i < side->n; i++)
		side->times[first[side->key[i] + 1]++] = side->at[i].time;
	return 0;
}

int fit_sides__init(struct fit_sides *s, const struct fit_switch *ours, size_t nours,
		    const struct fit_switch *theirs, size_t ntheirs)
{
	int err;

	*s = (struct fit_sides){ .ours = { .at = ours, .n = nours },
				 .theirs = { .at = theirs, .n = ntheirs } };
	err = number_keys(&s->ours, &s->keys);
	err = err ?: number_keys(&s->theirs, &s->keys);
	err = err ?: sort_times(&s->ours, s->keys.n);
	err = err ?: sort_times(&s->theirs, s->keys.n);
	if (err)
		fit_sides__deinit(s);
	return err;
}

static void side__deinit(struct fit_side *side)
{
	free(side->key);
	free(side->times);
	free(side->first);
}

void fit_sides__deinit(struct fit_sides *s)
{
	side__deinit(&s->ours);
	side__deinit(&s->theirs);
	map__deinit(&s->keys);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

int fit_side__nearest(const struct fit_side *side, uint32_t key, uint64_t time, uint64_t slack,
		      uint64_t *ret)
{
	size_t low = side->first[key], high = side->first[key + 1], middle, begin = low, end = high;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (side->times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > begin &&
	    (low == end || time - side->times[low - 1] < distance(side->times[low], time)))
		low--;
	if (low == end || distance(side->times[low], time) > slack)
		return false;
	*ret = side->times[low];
	return true;
}

/* Switches of one side by CPU, and the runs among them. */
struct run {
	uint64_t hash;	 /* of its keys */
	uint64_t length; /* ns, from the first switch to the last */
	size_t at;	 /* of its first switch, in `order` */
};

struct runs {
	size_t *order; /* indices of switches */
	struct run *run;
	size_t n;
};

static int by_hash(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return 0;
}

static void runs__deinit(struct runs *r)
{
	free(r->order);
	free(r->run);
}

/* Indices by CPU; those of one CPU by time. */
static int order_by_cpu(const struct fit_side *side, size_t *order)
{
	size_t *first = calloc(UINT16_MAX + 2, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < side->n; i++)
		first[side->at[i].cpu + 1]++;
	for (size_t c = 1; c < UINT16_MAX + 2; c++)
		first[c] += first[c - 1];
	for (size_t i = 0; i < side->n; i++)
		order[first[side->at[i].cpu]++] = i;
	free(first);
	return 0;
}

static int runs__init(struct runs *r, const struct fit_side *side, size_t length)
{
	const struct fit_switch *from, *to;
	uint64_t hash;

	r->n = 0;
	r->order = malloc(side->n * sizeof(*r->order) + 1);
	r->run = malloc(side->n * sizeof(*r->run) + 1);
	if (!r->order || !r->run || order_by_cpu(side, r->order))
		return -ENOMEM;
	for (size_t i = 0; i + length <= side->n; i++) {
		from = &side->at[r->order[i]];
		to = &side->at[r->order[i + length - 1]];
		if (from->cpu != to->cpu)
			continue;
		hash = 0;
		for (size_t k = 0; k < length; k++)
			hash = (hash ^ side->key[r->order[i + k]]) * 0x9e3779b97f4a7c15u;
		r->run[r->n++] = (struct run){ hash, to->time - from->time, i };
	}
	array__sort(r->run, r->n, sizeof(*r->run), by_hash);
	return 0;
}

static uint64_t slack_of(uint64_t gap)
{
	return JITTER + gap / DRIFT_SHARE;
}

/* A run of ours, and the runs of theirs of about the same length. */
struct anchor {
	const struct run *run;
	size_t first, n;
};

static int by_number(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return x->n < y->n ? -1 : x->n > y->n;
}

/* The first of theirs that is not below (hash, length). */
static size_t lower_bound(const struct runs *theirs, uint64_t hash, uint64_t length)
{
	const struct run wanted = { .hash = hash, .length = length };
	size_t low = 0, high = theirs->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (by_hash(&theirs->run[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct anchor *find_anchors(const struct runs *ours, const struct runs *theirs,
				   size_t *ret_n)
{
	struct anchor *a = malloc(ours->n * sizeof(*a) + 1);
	uint64_t slack, length;
	size_t n = 0, end;

	if (!a)
		return NULL;
	for (size_t i = 0; i < ours->n; i++) {
		length = ours->run[i].length;
		slack = slack_of(length);
		a[n].run = &ours->run[i];
		a[n].first =
			lower_bound(theirs, ours->run[i].hash, length < slack ? 0 : length - slack);
		end = lower_bound(theirs, ours->run[i].hash, length + slack + 1);
		a[n].n = end - a[n].first;
		n += a[n].n > 0;
	}
	array__sort(a, n, sizeof(*a), by_number);
	*ret_n = n;
	return a;
}

static bool same_gaps(const struct fit_sides *s, const size_t *a, const size_t *b, size_t length)
{
	const struct fit_switch *x = s->ours.at, *y = s->theirs.at;
	uint64_t gap, other;

	for (size_t i = 1; i < length; i++) {
		gap = x[a[i]].time - x[a[i - 1]].time;
		other = y[b[i]].time - y[b[i - 1]].time;
		if (s->ours.key[a[i]] != s->theirs.key[b[i]] ||
		    distance(gap, other) > slack_of(gap))
			return false;
	}
	return s->ours.key[a[0]] == s->theirs.key[b[0]];
}

static int by_offset(const void *a, const void *b)
{
	const struct fit_candidate *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int find_runs(const struct fit_sides *s, size_t length, struct fit_candidate *ret,
		     size_t *ret_n)
{
	struct runs ours = {}, theirs = {};
	struct anchor *anchor = NULL;
	const size_t *a, *b;
	size_t nanchors = 0, tried = 0, n = 0;
	int err = runs__init(&ours, &s->ours, length);

	err = err ?: runs__init(&theirs, &s->theirs, length);
	if (!err) {
		anchor = find_anchors(&ours, &theirs, &nanchors);
		err = anchor ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < nanchors && tried < CANDIDATES_MAX; i++) {
		a = ours.order + anchor[i].run->at;
		for (size_t j = 0; j < anchor[i].n && tried < CANDIDATES_MAX; j++, tried++) {
			b = theirs.order + theirs.run[anchor[i].first + j].at;
			if (same_gaps(s, a, b, length))
				ret[n++] = (struct fit_candidate){
					(int64_t)(s->ours.at[*a].time - s->theirs.at[*b].time), *a
				};
		}
	}
	free(anchor);
	runs__deinit(&ours);
	runs__deinit(&theirs);
	*ret_n = n;
	return err;
}

int fit_runs__find(const struct fit_sides *s, struct fit_candidate **ret, size_t *ret_n)
{
	struct fit_candidate *found = malloc(CANDIDATES_MAX * sizeof(*found));
	size_t n = 0;
	int err = found ? 0 : -ENOMEM;

	for (size_t length = RUN; !err && length >= RUN_MIN && n < FIT_MATCHES_MIN; length--)
		err = find_runs(s, length, found, &n);
	if (err) {
		free(found);
		return err;
	}
	array__sort(found, n, sizeof(*found), by_offset);
	*ret = found;
	*ret_n = n;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of requests that have ended, by name and class of length, and the longest ones.
 *
 * requests.c hands each request over when it ends; `gotrace requests` reads the sums.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/requests_impl.h"

/* NULL: no memory. */
static struct request_name *get(struct requests *r, uint32_t name)
{
	if (!r->by_name[name]) {
		r->by_name[name] = calloc(1, sizeof(*r->by_name[name]));
		if (r->by_name[name])
			r->by_name[name]->name = name;
	}
	return r->by_name[name];
}

int requests__count_unfinished(struct requests *r, uint32_t name)
{
	struct request_name *n = get(r, name);

	if (n)
		n->unfinished++;
	return n ? 0 : -ENOMEM;
}

static int add_to_class(struct request_name *n, uint32_t class, int64_t ns,
			const struct request_single *single)
{
	struct request_sum **sum = &n->classes[class];

	if (!*sum) {
		*sum = calloc(1, sizeof(**sum));
		if (!*sum)
			return -ENOMEM;
		(*sum)->shortest = ns;
	}
	(*sum)->count++;
	(*sum)->before = time_add((*sum)->before, single->before);
	(*sum)->after = time_add((*sum)->after, single->after);
	(*sum)->from[single->source]++;
	if ((*sum)->shortest > ns)
		(*sum)->shortest = ns;
	return latency_stats__add(&(*sum)->time, &single->time) ?:
		       latency_stats__add(&(*sum)->path, &single->path);
}

static int64_t single__length(const struct request_single *single)
{
	return time_sub(single->end, single->begin);
}

static void single__deinit(struct request_single *single)
{
	latency_stats__deinit(&single->time);
	latency_stats__deinit(&single->path);
}

/* Takes over the times of `single`. Of equal ones the first stays in front. */
static void keep_if_long(struct requests *r, struct request_single *single)
{
	size_t i = r->nworst;

	while (i && single__length(&r->worst[i - 1]) < single__length(single)) {
		r->worst[i] = r->worst[i - 1];
		i--;
	}
	r->worst[i] = *single; /* there is room for one more than are kept */
	if (r->nworst < r->most_worst)
		r->nworst++;
	else
		single__deinit(&r->worst[r->nworst]);
}

void request_sum__deinit(struct request_sum *sum)
{
	latency_stats__deinit(&sum->time);
	latency_stats__deinit(&sum->path);
}

int requests__count(struct requests *r, struct request_single *single)
{
	struct request_name *n = get(r, single->name);
	int64_t ns = single__length(single);
	uint32_t class = r->endless ? 0 : length_class__of(ns);
	int err = n ? add_to_class(n, class, ns, single) : -ENOMEM;

	if (!err) {
		lengths__add(&n->lengths, ns);
		n->failed += single->failed;
	}
	keep_if_long(r, single);
	return err;
}

void requests__free_sums(struct requests *r)
{
	struct request_name *n;

	for (size_t i = 0; i < r->nworst; i++)
		single__deinit(&r->worst[i]);
	free(r->worst);
	for (uint32_t i = 0; i <= NAME_TABLE_MAX; i++) {
		n = r->by_name[i];
		for (uint32_t class = 0; n && class < LENGTH_CLASSES; class ++) {
			if (n->classes[class])
				request_sum__deinit(n->classes[class]);
			free(n->classes[class]);
		}
		free(n);
	}
}

/* Sums up at least `wanted` requests, the longest ones. */
static int sum_up(const struct request_name *n, uint64_t wanted, struct request_sum *ret)
{
	struct request_sum all = {};
	const struct request_sum *sum;
	int err = 0;

	for (uint32_t class = LENGTH_CLASSES; !err && class --&&all.count < wanted;) {
		sum = n->classes[class];
		if (!sum)
			continue;
		all.count += sum->count;
		all.before = time_add(all.before, sum->before);
		all.after = time_add(all.after, sum->after);
		for (unsigned int i = 0; i < REQUEST_SOURCES; i++)
			all.from[i] += sum->from[i];
		all.shortest = sum->shortest;
		err = latency_stats__add(&all.time, &sum->time) ?:
			      latency_stats__add(&all.path, &sum->path);
	}
	if (err)
		request_sum__deinit(&all);
	else
		*ret = all;
	return err;
}

int request_name__sum(const struct request_name *n, struct request_sum *ret)
{
	return sum_up(n, n->lengths.count, ret);
}

int request_name__slowest(const struct request_name *n, struct request_sum *ret)
{
	return sum_up(n, (uint64_t)ceil(REQUEST_SLOWEST * (double)n->lengths.count), ret);
}

static int64_t request_name__key(const struct request_name *n, unsigned int key)
{
	return key == REQUESTS_ERRORS ? (int64_t)n->failed :
					lengths__key(&n->lengths, (enum lengths_key)key);
}

const struct request_name **requests__sorted(const struct requests *r, unsigned int key,
					     size_t *ret_n)
{
	const struct request_name **list = malloc((NAME_TABLE_MAX + 1) * sizeof(*list));
	struct name_rank ranks[NAME_TABLE_MAX + 1];
	size_t n = 0;

	if (!list)
		return NULL;
	for (uint32_t i = 0; i <= NAME_TABLE_MAX; i++)
		if (r->by_name[i])
			ranks[n++] = (struct name_rank){ request_name__key(r->by_name[i], key), i };
	name_ranks__sort(ranks, n);
	for (size_t i = 0; i < n; i++)
		list[i] = r->by_name[ranks[i].name];
	*ret_n = n;
	return list;
}

const struct request_name *requests__at(const struct requests *r, uint32_t i)
{
	return i < REQUEST_NAMES ? r->by_name[i] : NULL;
}

const struct request_single *requests__worst(const struct requests *r, size_t *ret_n)
{
	*ret_n = r->nworst;
	return r->worst;
}

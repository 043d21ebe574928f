// SPDX-License-Identifier: GPL-2.0
/*
 * Durations by kind: see durations.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/durations.h"

void durations__deinit(struct durations *a)
{
	free(a->at);
	*a = (struct durations){};
}

struct duration *durations__find(const struct durations *a, uint32_t kind)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->at[i].kind == kind)
			return &a->at[i];
	return NULL;
}

int durations__add(struct durations *a, uint32_t kind, int64_t ns)
{
	struct duration *duration = durations__find(a, kind);
	uint32_t cap;

	if (duration) {
		duration->ns = time_add(duration->ns, ns);
		return 0;
	}
	if (a->n == a->cap) {
		cap = a->cap ? a->cap * 2 : 2;
		duration = reallocarray(a->at, cap, sizeof(*a->at));
		if (!duration)
			return -ENOMEM;
		a->at = duration;
		a->cap = cap;
	}
	a->at[a->n++] = (struct duration){ .ns = ns, .kind = kind };
	return 0;
}

void durations__remove(struct durations *a, struct duration *which)
{
	*which = a->at[--a->n];
}

int durations__copy(struct durations *to, const struct durations *from)
{
	*to = (struct durations){};
	if (!from->n)
		return 0;
	to->at = malloc(from->n * sizeof(*to->at));
	if (!to->at)
		return -ENOMEM;
	memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = to->cap = from->n;
	return 0;
}

void durations__subtract(struct durations *a, const struct durations *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		a->at[i].ns = time_sub(a->at[i].ns, from->at[i].ns);
}

void durations__drop_empty(struct durations *a)
{
	for (uint32_t i = a->n; i--;)
		if (!a->at[i].ns)
			durations__remove(a, &a->at[i]);
}

int durations__add_all(struct durations *sum, const struct durations *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->n && !err; i++)
		err = durations__add(sum, more->at[i].kind, more->at[i].ns);
	return err;
}

void pack__durations(struct outbuf *p, const struct durations *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		n += a->at[i].ns != 0;
	leb__append(p, n);
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->at[i].ns)
			continue;
		leb__append(p, a->at[i].kind);
		leb__append(p, (uint64_t)a->at[i].ns);
	}
}

int unpack__durations(struct buf *b, struct durations *ret)
{
	uint32_t n = (uint32_t)buf__uleb(b);

	*ret = (struct durations){};
	if (!n)
		return 0;
	ret->at = malloc(n * sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (ret->cap = n; ret->n < n; ret->n++) {
		ret->at[ret->n].kind = (uint32_t)buf__uleb(b);
		ret->at[ret->n].ns = (int64_t)buf__uleb(b);
	}
	return 0;
}

void pack__times(struct outbuf *p, const int64_t *times, size_t n)
{
	for (size_t i = 0; i < n; i++)
		leb__append(p, (uint64_t)times[i]);
}

void unpack__times(struct buf *b, int64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = (int64_t)buf__uleb(b);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Times by kind: see amounts.h. Between the folds over goroutines' time and those who print it.
 */
#include "trace/amounts.h"

void amounts__deinit(struct amounts *a)
{
	free(a->at);
	*a = (struct amounts){};
}

struct amount *amounts__find(const struct amounts *a, uint32_t kind)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->at[i].kind == kind)
			return &a->at[i];
	return NULL;
}

int amounts__add(struct amounts *a, uint32_t kind, int64_t ns)
{
	struct amount *amount = amounts__find(a, kind);
	uint32_t cap;

	if (amount) {
		amount->ns = time_add(amount->ns, ns);
		return 0;
	}
	if (a->n == a->cap) {
		cap = a->cap ? a->cap * 2 : 2;
		amount = reallocarray(a->at, cap, sizeof(*a->at));
		if (!amount)
			return -ENOMEM;
		a->at = amount;
		a->cap = cap;
	}
	a->at[a->n++] = (struct amount){ .ns = ns, .kind = kind };
	return 0;
}

void amounts__remove(struct amounts *a, struct amount *which)
{
	*which = a->at[--a->n];
}

int amounts__copy(struct amounts *to, const struct amounts *from)
{
	*to = (struct amounts){};
	if (!from->n)
		return 0;
	to->at = malloc(from->n * sizeof(*to->at));
	if (!to->at)
		return -ENOMEM;
	memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = to->cap = from->n;
	return 0;
}

void amounts__subtract(struct amounts *a, const struct amounts *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		a->at[i].ns = time_sub(a->at[i].ns, from->at[i].ns);
}

int amounts__add_all(struct amounts *sum, const struct amounts *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->n && !err; i++)
		err = amounts__add(sum, more->at[i].kind, more->at[i].ns);
	return err;
}

void pack__amounts(struct pack *p, const struct amounts *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		n += a->at[i].ns != 0;
	pack__number(p, n);
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->at[i].ns)
			continue;
		pack__number(p, a->at[i].kind);
		pack__number(p, (uint64_t)a->at[i].ns);
	}
}

int unpack__amounts(struct buf *b, struct amounts *ret)
{
	uint32_t n = (uint32_t)buf__uleb(b);

	*ret = (struct amounts){};
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

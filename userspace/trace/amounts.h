/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times by kind: what a fold adds up for a goroutine. A goroutine meets a handful of kinds, so they
 * are searched from the first to the last.
 *
 * Between trace/naming.h, whose kinds they are, and trace/summary.c and trace/latency.c, which add.
 */
#ifndef TRACE_AMOUNTS_H
#define TRACE_AMOUNTS_H

#include <stdint.h>

#include "lib/buf.h"
#include "trace/pack.h"

struct amount {
	int64_t ns;
	uint32_t kind; /* why it was blocked, or which range */
} __attribute__((packed, aligned(4)));

struct amounts { /* a kind stands in it once, in the order in which they came up */
	struct amount *at;
	uint32_t n, cap;
};

/* Sums and differences wrap, as Go's do: times of a hostile trace may be anything. */
static inline int64_t time_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t time_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

void amounts__deinit(struct amounts *a);
struct amount *amounts__find(const struct amounts *a, uint32_t kind); /* NULL: it has none */
int amounts__add(struct amounts *a, uint32_t kind, int64_t ns);	      /* 0 or -ENOMEM */
void amounts__remove(struct amounts *a, struct amount *which);
int amounts__copy(struct amounts *to, const struct amounts *from); /* 0 or -ENOMEM */
/* `from` is an earlier state of what `a` is now: its kinds are the first ones of it. */
void amounts__subtract(struct amounts *a, const struct amounts *from);
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int amounts__add_all(struct amounts *sum, const struct amounts *more);

/* Amounts of 0 are left out. There is room: amounts__room(). */
void pack__amounts(struct pack *p, const struct amounts *a);
static inline size_t amounts__room(const struct amounts *a)
{
	return (1 + 2 * (size_t)a->n) * LEB_MAX;
}
int unpack__amounts(struct buf *b, struct amounts *ret); /* 0 or -ENOMEM */

#endif

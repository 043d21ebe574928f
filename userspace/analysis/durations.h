/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Durations by kind: the times of a goroutine that the summary and the latency analysis add up. A
 * goroutine has a handful of kinds, so they are searched from the first to the last.
 *
 * Kinds are those of analysis/naming.h. Used by analysis/summary*.c and analysis/latency*.c.
 */
#ifndef TRACE_DURATIONS_H
#define TRACE_DURATIONS_H

#include <stdint.h>

#include "format/encode.h"
#include "lib/buf.h"

struct duration {
	int64_t ns;
	uint32_t kind; /* why it was blocked, or which range */
} __attribute__((packed, aligned(4)));

/* At most one element per kind, in the order in which the kinds first occurred. */
struct durations {
	struct duration *at;
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

/* Times that are not by kind stand in a row, so that they are added and packed in a loop. */
static inline void times__add(int64_t *sum, const int64_t *more, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] = time_add(sum[i], more[i]);
}

void durations__deinit(struct durations *a);
struct duration *durations__find(const struct durations *a, uint32_t kind); /* NULL: it has none */
int durations__add(struct durations *a, uint32_t kind, int64_t ns);	    /* 0 or -ENOMEM */
void durations__remove(struct durations *a, struct duration *which);
int durations__copy(struct durations *to, const struct durations *from); /* 0 or -ENOMEM */
/* `from` is an earlier state of what `a` is now: its kinds are the first ones of it. */
void durations__subtract(struct durations *a, const struct durations *from);
void durations__drop_empty(struct durations *a); /* those of 0; changes the order */
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int durations__add_all(struct durations *sum, const struct durations *more);

/* Those of 0 are left out. There is room: durations__room(). */
void pack__durations(struct outbuf *p, const struct durations *a);
static inline size_t durations__room(const struct durations *a)
{
	return (1 + 2 * (size_t)a->n) * LEB_MAX;
}
int unpack__durations(struct buf *b, struct durations *ret);	    /* 0 or -ENOMEM */
void pack__times(struct outbuf *p, const int64_t *times, size_t n); /* there is room */
void unpack__times(struct buf *b, int64_t *ret, size_t n);

#endif

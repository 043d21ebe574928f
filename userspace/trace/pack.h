/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Figures as LEB numbers, one behind the other: 40 bytes where a struct has 150.
 *
 * Used by the folds over goroutines' time, for who has ended: trace/summary_pack.c,
 * trace/latency_stats.c. Read back by lib/buf.h.
 */
#ifndef TRACE_PACK_H
#define TRACE_PACK_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "trace/encode.h"

struct pack {
	uint8_t *data;
	size_t len, cap;
};

static inline void pack__deinit(struct pack *p)
{
	free(p->data);
	*p = (struct pack){};
}

/* Room for `len` bytes more. 0 or -ENOMEM. */
static inline int pack__room(struct pack *p, size_t len)
{
	size_t cap = p->cap ? p->cap : 64;
	uint8_t *data;

	while (cap - p->len < len)
		cap *= 2;
	if (cap == p->cap)
		return 0;
	data = realloc(p->data, cap);
	if (!data)
		return -ENOMEM;
	p->data = data;
	p->cap = cap;
	return 0;
}

/* There is room (LEB_MAX). Times that are less than 0 are rare and may be long. */
static inline void pack__number(struct pack *p, uint64_t v)
{
	p->len = (size_t)(leb__put(p->data + p->len, v) - p->data);
}

#endif

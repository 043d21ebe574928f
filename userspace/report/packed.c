// SPDX-License-Identifier: GPL-2.0
/*
 * Encoded spans: see packed.h. A span is LEB128 numbers: time after the end of the span before it,
 * length, twice the state (plus 1 if it is aggregated), detail; of an aggregated one, also the
 * number of spans that it stands for, a bit for each slot with a time, and these times.
 */
#include "report/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "lib/array.h"

#define SPAN_BYTES ((6 + SPAN_SLOTS) * LEB_MAX) /* at most */

void packed__deinit(struct packed *p)
{
	outbuf__deinit(&p->bytes);
	free(p->block);
	spans__deinit(&p->tail);
	*p = (struct packed){};
}

/* ---- writing ---- */

static void put_sum(struct outbuf *o, const struct span_sum *sum)
{
	uint64_t slots = 0;

	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		slots |= (uint64_t)!!sum->time[i] << i;
	leb__append(o, sum->count);
	leb__append(o, slots);
	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		if (sum->time[i])
			leb__append(o, sum->time[i]);
}

static void put_span(struct outbuf *o, const struct spans *s, const struct span *span, uint64_t end)
{
	leb__append(o, span->start - end);
	leb__append(o, span->len);
	leb__append(o, span->state * 2u + !!span->sum);
	leb__append(o, span->detail);
	if (span->sum)
		put_sum(o, &s->sums[span->sum - 1]);
}

/* Keeps only the last span of the tail. */
static void keep_last(struct spans *s)
{
	struct span last = s->at[s->n - 1];

	if (last.sum)
		s->sums[0] = s->sums[last.sum - 1];
	s->nsums = last.sum = !!last.sum;
	s->at[0] = last;
	s->n = 1;
}

/* Encodes all spans of the tail but the last one. 0 or -ENOMEM. */
static int put_block(struct packed *p)
{
	uint64_t end = p->blocks ? p->block[p->blocks - 1].last : 0;
	struct packed_block block = { .end = end, .offset = p->bytes.len };

	if (outbuf__room(&p->bytes, PACKED_BLOCK * SPAN_BYTES, NULL) ||
	    array__grow(&p->block, p->blocks, &p->cap, sizeof(*p->block)))
		return -ENOMEM;
	for (size_t i = 0; i < PACKED_BLOCK; i++) {
		const struct span *span = &p->tail.at[i];

		put_span(&p->bytes, &p->tail, span, end);
		end = span->start + span->len;
	}
	block.last = end;
	p->block[p->blocks++] = block;
	keep_last(&p->tail);
	return 0;
}

int packed__add(struct packed *p, const struct span *span, const struct span_sum *sum,
		uint64_t threshold)
{
	if (spans__add_sum(&p->tail, span, sum, threshold))
		return -ENOMEM;
	return p->tail.n > PACKED_BLOCK ? put_block(p) : 0;
}

int packed__merge(struct packed *to, const struct packed *from, uint64_t threshold)
{
	struct packed_cursor c = packed__seek(from, 0);
	struct span_sum sum;
	struct span span;
	int err = 0;

	while (!err && packed__next(&c, &span, &sum))
		err = packed__add(to, &span, &sum, threshold);
	return err;
}

void packed__trim(struct packed *p)
{
	char *data = p->bytes.len ? realloc(p->bytes.data, p->bytes.len) : NULL;
	struct packed_block *block =
		p->blocks ? realloc(p->block, p->blocks * sizeof(*block)) : NULL;

	if (data) {
		p->bytes.data = data;
		p->bytes.cap = p->bytes.len;
	}
	if (block) {
		p->block = block;
		p->cap = p->blocks;
	}
}

size_t packed__bytes(const struct packed *p)
{
	return p->bytes.cap + p->cap * sizeof(*p->block) + p->tail.cap * sizeof(*p->tail.at) +
	       p->tail.cap_sums * sizeof(*p->tail.sums);
}

/* ---- reading ---- */

/* The first block that ends after a time; the number of blocks: none does. */
static size_t find_block(const struct packed *p, uint64_t time)
{
	size_t low = 0, high = p->blocks, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (p->block[middle].last > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

size_t packed__count(const struct packed *p, uint64_t from, uint64_t to)
{
	size_t first = find_block(p, from), end = find_block(p, to);

	end += end < p->blocks;
	return (end - first) * PACKED_BLOCK + p->tail.n;
}

struct packed_cursor packed__seek(const struct packed *p, uint64_t time)
{
	return (struct packed_cursor){ .packed = p, .block = find_block(p, time) };
}

static void open_block(struct packed_cursor *c)
{
	const struct packed_block *block = &c->packed->block[c->block++];
	const struct outbuf *bytes = &c->packed->bytes;

	c->bytes = buf__make(bytes->data + block->offset, bytes->len - block->offset);
	c->left = PACKED_BLOCK;
	c->end = block->end;
}

static void read_sum(struct buf *b, struct span_sum *ret)
{
	uint64_t slots;

	ret->count = buf__uleb(b);
	slots = buf__uleb(b);
	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		ret->time[i] = slots >> i & 1 ? buf__uleb(b) : 0;
}

static bool next_of_tail(struct packed_cursor *c, struct span *ret, struct span_sum *ret_sum)
{
	const struct spans *tail = &c->packed->tail;

	if (c->tail == tail->n)
		return false;
	*ret = tail->at[c->tail++];
	if (ret->sum)
		*ret_sum = tail->sums[ret->sum - 1];
	ret->sum = !!ret->sum;
	return true;
}

bool packed__next(struct packed_cursor *c, struct span *ret, struct span_sum *ret_sum)
{
	uint64_t state;

	if (!c->left && c->block < c->packed->blocks)
		open_block(c);
	if (!c->left)
		return next_of_tail(c, ret, ret_sum);
	c->left--;
	ret->start = c->end + buf__uleb(&c->bytes);
	ret->len = buf__uleb(&c->bytes);
	state = buf__uleb(&c->bytes);
	ret->state = (uint8_t)(state / 2);
	ret->sum = state & 1;
	ret->detail = buf__uleb(&c->bytes);
	if (ret->sum)
		read_sum(&c->bytes, ret_sum);
	c->end = ret->start + ret->len;
	return true;
}

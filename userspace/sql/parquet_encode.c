// SPDX-License-Identifier: GPL-2.0
/*
 * Encodings of Parquet: see parquet_encode.h.
 */
#include "sql/parquet_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "sql/rows.h"

#define GROUP	   8   /* values: packed ones are a multiple of it */
#define BLOCK	   128 /* deltas with a common minimum */
#define PACKED	   32  /* deltas with a common width */
#define SLOTS	   (2 * CHUNK_ROWS)
#define RECENT	   64 /* texts, found by their 16 bytes instead of their content */
#define VARINT_MAX 10 /* bytes */

_Static_assert(ROWS_FULL <= CHUNK_ROWS, "all rows are one chunk");

static char *put_varint(char *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (char)(v | 0x80);
	*to++ = (char)v;
	return to;
}

static char *put_zigzag(char *to, int64_t v)
{
	return put_varint(to, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* ---- runs ---- */

static size_t run_length(const uint32_t *v, size_t n)
{
	size_t ret = 1;

	while (ret < n && v[ret] == v[0])
		ret++;
	return ret;
}

static char *put_packed(char *to, const uint32_t *v, size_t n, unsigned int width)
{
	unsigned int have = 0;
	uint64_t bits = 0;

	if (!n)
		return to;
	to = put_varint(to, (n + GROUP - 1) / GROUP << 1 | 1);
	for (size_t i = 0; i < n || i % GROUP; i++) {
		bits |= (uint64_t)(i < n ? v[i] : 0) << have;
		for (have += width; have >= 8; have -= 8, bits >>= 8)
			*to++ = (char)bits;
	}
	return to;
}

static char *put_run(char *to, uint32_t v, size_t n, unsigned int width)
{
	to = put_varint(to, n << 1);
	for (unsigned int i = 0; i < width; i += 8)
		*to++ = (char)(v >> i);
	return to;
}

/* Eight equal values begin a run; others are packed by eight. */
int encode__runs(struct outbuf *o, const uint32_t *v, size_t n, unsigned int width,
		 struct error *error)
{
	/* per eight values, their bits, or a run, and the header of packed ones before */
	size_t room = (n / GROUP + 1) * (width + 2 * VARINT_MAX + sizeof(*v)), from = 0, run;
	int err = outbuf__room(o, room, error);
	char *to;

	if (err)
		return err;
	to = o->data + o->len;
	for (size_t i = 0; i < n;) {
		run = run_length(v + i, n - i);
		if (run < GROUP) {
			i += GROUP;
			continue;
		}
		to = put_packed(to, v + from, i - from, width);
		to = put_run(to, v[i], run, width);
		from = i += run;
	}
	to = put_packed(to, v + from, n - from, width);
	o->len = (size_t)(to - o->data);
	return 0;
}

/* ---- deltas ---- */

static unsigned int bits_of(const uint64_t *v)
{
	uint64_t all = 0;

	for (size_t i = 0; i < PACKED; i++)
		all |= v[i];
	return all ? 64 - (unsigned int)__builtin_clzll(all) : 0;
}

static char *put_bits(char *to, const uint64_t *v, unsigned int width)
{
	unsigned __int128 bits = 0;
	unsigned int have = 0;

	for (size_t i = 0; i < PACKED; i++) {
		bits |= (unsigned __int128)v[i] << have;
		have += width;
		if (have >= 64) {
			memcpy(to, &bits, 8); /* little-endian, as x86 and arm64 are */
			to += 8;
			bits >>= 64;
			have -= 64;
		}
	}
	memcpy(to, &bits, have / 8);
	return to + have / 8;
}

/* Deltas of one block; what follows the last one of them is 0. */
static char *put_block(char *to, const int64_t *v, size_t n)
{
	unsigned char width[BLOCK / PACKED] = {};
	uint64_t delta[BLOCK] = {};
	int64_t min = INT64_MAX;
	char *widths;

	for (size_t i = 0; i < n; i++) {
		delta[i] = (uint64_t)v[i + 1] - (uint64_t)v[i];
		min = (int64_t)delta[i] < min ? (int64_t)delta[i] : min;
	}
	for (size_t i = 0; i < n; i++)
		delta[i] -= (uint64_t)min;
	to = put_zigzag(to, min);
	widths = to;
	to += sizeof(width);
	for (size_t i = 0; i * PACKED < n; i++) {
		width[i] = (unsigned char)bits_of(delta + i * PACKED);
		to = put_bits(to, delta + i * PACKED, width[i]);
	}
	memcpy(widths, width, sizeof(width));
	return to;
}

int encode__deltas(struct outbuf *o, const int64_t *v, size_t n, struct error *error)
{
	size_t room = (n / BLOCK + 2) * (BLOCK * sizeof(*v) + 2 * VARINT_MAX), block;
	int err = outbuf__room(o, room, error);
	char *to;

	if (err)
		return err;
	to = put_varint(o->data + o->len, BLOCK);
	to = put_varint(to, BLOCK / PACKED);
	to = put_varint(to, n);
	to = put_zigzag(to, n ? v[0] : 0);
	for (size_t i = 0; i + 1 < n; i += block) {
		block = n - 1 - i < BLOCK ? n - 1 - i : BLOCK;
		to = put_block(to, v + i, block);
	}
	o->len = (size_t)(to - o->data);
	return 0;
}

/* ---- distinct values ---- */

int distinct__init(struct distinct *d)
{
	d->n = 0;
	d->slot = calloc(SLOTS, sizeof(*d->slot));
	d->used = malloc(CHUNK_ROWS * sizeof(*d->used));
	d->value = malloc(CHUNK_ROWS * sizeof(*d->value));
	return d->slot && d->used && d->value ? 0 : -ENOMEM;
}

void distinct__deinit(struct distinct *d)
{
	free(d->slot);
	free(d->used);
	free(d->value);
	*d = (struct distinct){};
}

static void clear(struct distinct *d)
{
	for (size_t i = 0; i < d->n; i++)
		d->slot[d->used[i]] = 0;
	d->n = 0;
}

static uint32_t add(struct distinct *d, size_t slot, union distinct_value value)
{
	d->value[d->n] = value;
	d->used[d->n] = (uint32_t)slot;
	d->slot[slot] = (uint32_t)++d->n;
	return d->slot[slot] - 1;
}

bool distinct__numbers(struct distinct *d, const int64_t *v, size_t n, size_t max, uint32_t *index)
{
	size_t slot;

	clear(d);
	for (size_t i = 0; i < n; i++) {
		slot = hash__word((uint64_t)v[i]) % SLOTS;
		while (d->slot[slot] && d->value[d->slot[slot] - 1].number != v[i])
			slot = (slot + 1) % SLOTS;
		if (!d->slot[slot] && d->n == max)
			return false;
		index[i] = d->slot[slot] ? d->slot[slot] - 1 :
					   add(d, slot, (union distinct_value){ .number = v[i] });
	}
	return true;
}

static uint32_t number_of(struct distinct *d, const struct duckdb_text *text)
{
	size_t slot = hash__bytes(text__data(text), text->length) % SLOTS;
	const struct duckdb_text *other;

	for (; d->slot[slot]; slot = (slot + 1) % SLOTS) {
		other = &d->value[d->slot[slot] - 1].text;
		if (other->length == text->length &&
		    !memcmp(text__data(other), text__data(text), text->length))
			return d->slot[slot] - 1;
	}
	return add(d, slot, (union distinct_value){ .text = *text });
}

/* Few texts are new: most are, with their 16 bytes, one of the recent ones. */
size_t distinct__texts(struct distinct *d, const struct duckdb_text *v, size_t n, uint32_t *index)
{
	struct {
		uint64_t words[2];
		uint32_t number;
	} recent[RECENT] = {}, *at;
	uint64_t words[2];
	size_t ret = 0;

	clear(d);
	for (size_t i = 0; i < n; i++) {
		if (v[i].length == TEXT_NULL)
			continue;
		memcpy(words, &v[i], sizeof(words));
		at = &recent[hash__fold(words[0] ^ words[1] << 7, 0x9e3779b97f4a7c15u) % RECENT];
		/* an empty text, all of zeros, is not found in an entry of zeros */
		if (!v[i].length || at->words[0] != words[0] || at->words[1] != words[1]) {
			memcpy(at->words, words, sizeof(words));
			at->number = number_of(d, &v[i]);
		}
		index[ret++] = at->number;
	}
	return ret;
}

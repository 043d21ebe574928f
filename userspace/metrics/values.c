// SPDX-License-Identifier: GPL-2.0
/*
 * Values by row and label, and their form as bytes: see metrics/values.h.
 *
 * A snapshot consists of SNAPSHOT_MAGIC and series. Each of them is LEB128 numbers: its row, the
 * length of its label, the label, and the value; or for a histogram the sum and its buckets.
 */
#include "metrics/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lengths.h"
#include "format/encode.h"
#include "lib/array.h"
#include "metrics/metrics.h"

#define SNAPSHOT_MAGIC 0x314d5447u /* "GTM1" */
#define SERIES_ROOM    (METRICS_LABEL_MAX + (HISTOGRAM_BUCKETS + 3) * LEB_MAX)

static const struct trace_string other = { "other", 5 };

/* ---- histograms ---- */

static size_t bucket_of(uint64_t ns)
{
	unsigned int bits = ns ? 64 - (unsigned int)__builtin_clzll(ns) : 0;

	if (bits <= HISTOGRAM_FIRST)
		return 0;
	bits -= HISTOGRAM_FIRST;
	return bits < HISTOGRAM_BUCKETS ? bits : HISTOGRAM_BUCKETS - 1;
}

void histogram__add(struct histogram *h, int64_t ns)
{
	uint64_t length = ns < 0 ? 0 : (uint64_t)ns;

	h->bucket[bucket_of(length)]++;
	h->sum += length;
}

uint64_t histogram__count(const struct histogram *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += h->bucket[i];
	return n;
}

void histogram__add_all(struct histogram *h, const struct histogram *more)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += more->bucket[i];
	h->sum += more->sum;
}

void histogram__add_lengths(struct histogram *h, const struct lengths *more)
{
	struct lengths_bucket bucket[LENGTH_BUCKETS];
	size_t n = lengths__buckets(more, bucket);

	for (size_t i = 0; i < n; i++)
		h->bucket[bucket_of((uint64_t)bucket[i].from)] += bucket[i].count;
	h->sum += (uint64_t)more->sum;
}

/* ---- series ---- */

void metric_values__deinit(struct metric_values *v)
{
	for (size_t row = 0; row < METRICS_ROWS; row++)
		free(v->row[row].at);
	*v = (struct metric_values){};
}

int metric_values__copy(struct metric_values *ret, const struct metric_values *from)
{
	const struct row_values *r;

	*ret = (struct metric_values){};
	for (size_t row = 0; row < METRICS_ROWS; row++) {
		r = &from->row[row];
		if (!r->n)
			continue;
		ret->row[row].at = malloc(r->n * sizeof(*r->at));
		if (!ret->row[row].at) {
			metric_values__deinit(ret);
			return -ENOMEM;
		}
		memcpy(ret->row[row].at, r->at, r->n * sizeof(*r->at));
		ret->row[row].n = ret->row[row].cap = r->n;
	}
	return 0;
}

/* Makes a name valid UTF-8 that fits, without control characters. Returns its length. */
static size_t make_label(struct trace_string name, char to[METRICS_LABEL_MAX])
{
	const unsigned char *from = (const unsigned char *)name.data;
	unsigned char bytes[UTF8_MAX];
	size_t n = 0, len, at = 0;
	uint32_t c;

	while (at < name.len) {
		at += utf8__decode(from + at, name.len - at, &c);
		len = utf8__encode(label__char(c), bytes);
		if (n + len > METRICS_LABEL_MAX)
			break;
		memcpy(to + n, bytes, len);
		n += len;
	}
	return n;
}

static struct series *find(const struct row_values *r, const char *label, size_t len)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].len == len && !memcmp(r->at[i].label, label, len))
			return &r->at[i];
	return NULL;
}

struct series *metric_values__series(struct metric_values *v, enum metrics_row row,
				     struct trace_string name)
{
	struct row_values *r = &v->row[row];
	char label[METRICS_LABEL_MAX];
	size_t len = make_label(name, label);
	struct series *s = find(r, label, len);

	if (s)
		return s;
	if (r->n >= METRICS_NAMES && (len != other.len || memcmp(label, other.data, len)))
		return metric_values__series(v, row, other);
	if (array__grow(&r->at, r->n, &r->cap, sizeof(*r->at)))
		return NULL;
	s = &r->at[r->n++];
	*s = (struct series){ .len = (uint16_t)len };
	memcpy(s->label, label, len);
	return s;
}

int metric_values__add(struct metric_values *v, enum metrics_row row, struct trace_string name,
		       uint64_t value)
{
	struct series *s = metric_values__series(v, row, name);

	if (!s)
		return -ENOMEM;
	s->value += value;
	return 0;
}

int metric_values__set(struct metric_values *v, enum metrics_row row, uint64_t value)
{
	struct series *s = metric_values__series(v, row, (struct trace_string){});

	if (!s)
		return -ENOMEM;
	s->value = value;
	return 0;
}

int metric_values__reserve(struct metric_values *v, const struct metric_values *from)
{
	const struct row_values *r;

	for (unsigned int row = 0; row < METRICS_ROWS; row++) {
		r = &from->row[row];
		for (size_t i = v->row[row].n; i < r->n; i++)
			if (!metric_values__series(
				    v, (enum metrics_row)row,
				    (struct trace_string){ r->at[i].label, r->at[i].len }))
				return -ENOMEM;
	}
	return 0;
}

/* ---- snapshots ---- */

static int pack_series(struct outbuf *o, unsigned int row, const struct series *s)
{
	if (outbuf__room(o, SERIES_ROOM, NULL))
		return -ENOMEM;
	leb__append(o, row);
	leb__append(o, s->len);
	memcpy(o->data + o->len, s->label, s->len);
	o->len += s->len;
	if (metrics_rows[row].type != METRIC_HISTOGRAM) {
		leb__append(o, s->value);
		return 0;
	}
	leb__append(o, s->histogram.sum);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		leb__append(o, s->histogram.bucket[i]);
	return 0;
}

/* The greatest size: rows with labels have METRICS_NAMES + 1 series, histograms or numbers. */
#define LABELED_HISTOGRAMS 2
#define LABELED_NUMBERS	   12
_Static_assert((METRICS_NAMES + 1) * (LABELED_HISTOGRAMS * SERIES_ROOM +
				      LABELED_NUMBERS * (METRICS_LABEL_MAX + 3 * LEB_MAX)) +
		       METRICS_ROWS * SERIES_ROOM + LEB_MAX <=
	       METRICS_SNAPSHOT_MAX);

int metric_values__pack(const struct metric_values *v, struct outbuf *ret)
{
	const struct row_values *r;
	int err = outbuf__room(ret, LEB_MAX, NULL);

	if (err)
		return -ENOMEM;
	leb__append(ret, SNAPSHOT_MAGIC);
	for (unsigned int row = 0; row < METRICS_ROWS; row++) {
		r = &v->row[row];
		for (size_t i = 0; !err && i < r->n; i++)
			err = pack_series(ret, row, &r->at[i]);
	}
	return err;
}

static void unpack_histogram(struct buf *b, struct histogram *to)
{
	struct histogram h;

	h.sum = buf__uleb(b);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		h.bucket[i] = buf__uleb(b);
	histogram__add_all(to, &h);
}

/* Series whose labels are equal once they are valid UTF-8 are added up. */
static int unpack_series(struct metric_values *v, struct buf *b)
{
	uint64_t row = buf__uleb(b), len = buf__uleb(b);
	struct trace_string name = { .len = (uint32_t)len };
	const struct metrics_info *info;
	struct series *s;

	name.data = len <= METRICS_LABEL_MAX ? buf__take(b, (size_t)len) : NULL;
	if (!name.data || row >= METRICS_ROWS)
		return -EBADMSG;
	info = &metrics_rows[row];
	if (!info->label && (len || v->row[row].n))
		return -EBADMSG;
	s = metric_values__series(v, (enum metrics_row)row, name);
	if (!s)
		return -ENOMEM;
	if (info->type == METRIC_HISTOGRAM)
		unpack_histogram(b, &s->histogram);
	else
		s->value += buf__uleb(b);
	return b->bad ? -EBADMSG : 0;
}

int metric_values__unpack(struct metric_values *ret, const void *data, size_t size)
{
	struct buf b = buf__make(data, size);
	int err;

	*ret = (struct metric_values){};
	if (size > METRICS_SNAPSHOT_MAX || buf__uleb(&b) != SNAPSHOT_MAGIC || b.bad)
		return -EBADMSG;
	while (buf__left(&b)) {
		err = unpack_series(ret, &b);
		if (err)
			return err;
	}
	return 0;
}

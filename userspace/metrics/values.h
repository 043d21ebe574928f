/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of the metrics of one target, by row (metrics/rows.h) and label.
 *
 * Upstream: metrics/collect.c in the recorder, and in the supervisor the bytes of a snapshot, which
 * are untrusted. Downstream: metrics/print.c. Labels are names that the target chooses: a row has at
 * most METRICS_NAMES of them, the first ones; all others count as "other".
 */
#ifndef METRICS_VALUES_H
#define METRICS_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "lib/buf.h"
#include "lib/outbuf.h"
#include "lib/unicode.h"
#include "metrics/rows.h"

struct lengths;

#define METRICS_NAMES	  64u
#define METRICS_LABEL_MAX 200u /* bytes; longer names are truncated */

/*
 * Bucket i has the durations of up to 2^(HISTOGRAM_FIRST + i) - 1 ns, about 1 us to 17 s, that are
 * longer than those of the one before; the last one has all others. The bounds are those of
 * lengths__buckets(), that is, of `gotrace histogram`.
 */
#define HISTOGRAM_FIRST	  10u
#define HISTOGRAM_BUCKETS 26u

struct histogram {
	uint64_t bucket[HISTOGRAM_BUCKETS];
	uint64_t sum; /* ns */
};

void histogram__add(struct histogram *h, int64_t ns); /* below 0 as 0 */
uint64_t histogram__count(const struct histogram *h);
void histogram__add_all(struct histogram *h, const struct histogram *more);
void histogram__add_lengths(struct histogram *h, const struct lengths *more);

/* Readers of the text end at a NUL, and other control characters are as useless in a label. */
static inline uint32_t label__char(uint32_t c)
{
	return (c < ' ' && c != '\n') || c == 0x7f ? UNICODE_REPLACEMENT : c;
}

struct series {
	union {
		uint64_t value; /* a number, or ns */
		struct histogram histogram;
	};
	uint16_t len; /* of the label's value, valid UTF-8 */
	char label[METRICS_LABEL_MAX];
};

struct row_values {
	struct series *at;
	size_t n, cap;
};

struct metric_values { /* {}: there are none */
	struct row_values row[METRICS_ROWS];
};

void metric_values__deinit(struct metric_values *v);
int metric_values__copy(struct metric_values *ret,
			const struct metric_values *from); /* 0 or -ENOMEM */

/*
 * Finds or adds the series of a name, or that of "other". `name` may be any bytes; "" for rows
 * without a label. NULL: no memory. Valid until the next call.
 */
struct series *metric_values__series(struct metric_values *v, enum metrics_row row,
				     struct trace_string name);
int metric_values__add(struct metric_values *v, enum metrics_row row, struct trace_string name,
		       uint64_t value);
/* Of a row without a label. */
int metric_values__set(struct metric_values *v, enum metrics_row row, uint64_t value);
/* Adds the series of `from` that `v` lacks, as 0: they keep their places from now on. 0, -ENOMEM. */
int metric_values__reserve(struct metric_values *v, const struct metric_values *from);

/* A snapshot: at most METRICS_SNAPSHOT_MAX bytes. 0 or -ENOMEM. */
int metric_values__pack(const struct metric_values *v, struct outbuf *ret);
/* 0; -EBADMSG: not a snapshot; or -ENOMEM. Deinitialize *ret in any case. */
int metric_values__unpack(struct metric_values *ret, const void *data, size_t size);

#endif

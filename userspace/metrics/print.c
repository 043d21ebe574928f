// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the snapshots of targets as OpenMetrics text: see metrics/metrics.h.
 *
 * Downstream: Prometheus and other readers of that format. Snapshots come from recorders, and
 * names in them from the traced programs: metric_values__unpack() rejects what is malformed, and bounds the
 * number of series.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/unicode.h"
#include "metrics/metrics.h"
#include "metrics/values.h"

#define PREFIX	   "gotrace_"
#define NS_PER_SEC 1000000000u

struct printed {
	FILE *out;
	char bound[HISTOGRAM_BUCKETS][32]; /* of each bucket: format_bound() takes long */
	const struct metrics_target *targets;
	struct metric_values *values;
	bool *valid;
	size_t n;
};

/* ---- labels and numbers ---- */

/* In quotation marks; what is not UTF-8, and control characters, become U+FFFD. */
static void put_text(FILE *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char bytes[UTF8_MAX];
	uint32_t c;

	fputc('"', out);
	for (size_t at = 0; at < len;) {
		at += utf8__decode(p + at, len - at, &c);
		if (c == '\\' || c == '"')
			fputc('\\', out);
		if (c == '\n')
			fputs("\\n", out);
		else
			fwrite(bytes, utf8__encode(label__char(c), bytes), 1, out);
	}
	fputc('"', out);
}

static void put_label(FILE *out, char *mark, const char *name, const char *text, size_t len)
{
	fprintf(out, "%c%s=", *mark, name);
	put_text(out, text, len);
	*mark = ',';
}

struct label {
	const char *name, *text;
	size_t len;
};

/* The labels of a sample; of `own`, those with a name. `bound` NULL: no bucket. */
static void put_labels(FILE *out, const struct metrics_target *t, const struct label *own,
		       const char *bound)
{
	char mark = '{', pid[16];

	if (t->pid) {
		snprintf(pid, sizeof(pid), "%d", t->pid);
		put_label(out, &mark, "pid", pid, strlen(pid));
	}
	if (t->name && *t->name)
		put_label(out, &mark, "program", t->name, strlen(t->name));
	for (size_t i = 0; i < 2; i++)
		if (own && own[i].name)
			put_label(out, &mark, own[i].name, own[i].text, own[i].len);
	if (bound)
		put_label(out, &mark, "le", bound, strlen(bound));
	if (mark != '{')
		fputc('}', out);
}

/* All digits, so that a reader that does not round gets every nanosecond. */
static void put_value(FILE *out, enum metrics_unit unit, uint64_t value)
{
	if (unit == UNIT_SECONDS)
		fprintf(out, " %" PRIu64 ".%09" PRIu64 "\n", value / NS_PER_SEC,
			value % NS_PER_SEC);
	else
		fprintf(out, " %" PRIu64 "\n", value);
}

/* The upper bound of a bucket in seconds, as Go and Python print a float: the shortest form. */
static void format_bound(size_t bucket, char ret[32])
{
	double bound = (double)((1ull << (HISTOGRAM_FIRST + bucket)) - 1) / NS_PER_SEC;

	if (bucket == HISTOGRAM_BUCKETS - 1) {
		strcpy(ret, "+Inf");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(ret, 32, "%.*g", digits, bound);
		if (strtod(ret, NULL) == bound)
			return;
	}
}

/* ---- samples ---- */

static uint64_t add_limited(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void put_histogram(const struct printed *p, const char *family,
			  const struct metrics_target *t, const struct label *own,
			  const struct histogram *h)
{
	FILE *out = p->out;
	uint64_t n = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		n = add_limited(n, h->bucket[i]);
		fprintf(out, PREFIX "%s_bucket", family);
		put_labels(out, t, own, p->bound[i]);
		fprintf(out, " %" PRIu64 "\n", n);
	}
	fprintf(out, PREFIX "%s_count", family);
	put_labels(out, t, own, NULL);
	fprintf(out, " %" PRIu64 "\n" PREFIX "%s_sum", n, family);
	put_labels(out, t, own, NULL);
	put_value(out, UNIT_SECONDS, h->sum);
}

static void put_row(const struct printed *p, unsigned int row)
{
	const struct metrics_info *info = &metrics_rows[row];
	struct label own[2] = { { "state", info->state }, { info->label } };
	const struct row_values *r;

	if (info->state)
		own[0].len = strlen(info->state);
	else
		own[0].name = NULL;
	for (size_t i = 0; i < p->n; i++) {
		r = &p->values[i].row[row];
		for (const struct series *s = r->at; s < r->at + r->n; s++) {
			own[1].text = s->label;
			own[1].len = s->len;
			if (info->type == METRIC_HISTOGRAM) {
				put_histogram(p, info->family, &p->targets[i], own, &s->histogram);
				continue;
			}
			fprintf(p->out, PREFIX "%s%s", info->family,
				info->type == METRIC_COUNTER ? "_total" : "");
			put_labels(p->out, &p->targets[i], own, NULL);
			put_value(p->out, info->unit, s->value);
		}
	}
}

static void put_family(const struct printed *p, const struct metrics_info *info)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	static const char *const units[] = { NULL, "seconds", "bytes" };

	fprintf(p->out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", info->family,
		info->help, info->family, types[info->type]);
	if (units[info->unit])
		fprintf(p->out, "# UNIT " PREFIX "%s %s\n", info->family, units[info->unit]);
}

static void put_up(const struct printed *p)
{
	static const struct metrics_info up = {
		"up", METRIC_GAUGE, UNIT_NONE,
		NULL, NULL,	    "Whether the target is recorded and its metrics are known.",
	};

	put_family(p, &up);
	for (size_t i = 0; i < p->n; i++) {
		fprintf(p->out, PREFIX "%s", up.family);
		put_labels(p->out, &p->targets[i], NULL, NULL);
		fprintf(p->out, " %d\n", p->valid[i]);
	}
}

static void put_omitted(const struct printed *p, unsigned int omitted)
{
	static const struct metrics_info info = {
		"families_omitted",
		METRIC_GAUGE,
		UNIT_NONE,
		NULL,
		NULL,
		"Families that are not here: the text would be too long.",
	};

	put_family(p, &info);
	fprintf(p->out, PREFIX "%s %u\n", info.family, omitted);
}

/* Prints the rows of a family, which begin with `row`. Returns the first row of the next one. */
static unsigned int put_rows(const struct printed *p, unsigned int row)
{
	const char *family = metrics_rows[row].family;

	put_family(p, &metrics_rows[row]);
	for (; row < METRICS_ROWS && !strcmp(metrics_rows[row].family, family); row++)
		put_row(p, row);
	return row;
}

/*
 * Prints the family that begins with *row, if it takes at most *room bytes, and subtracts them. Moves *row
 * to the next family. Returns 1: it was printed, 0: it is too long, or -ENOMEM.
 */
static int put_if_room(const struct printed *p, unsigned int *row, size_t *room)
{
	struct printed part = *p;
	char *text = NULL;
	size_t len = 0;
	bool fits;

	part.out = open_memstream(&text, &len);
	if (!part.out)
		return -ENOMEM;
	*row = put_rows(&part, *row);
	if (fclose(part.out)) {
		free(text);
		return -ENOMEM;
	}
	fits = len <= *room;
	if (fits) {
		fwrite(text, 1, len, p->out);
		*room -= len;
	}
	free(text);
	return fits;
}

static int put_all(const struct printed *p, size_t room)
{
	unsigned int row = 0, omitted = 0;
	int err;

	put_up(p);
	while (row < METRICS_ROWS) {
		if (room == SIZE_MAX) {
			row = put_rows(p, row);
			continue;
		}
		err = put_if_room(p, &row, &room);
		if (err < 0)
			return err;
		omitted += !err;
	}
	if (omitted)
		put_omitted(p, omitted);
	fputs("# EOF\n", p->out);
	return 0;
}

/* A target without a valid snapshot has no values. */
static int unpack_all(const struct printed *p)
{
	int err;

	for (size_t i = 0; i < p->n; i++) {
		err = metric_values__unpack(&p->values[i], p->targets[i].snapshot,
					    p->targets[i].size);
		if (err == -ENOMEM)
			return err;
		p->valid[i] = !err;
		if (err)
			metric_values__deinit(&p->values[i]);
	}
	return 0;
}

int metrics__print(FILE *out, const struct metrics_target *targets, size_t n, struct error *error)
{
	return metrics__print_limited(out, targets, n, SIZE_MAX, error);
}

int metrics__print_limited(FILE *out, const struct metrics_target *targets, size_t n, size_t max,
			   struct error *error)
{
	struct printed p = { .out = out, .targets = targets, .n = n };
	int err;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		format_bound(i, p.bound[i]);
	p.values = calloc(n + 1, sizeof(*p.values));
	p.valid = calloc(n + 1, sizeof(*p.valid));
	err = p.values && p.valid ? unpack_all(&p) : -ENOMEM;
	if (!err)
		err = put_all(&p, max);
	for (size_t i = 0; p.values && i < n; i++)
		metric_values__deinit(&p.values[i]);
	free(p.values);
	free(p.valid);
	if (err)
		return error__set(error, err, "out of memory");
	return ferror(out) ? error__set(error, -EIO, "cannot write the metrics") : 0;
}

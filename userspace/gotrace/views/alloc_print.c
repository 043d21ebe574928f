// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace alloc`: the sums, the heap over time, and one row per type, function or size; or JSON.
 *
 * Input: heap/heap.h. print/print.h and lib/json.c write to stdout.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/durations.h"
#include "gotrace/views/alloc.h"
#include "lib/json.h"

#define COUNT_WIDTH 9
#define LABEL_WIDTH 12
#define LINES_MAX   16 /* of the points */
#define BAR_WIDTH   30

static const char *const titles[HEAP_KEYS] = {
	[HEAP_BY_TYPE] = "TYPE", [HEAP_BY_FUNCTION] = "FUNCTION", [HEAP_BY_SIZE] = "SIZE"
};

static void put_sum(struct out *o, const struct heap_sum *sum)
{
	out__format(o, " %*" PRIu64 " ", COUNT_WIDTH, sum->objects);
	table__bytes(o, sum->bytes, TABLE_TIME);
}

static void put_line(struct out *o, const char *what, const struct heap_sum *sum)
{
	out__format(o, "%-*s", LABEL_WIDTH, what);
	put_sum(o, sum);
	out__char(o, '\n');
}

static void put_sums(struct out *o, const struct alloc_report *r)
{
	const struct heap_result *result = heap__result(r->heap);

	out__format(o, "%-*s %*s %*s\n", LABEL_WIDTH, "", COUNT_WIDTH, "OBJECTS", TABLE_TIME,
		    "BYTES");
	put_line(o, "at start", &result->start.live);
	put_line(o, "allocated", &result->total.allocated);
	put_line(o, "freed", &result->total.freed);
	put_line(o, "kept", &result->total.kept);
	put_line(o, "at end", &result->end.live);
	out__format(o, "%-*s", LABEL_WIDTH, "peak");
	put_sum(o, &result->peak.live);
	out__text(o, "  after ");
	table__time(o, time_sub(result->peak.time, r->time->first), 0);
	out__char(o, '\n');
}

static uint64_t most_bytes(const struct heap_curve *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->at[i].live.bytes > most)
			most = c->at[i].live.bytes;
	return most;
}

static void put_curve(struct out *o, const struct alloc_report *r)
{
	const struct heap_curve *c = heap__result(r->heap)->curve;
	uint64_t most = most_bytes(c);
	int bar;

	out__format(o, "\n%*s %*s %*s %*s %*s\n", TABLE_TIME, "TIME", COUNT_WIDTH, "OBJECTS",
		    TABLE_TIME, "BYTES", TABLE_TIME, "SPANS", TABLE_TIME, "STACKS");
	for (size_t i = 0; i < c->n; i += c->n / LINES_MAX + 1) {
		table__time(o, time_sub(c->at[i].time, r->time->first), TABLE_TIME);
		put_sum(o, &c->at[i].live);
		out__char(o, ' ');
		table__bytes(o, c->at[i].spans.bytes, TABLE_TIME);
		out__char(o, ' ');
		table__bytes(o, c->at[i].stacks.bytes, TABLE_TIME);
		bar = most ? (int)((double)c->at[i].live.bytes / (double)most * BAR_WIDTH) : 0;
		out__text(o, bar ? "  " : "");
		while (bar-- > 0)
			out__char(o, '#');
		out__char(o, '\n');
	}
}

static void put_name(struct out *o, const struct alloc_report *r, const struct heap_row *row)
{
	if (r->by == HEAP_BY_SIZE)
		out__format(o, row->key ? "%" PRIu64 : "(unknown)", row->key);
	else if (r->by == HEAP_BY_TYPE)
		table__name(o, heap__name(r->heap, row), "(no type recorded)");
	else
		table__name(o, heap__name(r->heap, row),
			    heap__is_early(r->heap, row) ? "(before the trace)" : "(unknown)");
}

/* The columns after the first one, which has the objects that were allocated. */
enum { BYTES, FREED, FREED_BYTES, KEPT, KEPT_BYTES, LIVE, LIVE_BYTES, COLUMNS };

static const char *const column_titles[COLUMNS] = { "BYTES",  "FREED", "FREED-B", "KEPT",
						    "KEPT-B", "LIVE",  "LIVE-B" };

static void get_columns(const struct heap_row *row, uint64_t ret[COLUMNS])
{
	ret[BYTES] = row->allocated.bytes;
	ret[FREED] = row->freed.objects;
	ret[FREED_BYTES] = row->freed.bytes;
	ret[KEPT] = row->kept.objects;
	ret[KEPT_BYTES] = row->kept.bytes;
	ret[LIVE] = row->live.objects;
	ret[LIVE_BYTES] = row->live.bytes;
}

static void put_cells(struct out *o, const struct columns *c, const struct heap_row *row)
{
	uint64_t cells[COLUMNS];

	get_columns(row, cells);
	out__format(o, "%*" PRIu64, COUNT_WIDTH, row->allocated.objects);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		if (c->hidden[i])
			continue;
		out__char(o, ' ');
		if (i == FREED || i == KEPT || i == LIVE)
			out__format(o, "%*" PRIu64, TABLE_TIME, cells[i]);
		else
			table__bytes(o, cells[i], TABLE_TIME);
	}
}

static void put_rows(struct out *o, const struct alloc_report *r)
{
	const struct heap_result *result = heap__result(r->heap);
	struct columns c = { .n = COLUMNS, .titles = column_titles, .first = COUNT_WIDTH };
	uint64_t sums[COLUMNS];

	get_columns(&result->total, sums);
	for (unsigned int i = 0; i < COLUMNS; i++)
		c.sum[i] = (double)sums[i];
	columns__fit(&c, o, 1u << BYTES | 1u << KEPT_BYTES | 1u << LIVE_BYTES);
	out__char(o, '\n');
	columns__head(&c, o, "ALLOCATED", titles[r->by]);
	for (size_t i = 0; i < r->rows; i++) {
		put_cells(o, &c, &result->rows[i]);
		out__text(o, "  ");
		put_name(o, r, &result->rows[i]);
		out__char(o, '\n');
	}
	columns__note(&c, o);
}

void alloc__print_table(const struct alloc_report *r)
{
	struct out *o = out__table();

	put_sums(o, r);
	put_curve(o, r);
	put_rows(o, r);
	out__flush(o);
}

/* ---- JSON ---- */

static void json_sum(struct json *j, const char *name, const struct heap_sum *sum)
{
	json__open(j, name, '{');
	json__u64(j, "objects", sum->objects);
	json__u64(j, "bytes", sum->bytes);
	json__close(j, '}');
}

static void json_state(struct json *j, const char *name, const struct heap_state *state)
{
	json__open(j, name, '{');
	json__i64(j, "time", state->time);
	json__u64(j, "objects", state->live.objects);
	json__u64(j, "bytes", state->live.bytes);
	json__u64(j, "spans", state->spans.objects);
	json__u64(j, "span_bytes", state->spans.bytes);
	json__u64(j, "stacks", state->stacks.objects);
	json__u64(j, "stack_bytes", state->stacks.bytes);
	json__close(j, '}');
}

static void json_counts(struct json *j, const struct heap_row *row)
{
	json_sum(j, "allocated", &row->allocated);
	json_sum(j, "freed", &row->freed);
	json_sum(j, "kept", &row->kept);
	json_sum(j, "live", &row->live);
}

static void json_row(struct json *j, const struct alloc_report *r, const struct heap_row *row)
{
	struct trace_string name = heap__name(r->heap, row);

	json__open(j, NULL, '{');
	if (r->by == HEAP_BY_SIZE)
		json__u64(j, "size", row->key);
	else if (name.len)
		json__bytes(j, alloc_keys[r->by], name.data, name.len);
	else
		json__null(j, alloc_keys[r->by]);
	if (r->by == HEAP_BY_FUNCTION)
		json__bool(j, "before_trace", heap__is_early(r->heap, row));
	json_counts(j, row);
	json__close(j, '}');
}

void alloc__print_json(const struct alloc_report *r)
{
	const struct heap_result *result = heap__result(r->heap);
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__string(&j, "by", alloc_keys[r->by]);
	annotation_json__time(&j, r->time);
	json_state(&j, "at_start", &result->start);
	json_state(&j, "at_end", &result->end);
	json_state(&j, "peak", &result->peak);
	json_counts(&j, &result->total);
	json__u64(&j, "unsized", result->unsized);
	json__open(&j, "rows", '[');
	for (size_t i = 0; i < r->rows; i++)
		json_row(&j, r, &result->rows[i]);
	json__close(&j, ']');
	json__open(&j, "curve", '[');
	for (size_t i = 0; i < result->curve->n; i++)
		json_state(&j, NULL, &result->curve->at[i]);
	json__close(&j, ']');
	json__close(&j, '}');
}

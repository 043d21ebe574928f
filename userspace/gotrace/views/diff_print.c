// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the comparison of `gotrace diff`, as tables or as JSON.
 *
 * Input: diff/compare.h. print/table.c formats cells, print/print.c and lib/json.c write to stdout.
 */
#include <inttypes.h>
#include <math.h>

#include "gotrace/annotations.h"
#include "gotrace/views/diff.h"
#include "print/screen.h"
#include "print/table.h"

#define NUMBER (TABLE_TIME + 1) /* width of a column */
#define USED   (4 * NUMBER + 9 + 10)

static const char *const results[] = {
	[DIFF_NOISE] = "",
	[DIFF_CHANGED] = "changed",
	[DIFF_BETTER] = "better",
	[DIFF_WORSE] = "worse",
};

static struct trace_string name_of(const struct diff_report *r, const struct diff_row *row)
{
	if (row->kind == FIGURE_REASON)
		return naming__kind_at(r->naming, row->name);
	return naming__name_at(r->naming, row->name);
}

/* ---- tables ---- */

static void put_value(struct out *o, const struct diff_row *row, bool known, double value)
{
	if (!known || !isfinite(value) || fabs(value) > 9e18)
		out__format(o, "%*s", NUMBER, "-");
	else if (figure_infos[row->kind].is_time)
		table__time(o, llround(value), NUMBER);
	else
		out__format(o, "%*.4g", NUMBER, value);
}

static void put_change(struct out *o, const struct diff_row *row)
{
	double percent = (row->b.value / row->a.value - 1) * 100;

	if (row->a.known && row->b.known && isfinite(percent) && percent < 9999)
		out__format(o, "%+8.1f%%", percent);
	else
		out__format(o, "%9s", "-");
}

static void put_name(struct out *o, const struct diff_report *r, const struct diff_row *row)
{
	const struct figure_info *info = &figure_infos[row->kind];
	struct trace_string name = name_of(r, row);

	out__text(o, info->name);
	switch (info->group) {
	case GROUP_FUNCTION:
		out__text(o, ": ");
		screen__function(o, name, NO_STACK, USED);
		break;
	case GROUP_REASON:
		out__text(o, ": ");
		table__name(o, name, "(unknown)");
		break;
	case GROUP_REQUEST:
		out__text(o, ": ");
		table__name(o, name, NO_NAME);
		break;
	default:
		break;
	}
	out__char(o, '\n');
}

static void put_row(struct out *o, const struct diff_report *r, const struct diff_row *row)
{
	const struct contrast *c = &row->contrast;
	bool known = row->a.known && row->b.known;

	put_value(o, row, row->a.known, row->a.value);
	put_value(o, row, row->b.known, row->b.value);
	put_value(o, row, known, c->difference);
	put_value(o, row, known && c->known, (c->high - c->low) / 2);
	put_change(o, row);
	out__format(o, "  %-8s", results[row->result]);
	put_name(o, r, row);
}

static void put_group(struct out *o, const struct diff_report *r, enum figure_group group,
		      size_t top)
{
	static const char *const titles[FIGURE_GROUPS] = {
		[GROUP_FUNCTION] = "GOROUTINES, by start function",
		[GROUP_REASON] = "GOROUTINES, by reason",
		[GROUP_REQUEST] = "REQUESTS, per request",
		[GROUP_SCHEDULER] = "WAITS FOR A P",
		[GROUP_GC] = "GARBAGE COLLECTION",
	};
	const struct diff_row *row;
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < r->diff.n; i++) {
		row = &r->diff.rows[i];
		if (figure_infos[row->kind].group != group || !row->tested)
			continue;
		if (row->result == DIFF_NOISE && shown >= top) {
			more++;
			continue;
		}
		if (!shown++)
			out__format(o, "\n%*s%*s%*s%*s%9s            %s\n", NUMBER, "A", NUMBER,
				    "B", NUMBER, "B-A", NUMBER, "NOISE", "CHANGE", titles[group]);
		put_row(o, r, row);
	}
	if (more)
		out__format(o, "%*s%zu more without a finding\n", USED, "", more);
}

static void put_side(struct out *o, const char *letter, const struct diff_side *side)
{
	out__format(o, "%s: %.3f s, %" PRIu64 " requests, ", letter,
		    (double)measure__length(side->measure) / 1e9, measure__requests(side->measure));
	out__unicode(o, side->name, strlen(side->name));
	out__char(o, '\n');
}

void diff__print_table(const struct diff_report *r, size_t top)
{
	struct out *o = out__table();

	put_side(o, "A", &r->a);
	put_side(o, "B", &r->b);
	out__format(o,
		    "time per %s; %zu slices each; %zu of %zu figures differ by more than noise\n",
		    r->opts.per_request ? "request" : "second", r->slices, r->diff.found,
		    r->diff.tested);
	for (unsigned int group = 0; group < FIGURE_GROUPS; group++)
		put_group(o, r, group, top);
	out__flush(o);
}

/* ---- JSON ---- */

static void put_json_side(struct json *j, const char *name, const struct diff_side *side)
{
	json__open(j, name, '{');
	json__string(j, "file", side->name);
	json__i64(j, "length_ns", measure__length(side->measure));
	json__u64(j, "requests", measure__requests(side->measure));
	json__bool(j, "kernel", side->has_kernel);
	json__close(j, '}');
}

static void put_estimate(struct json *j, const char *name, const struct estimate *e)
{
	json__open(j, name, '{');
	json__double(j, "value", e->known ? e->value : NAN);
	json__double(j, "error", e->error);
	json__close(j, '}');
}

static void put_json_row(struct json *j, const struct diff_report *r, const struct diff_row *row)
{
	static const char *const groups[FIGURE_GROUPS] = { "function", "reason", "request",
							   "scheduler", "gc" };
	static const char *const weights[] = {
		[WEIGHT_SECONDS] = "second", [WEIGHT_NAME] = "request", [WEIGHT_QUANTILE] = NULL
	};
	const struct figure_info *info = &figure_infos[row->kind];
	struct trace_string name = name_of(r, row);

	json__open(j, NULL, '{');
	json__string(j, "group", groups[info->group]);
	json__bytes(j, "name", name.data, name.len);
	json__string(j, "figure", info->name);
	json__string(j, "unit", info->is_time ? "ns" : "number");
	json__string(j, "per",
		     info->weight != WEIGHT_CHOSEN ? weights[info->weight] :
		     r->opts.per_request	   ? "request" :
						     "second");
	put_estimate(j, "a", &row->a);
	put_estimate(j, "b", &row->b);
	json__double(j, "difference", row->contrast.difference);
	json__double(j, "low", row->contrast.known ? row->contrast.low : NAN);
	json__double(j, "high", row->contrast.known ? row->contrast.high : NAN);
	json__bool(j, "tested", row->tested);
	json__string(j, "result", row->result == DIFF_NOISE ? "noise" : results[row->result]);
	json__bool(j, "exceeds_threshold", row->exceeds);
	json__close(j, '}');
}

void diff__print_json(const struct diff_report *r)
{
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	put_json_side(&j, "a", &r->a);
	put_json_side(&j, "b", &r->b);
	json__u64(&j, "slices", r->slices);
	json__string(&j, "per", r->opts.per_request ? "request" : "second");
	json__double(&j, "error_rate", DIFF_ERROR_RATE);
	json__u64(&j, "tested", r->diff.tested);
	json__u64(&j, "found", r->diff.found);
	json__u64(&j, "exceeding", r->diff.exceeding);
	json__open(&j, "figures", '[');
	for (size_t i = 0; i < r->diff.n; i++)
		put_json_row(&j, r, &r->diff.rows[i]);
	json__close(&j, ']');
	json__close(&j, '}');
}

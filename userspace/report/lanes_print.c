// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes the timeline of a report as JSON, with sequences of numbers as in varints.h: see lanes.h.
 *
 * Called once, when the trace has been read. Lanes are in the order of their groups, then of their
 * IDs; arrows refer to them by place.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "report/lanes_impl.h"
#include "report/varints.h"

#define SPAN_WHOLE 10000 /* the share that is the whole length of a merged span */

static void print_states(struct json *j)
{
	json__open(j, "states", '[');
	for (const struct state_row *row = state_table; row < state_table + STATES; row++) {
		json__open(j, NULL, '{');
		json__string(j, "name", row->name);
		json__string(j, "kind", row->kind);
		json__string(j, "meaning", row->meaning);
		json__string(j, "light", row->light);
		json__string(j, "dark", row->dark);
		json__string(j, "part", row->part);
		json__close(j, '}');
	}
	json__close(j, ']');
}

/* ---- lanes ---- */

static int compare_lanes(const void *a, const void *b)
{
	const struct report_lane *x = *(struct report_lane *const *)a,
				 *y = *(struct report_lane *const *)b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static const char *kind_of(const struct report_lane *lane, const char **ret_prefix)
{
	static const struct {
		const char *kind, *prefix;
	} kinds[EXPORT_GROUPS] = {
		[EXPORT_TASKS] = { "task", "task:" },	     [EXPORT_CPUS] = { "cpu", "c:" },
		[EXPORT_THREADS] = { "thread", "t:" },	     [EXPORT_PROCS] = { "p", "p:" },
		[EXPORT_GOROUTINES] = { "goroutine", "g:" },
	};

	*ret_prefix = kinds[lane->group].prefix;
	if (lane->group == EXPORT_GC)
		return lane->id == 2 ? "stw" : "gc";
	return kinds[lane->group].kind;
}

static void lane_id(const struct report_lane *lane, char *text, size_t size)
{
	const char *prefix, *kind = kind_of(lane, &prefix);

	if (prefix)
		snprintf(text, size, "%s%" PRIu64, prefix, lane->id);
	else
		snprintf(text, size, "%s", kind);
}

bool lane__is_wanted(const char *list, const struct report_lane *lane)
{
	char id[64];
	size_t len;

	if (!list)
		return true;
	lane_id(lane, id, sizeof(id));
	len = strlen(id);
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, id, len) && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* The lanes with spans in the order of the output; the caller frees the array. NULL: no memory. */
static struct report_lane **sort_lanes(const struct report_lanes *l, size_t *ret_n)
{
	struct report_lane **lanes = calloc(l->lanes.n + 1, sizeof(*lanes));
	size_t n = 0;
	void *value;

	if (!lanes)
		return NULL;
	for (size_t i = 0; map__next(&l->lanes, &i, &value);) {
		struct report_lane *lane = value;

		lane->used = lane->used && lane__is_wanted(l->opts.only, lane);
		if (lane->used)
			lanes[n++] = lane;
	}
	array__sort(lanes, n, sizeof(struct report_lane *), compare_lanes);
	for (size_t i = 0; i < n; i++)
		lanes[i]->index = (uint32_t)i;
	*ret_n = n;
	return lanes;
}

/* "G 12 main.worker"; `lane` NULL: one without a lane. */
static uint64_t goroutine_name(struct report_lanes *l, uint64_t id, const struct report_lane *lane)
{
	struct trace_string function =
		lane ? intern__text_at(l->strings->in, lane->name) : (struct trace_string){};
	char text[TRACE_STRING_MAX + 32];
	int len = snprintf(text, sizeof(text), "G %" PRIu64 "%s%.*s", id, function.len ? " " : "",
			   (int)function.len, function.data ?: "");

	return report_lanes__intern(l, (struct trace_string){ text, (uint32_t)len });
}

static uint64_t lane_name(struct report_lanes *l, const struct report_lane *lane)
{
	char text[64];
	int len;

	switch (lane->group) {
	case EXPORT_GOROUTINES:
		return goroutine_name(l, lane->id, lane);
	case EXPORT_THREADS:
		return lane->name;
	case EXPORT_PROCS:
		len = snprintf(text, sizeof(text), "P %" PRIu64, lane->id);
		break;
	case EXPORT_CPUS:
		len = snprintf(text, sizeof(text), "CPU %" PRIu64, lane->id);
		break;
	case EXPORT_TASKS:
		len = snprintf(text, sizeof(text), "Tasks %" PRIu64, lane->id);
		break;
	default:
		len = snprintf(text, sizeof(text), "%s",
			       lane->id == 2 ? "Stop-the-world pauses" : "GC cycles");
	}
	return report_lanes__intern(l, (struct trace_string){ text, (uint32_t)len });
}

struct printing {
	struct report_lanes *lanes;
	struct json *json;
	struct map goroutines; /* lanes by ID of the goroutine */
};

static uint64_t detail_of(struct printing *p, const struct report_lane *lane,
			  const struct lane_track *track, const struct span *span)
{
	bool is_goroutine = track == &lane->track &&
			    (lane->group == EXPORT_PROCS || lane->group == EXPORT_THREADS);

	if (!is_goroutine || !span->detail)
		return span->detail;
	return goroutine_name(p->lanes, span->detail, map__get(&p->goroutines, span->detail));
}

/* How many spans it stands for, a bit for each state with a time, and the share of each of these. */
static void add_sum(struct varints *v, const struct span *span, const struct span_sum *sum)
{
	unsigned int base = span->state - span->state % SPAN_SLOTS;
	uint64_t bits = 0;

	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		bits |= (uint64_t)!!sum->time[i] << (base + i);
	varints__add(v, sum->count);
	varints__add(v, bits);
	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		if (sum->time[i])
			varints__add(v, (uint64_t)((double)SPAN_WHOLE * (double)sum->time[i] /
							   (double)span->len +
						   0.5));
}

static int print_spans(struct printing *p, const struct report_lane *lane,
		       const struct lane_track *track, const char *name)
{
	const struct spans *s = &track->spans;
	struct varints v = {};
	uint64_t end = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct span *span = &s->at[i];
		uint8_t state = spans__dominant(s, span);

		varints__add(&v, span->start - end);
		varints__add(&v, span->len);
		varints__add(&v, state * 2u + !!span->sum);
		varints__add(&v, detail_of(p, lane, track, span));
		end = span->start + span->len;
		if (span->sum)
			add_sum(&v, span, &s->sums[span->sum - 1]);
	}
	return varints__print(&v, p->json, name);
}

/* The exact times by state, also of what is aggregated: pairs of a state's index and ns. */
static void print_totals(struct json *j, const char *name, const struct lane_track *track)
{
	uint64_t time[SPAN_SLOTS] = {};
	unsigned int base = track->spans.n ? track->spans.at[0].state : 0;

	base -= base % SPAN_SLOTS;
	spans__total(&track->spans, time);
	json__open(j, name, '[');
	for (unsigned int i = 0; i < SPAN_SLOTS; i++) {
		if (!time[i])
			continue;
		json__open(j, NULL, '[');
		json__u64(j, NULL, base + i);
		json__u64(j, NULL, time[i]);
		json__close(j, ']');
	}
	json__close(j, ']');
}

static int print_lane(struct printing *p, const struct report_lane *lane)
{
	struct json *j = p->json;
	const char *prefix, *kind = kind_of(lane, &prefix);
	char id[64];
	int err;

	lane_id(lane, id, sizeof(id));
	json__open(j, NULL, '{');
	json__string(j, "id", id);
	json__string(j, "kind", kind);
	json__u64(j, "name", lane_name(p->lanes, lane));
	json__u64(j, "group", lane->group == EXPORT_GOROUTINES ? lane->name : 0);
	json__u64(j, "from", lane->from);
	json__u64(j, "to", lane->to);
	err = print_spans(p, lane, &lane->track, "spans");
	print_totals(j, "totals", &lane->track);
	if (!err && lane->kernel.spans.n) {
		err = print_spans(p, lane, &lane->kernel, "kernel");
		print_totals(j, "kernel_totals", &lane->kernel);
	}
	json__close(j, '}');
	return err;
}

static int print_lanes(struct printing *p)
{
	size_t n;
	struct report_lane **lanes = sort_lanes(p->lanes, &n);
	int err = lanes ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++)
		if (lanes[i]->group == EXPORT_GOROUTINES)
			err = map__put(&p->goroutines, lanes[i]->id, lanes[i]);
	json__open(p->json, "lanes", '[');
	for (size_t i = 0; !err && i < n; i++)
		err = print_lane(p, lanes[i]);
	json__close(p->json, ']');
	free(lanes);
	return err;
}

/* ---- arrows, curves, MMU ---- */

/* The lane that a track is of, or whose states it has; NULL: it has no lane in the output. */
static const struct report_lane *find_lane(const struct report_lanes *l, uint64_t track)
{
	const struct report_lane *lane = map__get(&l->lanes, track);

	return lane && lane->used ? lane : NULL;
}

static int print_arrows(const struct report_lanes *l, struct json *j)
{
	struct varints v = {};
	uint64_t time = 0;

	for (size_t i = 0; i < l->narrows; i++) {
		const struct report_arrow *arrow = &l->arrows[i];
		const struct report_lane *from = find_lane(l, arrow->from),
					 *to = find_lane(l, arrow->to);

		if (!from || !to)
			continue;
		varints__add(&v, arrow->time - time);
		varints__add(&v, from->index);
		varints__add(&v, to->index);
		varints__add(&v, arrow->reason);
		time = arrow->time;
	}
	return varints__print(&v, j, "arrows");
}

/* The mean in thousandths, as far as a reader has integers: up to 2^53. */
static uint64_t mean_of(const struct curve *c, size_t i, uint64_t end)
{
	return (uint64_t)fmin(1000 * curve__mean(c, i, end) + 0.5, 0x1p53);
}

static int print_curve(const struct curve *c, struct json *j, const char *name, const char *title,
		       const char *unit, uint64_t end)
{
	struct varints v = {};
	uint64_t time = 0;
	int err;

	json__open(j, name, '{');
	json__string(j, "name", title);
	json__string(j, "unit", unit);
	for (size_t i = 0; i < c->n; i++) {
		varints__add(&v, c->at[i].time - time);
		varints__add(&v, c->at[i].min);
		varints__add(&v, c->at[i].max);
		varints__add(&v, mean_of(c, i, end));
		time = c->at[i].time;
	}
	err = varints__print(&v, j, "points");
	json__close(j, '}');
	return err;
}

static int print_curves(const struct report_lanes *l, struct json *j)
{
	static const struct {
		const char *name, *title, *unit;
	} rows[REPORT_CURVES] = {
		[CURVE_HEAP] = { "heap", "Heap", "bytes" },
		[CURVE_GOAL] = { "goal", "Heap goal", "bytes" },
		[CURVE_GOROUTINES] = { "goroutines", "Goroutines", "count" },
		[CURVE_RUNNING] = { "running", "Running goroutines", "count" },
		[CURVE_RUNNABLE] = { "runnable", "Runnable goroutines", "count" },
		[CURVE_WAITING] = { "waiting", "Waiting goroutines", "count" },
		[CURVE_SYSCALL] = { "syscall", "Goroutines in system calls", "count" },
		[CURVE_THREADS] = { "runqueue", "Threads waiting for a CPU", "count" },
	};
	int err = 0;

	json__open(j, "curves", '{');
	for (unsigned int i = 0; !err && i < REPORT_CURVES; i++)
		if (l->curves[i].n)
			err = print_curve(&l->curves[i], j, rows[i].name, rows[i].title,
					  rows[i].unit, l->now);
	json__close(j, '}');
	return err;
}

/* Windows of 1, 2 and 5 times each power of ten, from 1 us to the length of the trace. */
static void print_mmu(const struct report_lanes *l, struct json *j)
{
	static const unsigned int steps[] = { 1, 2, 5 };

	json__open(j, "mmu", '[');
	for (uint64_t unit = 1000; unit <= l->now && mmu__at(&l->mmu, unit) >= 0; unit *= 10) {
		for (unsigned int i = 0; i < 3 && steps[i] * unit <= l->now; i++) {
			json__open(j, NULL, '[');
			json__u64(j, NULL, steps[i] * unit);
			json__double(j, NULL, mmu__at(&l->mmu, steps[i] * unit));
			json__close(j, ']');
		}
		if (unit > UINT64_MAX / 100)
			break;
	}
	json__close(j, ']');
}

static int print_all(struct report_lanes *l, struct json *j, bool part, struct error *error)
{
	struct printing p = { .lanes = l, .json = j };
	int err;

	print_states(j);
	err = print_lanes(&p);
	err = err ?: print_arrows(l, j);
	if (!err && !part) {
		err = print_curves(l, j);
		print_mmu(l, j);
	}
	map__deinit(&p.goroutines);
	err = err ?: l->sink.err;
	return err ? error__set(error, err, "out of memory") : 0;
}

int report_lanes__print(struct report_lanes *l, struct json *j, struct error *error)
{
	return print_all(l, j, false, error);
}

int report_lanes__print_part(struct report_lanes *l, struct json *j, struct error *error)
{
	return print_all(l, j, true, error);
}

/* ---- limits ---- */

__attribute__((format(printf, 2, 3))) static void print_sentence(struct json *j, const char *format,
								 ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json__string(j, NULL, text);
}

void report_lanes__print_limits(const struct report_lanes *l, struct json *j)
{
	if (l->threshold)
		print_sentence(j,
			       "Intervals shorter than %g ms are merged into blocks, which show "
			       "the share of each state; zoom into them with 'gotrace view'.",
			       (double)l->threshold / 1e6);
	if (l->goroutines_omitted)
		print_sentence(j,
			       "%zu goroutines have no lane: only the %zu that existed longest "
			       "have one.",
			       l->goroutines_omitted, l->goroutines);
	if (l->arrow_gap)
		print_sentence(j, "Arrows are at least %g ms apart; others were left out.",
			       (double)l->arrow_gap / 1e6);
	if (l->mmu.coarse)
		print_sentence(j, "The minimum mutator utilization is approximate: it changed too "
				  "often to keep each change.");
	if (report_strings__full(l->strings))
		print_sentence(j, "Some names are missing, because there are too many.");
	if (!l->kernel_known)
		print_sentence(j, "The trace has no kernel events: waiting for a CPU counts as "
				  "running.");
}

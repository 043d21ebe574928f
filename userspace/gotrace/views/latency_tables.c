// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of `gotrace latency`: one screen with the most important functions and reasons, all
 * functions, or all goroutines.
 *
 * Input: latency.c. gotrace/latency_sort.c sorts, gotrace/latency_table.c prints the reasons.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "format/start.h"
#include "gotrace/latency.h"
#include "print/screen.h"
#include "print/table.h"

#define COLUMN_LOST (LATENCY_PARTS + 1)

struct columns latency_columns(bool has_kernel, bool has_gaps)
{
	static const char *const titles[LATENCY_PARTS + 2] = {
		[PART_ONCPU] = "ON CPU",
		[PART_GO_RUNNABLE] = "GO RUN",
		[PART_KERNEL_RUNNABLE] = "KERN RUN",
		[PART_THROTTLED] = "THROTTLED",
		[PART_KERNEL_BLOCKED] = "KERN BLK",
		[PART_SYSCALL_BLOCKED] = "SYSC BLK",
		[PART_GO_BLOCKED] = "GO BLK",
		[LATENCY_PARTS] = "TOTAL",
		[COLUMN_LOST] = "LOST",
	};
	bool none = !has_kernel;

	return (struct columns){
		.n = has_gaps ? COLUMN_LOST + 1 : COLUMN_LOST,
		.titles = titles,
		.first = 8,
		.unknown = { [PART_KERNEL_RUNNABLE] = none,
			     [PART_THROTTLED] = none,
			     [PART_KERNEL_BLOCKED] = none },
	};
}

bool latency__is_parked(const int64_t part[LATENCY_PARTS], int64_t total, struct trace_string name)
{
	int64_t active =
		time_sub(total, time_add(part[PART_GO_BLOCKED], part[PART_SYSCALL_BLOCKED]));

	return active <= (start__is_runtimes(name) ? total / 100 : 0);
}

static bool is_parked(const struct latencies *all, const struct latency_stats *stats, uint32_t name)
{
	return !all->select->by_label &&
	       latency__is_parked(stats->part, time_sub(stats->total, stats->lost),
				  latency__name(all->latency, name));
}

/* Returns the largest of the parts in `which`, one at least. */
static unsigned int largest(const double sum[LATENCY_PARTS], uint32_t which)
{
	unsigned int found = LATENCY_PARTS;

	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		if (which >> i & 1 && (found == LATENCY_PARTS || sum[i] > sum[found]))
			found = i;
	return found;
}

/*
 * GO BLK alone would mostly be the time in which goroutines had nothing to do. Throttling has a
 * remedy of its own, so it is shown if it is a tenth of the time in which goroutines were to run.
 */
uint32_t latency_columns__causes(const double sum[LATENCY_PARTS])
{
	const uint32_t delays =
		1u << PART_GO_RUNNABLE | 1u << PART_KERNEL_RUNNABLE | 1u << PART_THROTTLED;
	const uint32_t waits = ((1u << LATENCY_PARTS) - 1) & ~(1u << PART_ONCPU);
	double work = sum[PART_ONCPU];
	uint32_t keep = 0, candidates;

	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		work += delays >> i & 1 ? sum[i] : 0;
	candidates = 1u << largest(sum, waits) | 1u << largest(sum, delays);
	if (sum[PART_THROTTLED] >= work / 10)
		candidates |= 1u << PART_THROTTLED;
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		keep |= candidates >> i & 1 && sum[i] > 0 ? 1u << i : 0;
	return keep;
}

static int64_t column_of(const struct latency_stats *stats, unsigned int i)
{
	if (i == COLUMN_LOST)
		return stats->lost;
	return i < LATENCY_PARTS ? stats->part[i] : stats->total;
}

/* The sums of the columns, and of those that are not parked. */
struct column_sums {
	struct columns c;
	double active[LATENCY_PARTS];
};

static void sum_columns(struct column_sums *s, const struct latencies *all,
			const struct latency_stats *stats, uint32_t name)
{
	bool parked = is_parked(all, stats, name);

	for (unsigned int i = 0; i < s->c.n; i++)
		s->c.sum[i] += (double)column_of(stats, i);
	for (unsigned int i = 0; !parked && i < LATENCY_PARTS; i++)
		s->active[i] += (double)stats->part[i];
}

static void put_numbers(struct out *o, const struct columns *c, uint64_t first,
			const struct latency_stats *stats)
{
	out__format(o, "%8" PRIu64, first);
	for (unsigned int i = 0; i < c->n; i++)
		columns__time(c, o, i, column_of(stats, i));
	out__text(o, "  ");
}

static void put_row(struct out *o, const struct columns *c, uint64_t first,
		    const struct latency_stats *stats, struct trace_string name)
{
	put_numbers(o, c, first, stats);
	screen__function(o, name, NO_STACK, columns__used(c));
	out__char(o, '\n');
}

static void put_workers(struct out *o, const struct latencies *all)
{
	struct latency_worker w;

	for (size_t i = 0; latency__worker(all->latency, i, &w); i++) {
		if (!i)
			out__format(o, "\nGC WORKERS  %*s %*s  MODE\n", TABLE_TIME, "WALL",
				    TABLE_TIME, "ON CPU");
		out__format(o, "%12s", "");
		table__time(o, w.wall, TABLE_TIME);
		out__char(o, ' ');
		table__time(o, w.oncpu, TABLE_TIME);
		out__text(o, "  ");
		out__unicode(o, w.label.data, w.label.len);
		out__char(o, '\n');
	}
}

/* Before a table. */
static void put_no_kernel(struct out *o, const struct latencies *all)
{
	if (!all->has_kernel)
		out__text(o, "The trace has no kernel events (record it with event set kernel, a "
			     "default, or\nadd them with gotrace align): columns with - are "
			     "unknown, a running goroutine\ncounts as on CPU, a goroutine in a "
			     "system call as blocked.\n\n");
}

/* Columns that are shown even if they are empty, or the terminal is narrow. */
static uint32_t kept(const struct latencies *all, const struct column_sums *s)
{
	uint32_t sort = all->sort < LATENCY_PARTS ? 1u << all->sort : 0;

	return 1u << PART_ONCPU | 1u << LATENCY_PARTS | 1u << COLUMN_LOST | sort |
	       latency_columns__causes(s->active);
}

static const char *name_title(const struct latencies *all)
{
	return all->select->by_label ? "LABEL" : "START FUNCTION";
}

/* ---- all functions, with all reasons ---- */

static int put_functions(struct out *o, const struct latencies *all, struct columns *c,
			 const struct function **functions, size_t n)
{
	const struct function *f;
	int64_t unknown = 0, total = 0;
	int err = 0;

	columns__head(c, o, "COUNT", name_title(all));
	for (size_t i = 0; i < n; i++) {
		f = functions[i];
		unknown = time_add(unknown, f->stats.unknown);
		total = time_add(total, f->stats.total);
		put_row(o, c, f->count, &f->stats, latency__name(all->latency, f->name));
	}
	columns__note(c, o);
	for (size_t i = 0; i < n && !err; i++) {
		f = functions[i];
		out__char(o, '\n');
		table__name(o, latency__name(all->latency, f->name), NO_STACK);
		out__char(o, '\n');
		err = latency_table__details(o, all->latency, all->has_kernel, &f->stats, false);
	}
	put_workers(o, all);
	if (all->has_kernel)
		latency_table__note(o, true, unknown, total);
	return err;
}

/* ---- one screen ---- */

/* What is not in the table of one screen, added up. */
struct folded {
	uint64_t functions, goroutines;
	struct latency_stats stats;
};

static int fold(struct folded *to, const struct function *f)
{
	to->functions++;
	to->goroutines += f->count;
	return latency_stats__add(&to->stats, &f->stats);
}

static void put_folded(struct out *o, const struct columns *c, const struct folded *f,
		       const char *what)
{
	if (!f->functions)
		return;
	put_numbers(o, c, f->goroutines, &f->stats);
	out__format(o, "(%" PRIu64 " %s)\n", f->functions, what);
}

#define BRIEF_REASONS_MAX 5
#define REASON_USED	  70 /* characters of a line without the name: enough for most reasons */

static void insert_reason(struct duration *at, size_t *n, size_t most, struct duration r)
{
	size_t i = *n;

	if (!r.ns)
		return;
	while (i && at[i - 1].ns < r.ns)
		i--;
	if (i >= most)
		return;
	*n += *n < most;
	memmove(at + i + 1, at + i, (*n - i - 1) * sizeof(*at));
	at[i] = r;
}

/* The longest parts and reasons of a function, at most `most`: their number. */
static size_t longest_reasons(const struct latency_stats *stats, struct duration *at, size_t most)
{
	size_t n = 0;

	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		if (!latency_part__has_reasons(i))
			insert_reason(at, &n, most,
				      (struct duration){ .ns = stats->part[i], .kind = i << 16 });
	for (uint32_t i = 0; i < stats->reasons.n; i++)
		insert_reason(at, &n, most, stats->reasons.at[i]);
	return n;
}

/* One reason is on the line of the function; several are below a line with its name. */
static void put_reasons_briefly(struct out *o, const struct latency *l, const struct function *f,
				size_t most)
{
	struct duration at[BRIEF_REASONS_MAX];
	size_t n = longest_reasons(&f->stats, at, most);
	struct trace_string text;

	if (most > 1) {
		out__char(o, '\n');
		screen__function(o, latency__name(l, f->name), NO_STACK, 0);
		out__char(o, '\n');
		for (size_t i = 0; i < n; i++)
			table__part(o, at[i].ns, f->stats.total,
				    latency_part_texts[latency_reason__part(at[i].kind)],
				    latency_table__reason(l, at[i].kind));
	} else if (n) {
		table__time(o, at->ns, TABLE_TIME + 2);
		table__share(o, at->ns, f->stats.total);
		out__text(o, "  ");
		screen__function(o, latency__name(l, f->name), NO_STACK, REASON_USED);
		out__text(o, ", ");
		out__text(o, latency_part_texts[latency_reason__part(at->kind)]);
		text = latency_table__reason(l, at->kind);
		out__unicode(o, text.data, text.len);
		out__char(o, '\n');
	}
}

#define BRIEF_LINES	40 /* unless the terminal has another height */
#define BRIEF_FUNCTIONS 5  /* with reasons */

/* The functions that are shown come first in `functions`: their number. The others are added up. */
static int select_functions(const struct latencies *all, const struct function **functions,
			    size_t n, size_t most, struct folded *parked, struct folded *others,
			    size_t *ret_n)
{
	size_t shown = 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (n > 1 && is_parked(all, &functions[i]->stats, functions[i]->name))
			err = fold(parked, functions[i]);
		else if (shown < most || all->select->top)
			functions[shown++] = functions[i];
		else
			err = fold(others, functions[i]);
	}
	*ret_n = shown;
	return err;
}

/* How many reasons of each of `functions` fit into `left`, the number of lines after the table. */
static size_t fitting_reasons(size_t left, size_t functions)
{
	size_t lines = functions ? left / functions : 0; /* an empty one, the name, the reasons */
	size_t reasons = lines > 3 ? lines - 2 : 1;

	return reasons < BRIEF_REASONS_MAX ? reasons : BRIEF_REASONS_MAX;
}

/* The most important lines of the table, and the most important reasons of the first five. */
static int put_brief(struct out *o, const struct latencies *all, struct columns *c,
		     const struct function **functions, size_t n)
{
	size_t lines = o->screen.height > 10 ? o->screen.height - 1 : BRIEF_LINES;
	size_t most = lines / 3, five, reasons;
	struct folded parked = {}, others = {};
	int err = select_functions(all, functions, n, most, &parked, &others, &n);

	columns__head(c, o, "COUNT", name_title(all));
	for (size_t i = 0; i < n; i++)
		put_row(o, c, functions[i]->count, &functions[i]->stats,
			latency__name(all->latency, functions[i]->name));
	put_folded(o, c, &others, "other functions");
	put_folded(o, c, &parked, "functions that were parked");
	columns__note(c, o);
	five = n < BRIEF_FUNCTIONS ? n : BRIEF_FUNCTIONS;
	reasons = fitting_reasons(lines > most + 7 ? lines - most - 7 : 0, five);
	if (reasons == 1 && five)
		out__char(o, '\n');
	for (size_t i = 0; i < five; i++)
		put_reasons_briefly(o, all->latency, functions[i], reasons);
	out__text(o, "\nAll functions, reasons and run queues: gotrace latency --details\n");
	latency_stats__deinit(&parked.stats);
	latency_stats__deinit(&others.stats);
	return err;
}

int latency_table__functions(const struct latencies *all, bool details)
{
	struct out *o = out__table();
	struct column_sums sums = { .c = latency_columns(all->has_kernel,
							 latency__has_gaps(all->latency)) };
	struct columns *c = &sums.c;
	size_t n;
	const struct function **functions = functions__sorted(all, &n);
	int err;

	if (!functions)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum_columns(&sums, all, &functions[i]->stats, functions[i]->name);
	columns__fit(c, o, kept(all, &sums));
	put_no_kernel(o, all);
	err = details ? put_functions(o, all, c, functions, n) : put_brief(o, all, c, functions, n);
	free(functions);
	out__flush(o);
	return err;
}

/* ---- goroutines ---- */

/* The lines; or, without `o`, only the sums of the columns. */
static int put_goroutines(struct out *o, const struct latencies *all, struct column_sums *s,
			  int64_t *unknown, int64_t *total)
{
	struct latency_goroutine g;
	int err = 0;

	for (size_t i = 0; i < record_store__count(all->goroutines) && !err; i++) {
		err = latency__unpack(record_store__get(all->goroutines, i), &g);
		if (err)
			break;
		if (o) {
			put_row(o, &s->c, g.id, &g.stats, latency__name(all->latency, g.name));
			*unknown = time_add(*unknown, g.stats.unknown);
			*total = time_add(*total, g.stats.total);
		} else {
			sum_columns(s, all, &g.stats, g.name);
		}
		latency_stats__deinit(&g.stats);
	}
	return err;
}

int latency_table__goroutines(const struct latencies *all)
{
	struct out *o = out__table();
	struct column_sums sums = { .c = latency_columns(all->has_kernel,
							 latency__has_gaps(all->latency)) };
	const struct columns *c = &sums.c;
	int64_t unknown = 0, total = 0;
	int err = o->screen.width ? put_goroutines(NULL, all, &sums, &unknown, &total) : 0;

	if (err)
		return err;
	columns__fit(&sums.c, o, kept(all, &sums));
	put_no_kernel(o, all);
	columns__head(c, o, "ID", "START FUNCTION");
	err = put_goroutines(o, all, &sums, &unknown, &total);
	columns__note(c, o);
	if (all->has_kernel)
		latency_table__note(o, true, unknown, total);
	out__flush(o);
	return err;
}

int latency_table__goroutine(const struct latencies *all)
{
	static const struct trace_string nothing = { "", 0 };
	struct out *o = out__table();
	struct latency_goroutine g;
	int err = latency__unpack(record_store__get(all->goroutines, 0), &g);

	if (err)
		return err;
	out__format(o, "goroutine %" PRIu64 ": ", g.id);
	table__name(o, latency__name(all->latency, g.name), NO_STACK);
	out__text(o, "\n\n");
	table__part(o, g.stats.total, g.stats.total, "total", nothing);
	err = latency_table__details(o, all->latency, all->has_kernel, &g.stats, true);
	latency_table__note(o, all->has_kernel, g.stats.unknown, g.stats.total);
	latency_stats__deinit(&g.stats);
	out__flush(o);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace goroutines --compare-extremes FUNCTION`: the slowest goroutines of one start function
 * beside the fastest ones, and where the difference of their times is.
 *
 * Input: analysis/record_store.c, with the goroutines of that function that the trace contains from
 * their creation to their end, the slowest first. Both groups have the same size, and no goroutine
 * is in both.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/json.h"
#include "goroutines.h"
#include "print/table.h"

enum side { SLOWEST, FASTEST, SIDES };

enum part_of {
	PART_EXEC,
	PART_SCHED,
	PART_SYSCALL,
	PART_SYSCALL_BLOCK,
	PART_UNKNOWN,
	PART_LOST, /* the last one: only of traces with gaps */
	PARTS
};

static const struct {
	const char *key, *text; /* in JSON, and in the table */
} parts[PARTS] = {
	[PART_EXEC] = { "exec", "running" },
	[PART_SCHED] = { "sched_wait", "runnable, waiting for a P" },
	[PART_SYSCALL] = { "syscall", "in system calls" },
	[PART_SYSCALL_BLOCK] = { "syscall_block", "in system calls, without a P" },
	[PART_UNKNOWN] = { "unknown", "unknown" },
	[PART_LOST] = { "lost_ns", "lost: records are missing" },
};

/* Sums of a group, ns; INT64_MAX if it exceeds that. */
struct amounts {
	int64_t ns[SIDES];
};

struct blocked {
	uint32_t kind;
	struct amounts amounts;
};

struct extremes {
	uint64_t each; /* goroutines in each group */
	struct amounts total, gc_work, part[PARTS];
	struct blocked *blocked; /* in the order in which the kinds first occur */
	size_t n, cap;
};

/* Times of a hostile trace may be anything. */
static void add(struct amounts *sum, enum side side, int64_t ns)
{
	int64_t *to = &sum->ns[side];

	if (__builtin_add_overflow(*to, ns, to))
		*to = ns < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t difference(const struct amounts *a)
{
	int64_t ns;

	if (__builtin_sub_overflow(a->ns[SLOWEST], a->ns[FASTEST], &ns))
		return a->ns[SLOWEST] < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static struct blocked *find_blocked(struct extremes *x, uint32_t kind)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->blocked[i].kind == kind)
			return &x->blocked[i];
	if (array__grow(&x->blocked, x->n, &x->cap, sizeof(*x->blocked)))
		return NULL;
	x->blocked[x->n] = (struct blocked){ .kind = kind };
	return &x->blocked[x->n++];
}

static int add_stats(struct extremes *x, enum side side, const struct summary_stats *stats)
{
	struct blocked *blocked;

	add(&x->total, side, stats->total);
	add(&x->gc_work, side, stats->gc_work);
	add(&x->part[PART_EXEC], side, stats->exec);
	add(&x->part[PART_SCHED], side, stats->sched_wait);
	add(&x->part[PART_SYSCALL], side, stats->syscall);
	add(&x->part[PART_SYSCALL_BLOCK], side, stats->syscall_block);
	add(&x->part[PART_UNKNOWN], side, summary_stats__unknown(stats));
	add(&x->part[PART_LOST], side, stats->lost);
	for (uint32_t i = 0; i < stats->block.n; i++) {
		blocked = find_blocked(x, stats->block.at[i].kind);
		if (!blocked)
			return -ENOMEM;
		add(&blocked->amounts, side, stats->block.at[i].ns);
	}
	return 0;
}

/* The place of the i-th goroutine of a group, of which the first is the most extreme. */
static size_t place(const struct goroutines *all, enum side side, uint64_t i)
{
	return side == SLOWEST ? i : record_store__count(all->store) - 1 - i;
}

static int add_side(const struct goroutines *all, struct extremes *x, enum side side)
{
	struct summary_goroutine g;
	int err = 0;

	for (uint64_t i = 0; !err && i < x->each; i++) {
		err = summary__unpack(record_store__get(all->store, place(all, side, i)), &g);
		if (err)
			break;
		err = add_stats(x, side, &g.stats);
		summary_stats__deinit(&g.stats);
	}
	return err;
}

static uint64_t count_each(const struct goroutines *all)
{
	uint64_t n = record_store__count(all->store);
	uint64_t each = all->extremes_percent ?
				n / 100 * all->extremes + n % 100 * all->extremes / 100 :
				all->extremes;

	if (!each)
		each = 1;
	return each < n / 2 ? each : n / 2;
}

/* ---- the table ---- */

/* a line: a part of the time of both groups */
struct line {
	const struct amounts *amounts;
	const char *what;
	struct trace_string detail;
	size_t number;
};

static int most_different_first(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int64_t x = difference(a->amounts), y = difference(b->amounts);

	if (x != y)
		return x > y ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Figures are means of the goroutines of a group. */
static void put_line(struct out *o, const struct extremes *x, const struct line *line)
{
	const struct amounts *a = line->amounts;
	int64_t each = (int64_t)x->each;

	if (!a->ns[SLOWEST] && !a->ns[FASTEST])
		return;
	table__time(o, a->ns[SLOWEST] / each, TABLE_TIME + 2);
	table__time(o, a->ns[FASTEST] / each, TABLE_TIME + 2);
	table__time(o, difference(a) / each, TABLE_TIME + 3);
	table__share(o, difference(a), difference(&x->total));
	out__text(o, "  ");
	out__text(o, line->what);
	out__unicode(o, line->detail.data, line->detail.len);
	out__char(o, '\n');
}

static int put_lines(struct out *o, const struct goroutines *all, const struct extremes *x)
{
	static const struct trace_string nothing = { "", 0 };
	struct line *lines = calloc(PARTS + x->n, sizeof(*lines));
	size_t n = 0;

	if (!lines)
		return -ENOMEM;
	for (; n < PARTS; n++)
		lines[n] = (struct line){ &x->part[n], parts[n].text, nothing, n };
	for (size_t i = 0; i < x->n; i++, n++)
		lines[n] = (struct line){ &x->blocked[i].amounts, "blocked: ",
					  summary__kind(all->summary, x->blocked[i].kind), n };
	array__sort(lines, n, sizeof(*lines), most_different_first);
	out__format(o, "\n%11s%11s%12s%8s\n", "SLOWEST", "FASTEST", "DIFFERENCE", "SHARE");
	put_line(o, x, &(struct line){ &x->total, "total", nothing, 0 });
	for (size_t i = 0; i < n; i++)
		put_line(o, x, &lines[i]);
	put_line(o, x,
		 &(struct line){ &x->gc_work, "included in running: mark assists and sweeps",
				 nothing, 0 });
	free(lines);
	return 0;
}

#define IDS_SHOWN 8u

static void put_ids(struct out *o, const struct goroutines *all, const struct extremes *x,
		    enum side side)
{
	struct summary_goroutine g;

	out__format(o, "the %" PRIu64 " %s: ", x->each, side == SLOWEST ? "slowest" : "fastest");
	for (uint64_t i = 0; i < x->each && i < IDS_SHOWN; i++) {
		if (summary__unpack(record_store__get(all->store, place(all, side, i)), &g))
			break;
		out__format(o, "%sg%" PRIu64, i ? ", " : "", g.id);
		summary_stats__deinit(&g.stats);
	}
	out__text(o, x->each > IDS_SHOWN ? ", ...\n" : "\n");
}

static int put_table(const struct goroutines *all, const struct extremes *x)
{
	struct out *o = out__table();
	int err;

	out__unicode(o, all->function, strlen(all->function));
	out__format(o, ": %zu goroutines from creation to end", record_store__count(all->store));
	if (all->incomplete)
		out__format(o, "; %" PRIu64 " others are left out", all->incomplete);
	out__char(o, '\n');
	for (enum side side = 0; side < SIDES; side++)
		put_ids(o, all, x, side);
	err = put_lines(o, all, x);
	if (!err)
		out__flush(o);
	return err;
}

/* ---- JSON ---- */

static void put_json_part(struct json *j, const char *part, const struct trace_string *reason,
			  const struct amounts *a)
{
	json__open(j, NULL, '{');
	json__string(j, "part", part);
	if (reason)
		json__bytes(j, "reason", reason->data, reason->len);
	else
		json__null(j, "reason");
	json__i64(j, "slowest", a->ns[SLOWEST]);
	json__i64(j, "fastest", a->ns[FASTEST]);
	json__close(j, '}');
}

static void put_json_ids(struct json *j, const struct goroutines *all, const struct extremes *x,
			 enum side side)
{
	struct summary_goroutine g;

	json__open(j, side == SLOWEST ? "slowest" : "fastest", '[');
	for (uint64_t i = 0; i < x->each; i++) {
		if (summary__unpack(record_store__get(all->store, place(all, side, i)), &g))
			break;
		json__open(j, NULL, '{');
		json__u64(j, "id", g.id);
		json__i64(j, "created", g.created);
		json__i64(j, "total", g.stats.total);
		json__close(j, '}');
		summary_stats__deinit(&g.stats);
	}
	json__close(j, ']');
}

static void put_json(const struct goroutines *all, const struct extremes *x)
{
	struct trace_string reason;
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__i64(&j, "start", all->start);
	json__i64(&j, "end", all->end);
	json__string(&j, "function", all->function);
	json__u64(&j, "complete", record_store__count(all->store));
	json__u64(&j, "incomplete", all->incomplete);
	for (enum side side = 0; side < SIDES; side++)
		put_json_ids(&j, all, x, side);
	json__open(&j, "parts", '[');
	put_json_part(&j, "total", NULL, &x->total);
	for (unsigned int i = 0; i < (summary__has_gaps(all->summary) ? PARTS : PART_LOST); i++)
		put_json_part(&j, parts[i].key, NULL, &x->part[i]);
	for (size_t i = 0; i < x->n; i++) {
		reason = summary__kind(all->summary, x->blocked[i].kind);
		put_json_part(&j, "block", &reason, &x->blocked[i].amounts);
	}
	put_json_part(&j, "gc_work", NULL, &x->gc_work);
	json__close(&j, ']');
	json__close(&j, '}');
}

int extremes__print(const struct goroutines *all, bool json)
{
	struct extremes x = { .each = count_each(all) };
	int err = add_side(all, &x, SLOWEST);

	if (!err)
		err = add_side(all, &x, FASTEST);
	if (!err && json)
		put_json(all, &x);
	else if (!err)
		err = put_table(all, &x);
	free(x.blocked);
	return err;
}

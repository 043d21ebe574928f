// SPDX-License-Identifier: GPL-2.0
/* The mutations of mutations.h, one function each, and the table from which they are chosen. */
#include "mutations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

struct mutation {
	struct sim_run *run;
	uint64_t rng;
	uint64_t before; /* later records are not mutated */
	char text[96];
	int error;
};

static uint64_t below(struct mutation *mu, uint64_t n)
{
	return rng__below(&mu->rng, n);
}

static void drop_if(struct mutation *mu, bool (*lost)(void *ctx, const struct sim_entry *e),
		    void *ctx)
{
	struct sim_run *run = mu->run;
	struct sim_lost *bigger = reallocarray(run->lost, run->nlost + run->n, sizeof(*bigger));
	size_t to = 0;

	if (!bigger) {
		mu->error = -ENOMEM;
		return;
	}
	run->lost = bigger;
	for (size_t i = 0; i < run->n; i++) {
		const struct sim_entry *e = &run->entry[i];

		if (e->at >= mu->before || !lost(ctx, e))
			run->entry[to++] = *e;
		else
			run->lost[run->nlost++] = (struct sim_lost){ e->at, e->rec.kind };
	}
	run->n = to;
}

struct every_nth {
	unsigned int kind, n, count;
};

static bool is_nth(void *ctx, const struct sim_entry *e)
{
	struct every_nth *x = ctx;

	return e->rec.kind == x->kind && ++x->count % x->n == 0;
}

static void drop_nth_of_kind(struct mutation *mu)
{
	struct every_nth x = { .n = 1 + below(mu, 12) };

	do
		x.kind = 1 + below(mu, GT_KIND_END - 1);
	while (gt_payload_size(x.kind) < 0);
	drop_if(mu, is_nth, &x);
	snprintf(mu->text, sizeof(mu->text), "drop every %u. of kind %u", x.n, x.kind);
}

struct chance {
	struct mutation *mu;
	unsigned int one_in;
};

static bool is_unlucky(void *ctx, const struct sim_entry *e)
{
	struct chance *x = ctx;

	(void)e;
	return rng__chance(&x->mu->rng, x->one_in);
}

static void drop_some(struct mutation *mu)
{
	struct chance x = { mu, 2u << below(mu, 9) };

	drop_if(mu, is_unlucky, &x);
	snprintf(mu->text, sizeof(mu->text), "drop one in %u", x.one_in);
}

struct burst {
	uint64_t from, to;
	int ring; /* -1: all */
};

static bool in_burst(void *ctx, const struct sim_entry *e)
{
	struct burst *x = ctx;

	return e->at >= x->from && e->at < x->to &&
	       (x->ring < 0 || (unsigned int)x->ring == e->ring);
}

static void drop_bursts(struct mutation *mu)
{
	unsigned int n = 1 + below(mu, 4);

	for (unsigned int i = 0; i < n && mu->run->n; i++) {
		size_t at = below(mu, mu->run->n), end = at + 1 + below(mu, 200);
		struct burst x = { .from = mu->run->entry[at].at, .ring = (int)below(mu, 5) - 1 };

		x.to = mu->run->entry[end < mu->run->n ? end : mu->run->n - 1].at;
		drop_if(mu, in_burst, &x);
	}
	snprintf(mu->text, sizeof(mu->text), "drop %u bursts", n);
}

static bool of_thread(void *ctx, const struct sim_entry *e)
{
	return e->rec.tid == *(uint32_t *)ctx;
}

static void drop_thread(struct mutation *mu)
{
	uint32_t tid = mu->run->n ? mu->run->entry[below(mu, mu->run->n)].rec.tid : 0;

	drop_if(mu, of_thread, &tid);
	snprintf(mu->text, sizeof(mu->text), "drop thread %u", tid);
}

struct period {
	uint64_t from, to;
	unsigned int ring, tid; /* tid 0: all of the ring */
};

static bool in_period(void *ctx, const struct sim_entry *e)
{
	struct period *x = ctx;

	return e->at >= x->from && e->at < x->to &&
	       (x->tid ? e->rec.tid == x->tid : e->ring == x->ring);
}

/* Loses the records of a ring or a thread for a time. */
static void drop_period(struct mutation *mu)
{
	const struct sim_entry *e = mu->run->entry;
	size_t n = mu->run->n, a = below(mu, n + 1), b = below(mu, n + 1);
	struct period x = {};

	if (!n || a == b)
		return;
	x.from = e[a < b ? a : b].at;
	x.to = a < n && b < n ? e[a < b ? b : a].at : UINT64_MAX;
	x.ring = e[below(mu, n)].ring;
	if (below(mu, 2))
		x.tid = e[below(mu, n)].rec.tid;
	drop_if(mu, in_period, &x);
	snprintf(mu->text, sizeof(mu->text), "drop %s %u for %llu us", x.tid ? "thread" : "ring",
		 x.tid ?: x.ring, (unsigned long long)(x.to - x.from) / 1000);
}

struct phase {
	struct mutation *mu;
	uint64_t from, to;
	unsigned int one_in;
};

static bool in_phase(void *ctx, const struct sim_entry *e)
{
	struct phase *x = ctx;

	return e->at >= x->from && e->at < x->to && rng__chance(&x->mu->rng, x->one_in);
}

/* Loses records around a snapshot, first or later, or around a generation's boundary. */
static void drop_phase(struct mutation *mu)
{
	const struct sim_run *run = mu->run;
	uint64_t at[] = {
		run->t0,
		run->first.time,
		run->second.time,
		run->again[0][0].time,
		run->again[0][1].time,
		run->again[1][0].time,
		run->again[1][1].time,
		run->t0 + 1000000000 * (1 + below(mu, 3)),
	};
	unsigned int which = below(mu, sizeof(at) / sizeof(at[0]));
	uint64_t width = 1000ull << below(mu, 17), early = below(mu, width + 1);
	struct phase x = { mu, at[which] - early, at[which] - early + width, 1 + below(mu, 3) };

	drop_if(mu, in_phase, &x);
	snprintf(mu->text, sizeof(mu->text), "drop one in %u in phase %u for %llu us", x.one_in,
		 which, (unsigned long long)width / 1000);
}

/* By at most the difference of CPUs' clocks, which the hold-back corrects. */
static void swap_neighbours(struct mutation *mu)
{
	unsigned int one_in = 1 + below(mu, 10);

	for (size_t i = 0; i + 1 < mu->run->n; i++) {
		struct gt_record *a = &mu->run->entry[i].rec, *b = &mu->run->entry[i + 1].rec;
		uint64_t time = a->time;

		if (!rng__chance(&mu->rng, one_in) || a->tid == b->tid ||
		    b->time - a->time > 2000 || mu->run->entry[i + 1].at >= mu->before)
			continue;
		a->time = b->time;
		b->time = time;
	}
	snprintf(mu->text, sizeof(mu->text), "swap the times of one in %u neighbours", one_in);
}

static void drop_end(struct mutation *mu)
{
	mu->run->n = below(mu, mu->run->n + 1);
	snprintf(mu->text, sizeof(mu->text), "only the first %zu", mu->run->n);
}

/* The copy follows at once, or after up to 100 other records. */
static void duplicate(struct mutation *mu)
{
	struct sim_run *run = mu->run;
	unsigned int one_in = 2u << below(mu, 9), span = below(mu, 2) ? 1 : 100;
	struct sim_entry *entry = malloc((2 * run->n + 1) * sizeof(*entry));
	size_t n = 0;

	snprintf(mu->text, sizeof(mu->text), "send one in %u twice within %u", one_in, span);
	if (!entry) {
		mu->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < run->n; i++) {
		size_t back = below(mu, span);

		entry[n++] = run->entry[i];
		if (!rng__chance(&mu->rng, one_in))
			continue;
		entry[n] = run->entry[i >= back ? i - back : 0];
		entry[n].at = entry[n - 1].at;
		if (below(mu, 2))
			entry[n].rec.time = entry[n - 1].rec.time + 1;
		n++;
	}
	free(run->entry);
	run->entry = entry;
	run->n = n;
	run->cap = 2 * n + 1;
}

static void reorder(struct mutation *mu)
{
	struct sim_run *run = mu->run;
	unsigned int window = 2u << below(mu, 6), one_in = 1 + below(mu, 20);

	for (size_t i = 0; i + window < run->n; i++) {
		struct sim_entry *a = &run->entry[i], *b = a + below(mu, window), old = *a;

		if (!rng__chance(&mu->rng, one_in))
			continue;
		*a = *b;
		*b = old;
	}
	snprintf(mu->text, sizeof(mu->text), "swap one in %u within %u", one_in, window);
}

static void shift_times(struct mutation *mu)
{
	unsigned int one_in = 1 + below(mu, 50);
	uint64_t span = 1ull << (8 + below(mu, 25));

	for (size_t i = 0; i < mu->run->n; i++)
		if (rng__chance(&mu->rng, one_in))
			mu->run->entry[i].rec.time += below(mu, span) - span / 2;
	snprintf(mu->text, sizeof(mu->text), "shift the time of one in %u by %llu ns", one_in,
		 (unsigned long long)span / 2);
}

static void swap_times(struct mutation *mu)
{
	unsigned int one_in = 1 + below(mu, 50), window = 2u << below(mu, 6);

	for (size_t i = 0; i + window < mu->run->n; i++) {
		struct gt_record *a = &mu->run->entry[i].rec;
		struct gt_record *b = &mu->run->entry[i + below(mu, window)].rec;
		uint64_t time = a->time;

		if (!rng__chance(&mu->rng, one_in))
			continue;
		a->time = b->time;
		b->time = time;
	}
	snprintf(mu->text, sizeof(mu->text), "swap the times of one in %u within %u", one_in,
		 window);
}

static void corrupt_bytes(struct mutation *mu)
{
	unsigned int one_in = 1u << below(mu, 11);

	for (size_t i = 0; i < mu->run->n; i++) {
		struct sim_entry *e = &mu->run->entry[i];
		unsigned char *bytes = below(mu, 2) ? (unsigned char *)&e->rec : e->payload;

		if (rng__chance(&mu->rng, one_in))
			bytes[below(mu, sizeof(e->rec))] ^= 1u << below(mu, 8);
	}
	snprintf(mu->text, sizeof(mu->text), "flip a bit of one in %u", one_in);
}

/* A field gets the value of the same field of another record, and so a plausible one. */
static void collide(struct mutation *mu)
{
	unsigned int one_in = 1u << below(mu, 11), what = below(mu, 7);

	for (size_t i = 0; i < mu->run->n; i++) {
		struct sim_entry *e = &mu->run->entry[i];
		const struct sim_entry *from = &mu->run->entry[below(mu, mu->run->n)];

		if (e->rec.kind == GT_STACK || !rng__chance(&mu->rng, one_in))
			continue;
		switch (what == 6 ? below(mu, 6) : what) {
		case 0:
			e->rec.object = from->rec.object;
			break;
		case 1:
			e->rec.tid = from->rec.tid;
			break;
		case 2:
			memcpy(e->payload, from->payload, 8);
			break;
		case 3:
			memcpy(e->payload, from->payload, 24);
			break;
		case 4:
			e->rec.stack = from->rec.stack;
			break;
		case 5:
			e->rec.kind = from->rec.kind;
			e->size = from->size;
			break;
		}
	}
	snprintf(mu->text, sizeof(mu->text), "field %u of one in %u from another record", what,
		 one_in);
}

static void extreme_fields(struct mutation *mu)
{
	static const uint64_t values[] = {
		0,	    1,		UINT64_MAX,	  1ull << 63, UINT64_MAX >> 1,
		1ull << 32, UINT32_MAX, 5000000000000ull,
	};
	unsigned int one_in = 4u << below(mu, 8);

	for (size_t i = 0; i < mu->run->n; i++) {
		struct sim_entry *e = &mu->run->entry[i];
		uint64_t v = values[below(mu, 8)];

		if (!rng__chance(&mu->rng, one_in))
			continue;
		switch (below(mu, 8)) {
		case 0:
			e->rec.object = v;
			break;
		case 1:
			e->rec.tid = v;
			break;
		case 2:
			e->rec.time = v;
			break;
		case 3:
			e->rec.stack = v;
			break;
		case 4:
			e->rec.seq = v;
			break;
		case 5:
			e->rec.kind = v;
			break;
		case 6:
			e->size = below(mu, 4) ? below(mu, 100) : 0;
			break;
		case 7:
			memcpy(e->payload + 8 * below(mu, 3), &v, 8);
			break;
		}
	}
	snprintf(mu->text, sizeof(mu->text), "an extreme value in one in %u", one_in);
}

static void cut_snapshot(struct mutation *mu)
{
	struct snapshot *snap = below(mu, 2) ? &mu->run->first : &mu->run->second;

	switch (below(mu, 4)) {
	case 0:
		snap->ng = below(mu, snap->ng + 1);
		break;
	case 1:
		snap->nm = below(mu, snap->nm + 1);
		break;
	case 2:
		snap->np = below(mu, snap->np + 1);
		break;
	default:
		snap->time = snap->time_end = 0;
		break; /* not passed at all */
	}
	snprintf(mu->text, sizeof(mu->text), "cut the %s snapshot",
		 snap == &mu->run->first ? "first" : "second");
}

static void no_snapshots(struct mutation *mu)
{
	mu->run->first.time_end = mu->run->second.time_end = 0;
	snprintf(mu->text, sizeof(mu->text), "no snapshots");
}

/* A snapshot of the first pair, or of a pair after a loss. */
static struct snapshot *any_snapshot(struct mutation *mu)
{
	struct sim_run *run = mu->run;

	switch (below(mu, 4)) {
	case 0:
		return &run->first;
	case 1:
		return &run->second;
	default:
		return &run->again[below(mu, SIM_PAIRS)][below(mu, 2)];
	}
}

static void break_snapshot(struct mutation *mu)
{
	struct snapshot *snap = any_snapshot(mu);
	struct {
		unsigned char *at;
		size_t len;
	} part[] = {
		{ (void *)snap->g, snap->ng * sizeof(*snap->g) },
		{ (void *)snap->m, snap->nm * sizeof(*snap->m) },
		{ (void *)snap->p, snap->np * sizeof(*snap->p) },
		{ (void *)snap->stacks, snap->nstacks * sizeof(*snap->stacks) },
	};
	unsigned int n = 1 + below(mu, 20);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int k = below(mu, sizeof(part) / sizeof(*part));
		size_t from = below(mu, part[k].len / 8), to = below(mu, part[k].len / 8);

		if (!part[k].len)
			continue;
		if (below(mu, 2))
			part[k].at[below(mu, part[k].len)] ^= 1u << below(mu, 8);
		else
			memmove(part[k].at + to * 8, part[k].at + from * 8, 8);
	}
	snprintf(mu->text, sizeof(mu->text), "break %u fields of a snapshot", n);
}

static void (*const mutations[])(struct mutation *mu) = {
	drop_nth_of_kind, drop_nth_of_kind, drop_some,	   drop_bursts,	   drop_bursts,
	drop_thread,	  drop_end,	    duplicate,	   reorder,	   shift_times,
	swap_times,	  corrupt_bytes,    corrupt_bytes, collide,	   collide,
	extreme_fields,	  cut_snapshot,	    no_snapshots,  break_snapshot,
};

static void (*const losses[])(struct mutation *mu) = {
	drop_nth_of_kind, drop_nth_of_kind, drop_nth_of_kind, drop_some,  drop_bursts,
	drop_period,	  drop_period,	    swap_neighbours,  drop_phase, drop_phase,
};

static int apply(struct mutation *mu, void (*const *what)(struct mutation *mu), size_t kinds,
		 char *text, size_t size)
{
	unsigned int n = 1 + below(mu, 3);
	size_t len = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < n && !mu->error && mu->run->n; i++) {
		mu->text[0] = 0;
		what[below(mu, kinds)](mu);
		len += snprintf(text + len, size - len, "%s%s", i ? "; " : "", mu->text);
		if (len >= size)
			len = size - 1;
	}
	return mu->error;
}

int mutate_run(struct sim_run *run, uint64_t seed, char *text, size_t size)
{
	struct mutation mu = { .run = run, .rng = seed, .before = UINT64_MAX };

	return apply(&mu, mutations, sizeof(mutations) / sizeof(mutations[0]), text, size);
}

int lose_run(struct sim_run *run, uint64_t before, uint64_t seed, char *text, size_t size)
{
	struct mutation mu = { .run = run, .rng = seed, .before = before };

	return apply(&mu, losses, sizeof(losses) / sizeof(losses[0]), text, size);
}

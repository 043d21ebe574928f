// SPDX-License-Identifier: GPL-2.0
/*
 * The TSC and CLOCK_MONOTONIC: see inline_clock.h.
 *
 * The kernel computes CLOCK_MONOTONIC from the TSC, at a rate that it adjusts by at most 500 ppm;
 * a segment between two pairs follows it. A slope is a fixed-point number with 60 fractional bits:
 * the result is exact to 1 ns for a distance of up to 2^60 cycles, and up to 15 ns per cycle fit.
 */
#include <cpuid.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#include "inline/inline_clock.h"
#include "lib/clock.h"
#include "lib/buf.h"

#define SOURCE	     "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define TRIES	     5
#define APART	     1000000ull /* ns between two pairs */
#define SLOPE_SHIFT  60
#define HAS_RDTSCP   (1u << 27) /* CPUID 0x80000001, EDX */
#define IS_INVARIANT (1u << 8)	/* CPUID 0x80000007, EDX: Linux's constant_tsc and nonstop_tsc */
#define ADVICE	     "record with --probes=uprobe"

__extension__ typedef unsigned __int128 u128;

static int check_source(struct error *error)
{
	char name[32] = "unknown";
	FILE *f = fopen(SOURCE, "re");

	if (f) {
		if (!fgets(name, sizeof(name), f))
			strcpy(name, "unknown");
		fclose(f);
	}
	name[strcspn(name, "\n")] = '\0';
	if (!strcmp(name, "tsc"))
		return 0;
	return error__set(error, -ENOTSUP,
			  "inline probes require the clock source 'tsc', but this machine uses "
			  "'%s'; " ADVICE,
			  name);
}

static int check_cpu(struct error *error)
{
	unsigned int a, b, c, features = 0, power = 0;

	if (!__get_cpuid(0x80000001, &a, &b, &c, &features))
		features = 0;
	if (!__get_cpuid(0x80000007, &a, &b, &c, &power))
		power = 0;
	if (!(features & HAS_RDTSCP))
		return error__set(error, -ENOTSUP,
				  "inline probes require the RDTSCP instruction, which this CPU "
				  "lacks; " ADVICE);
	if (!(power & IS_INVARIANT))
		return error__set(error, -ENOTSUP,
				  "inline probes require a TSC of constant rate that never stops "
				  "(constant_tsc, nonstop_tsc), which this CPU does not "
				  "report; " ADVICE);
	return 0;
}

/* Pair number `n`, which is still stored. */
static const struct clock_pair *pair_at(const struct inline_clock *c, uint64_t n)
{
	return &c->pair[n % INLINE_CLOCK_PAIRS];
}

static uint64_t oldest(const struct inline_clock *c)
{
	return c->n > INLINE_CLOCK_PAIRS ? c->n - INLINE_CLOCK_PAIRS : 0;
}

/* After the pair. Rounded down: a segment never ends above the pair that follows it. */
static uint64_t forward(const struct clock_pair *p, uint64_t slope, uint64_t tsc)
{
	u128 ns = ((u128)(tsc - p->tsc) * slope >> SLOPE_SHIFT) + p->ns;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Before the pair. */
static uint64_t backward(const struct clock_pair *p, uint64_t slope, uint64_t tsc)
{
	u128 round = ((u128)1 << SLOPE_SHIFT) - 1;
	u128 ns = ((u128)(p->tsc - tsc) * slope + round) >> SLOPE_SHIFT;

	return ns > p->ns ? 0 : p->ns - (uint64_t)ns;
}

/* The narrowest of several readings: the others were interrupted between their two TSCs. */
static struct clock_pair read_pair(uint64_t *ret_width)
{
	struct clock_pair best = {};
	uint64_t width = UINT64_MAX;
	unsigned int aux;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtscp(&aux), ns = clock__now(), after = __rdtscp(&aux);

		if (after - before >= width)
			continue;
		width = after - before;
		best.tsc = before + width / 2;
		best.ns = ns;
	}
	*ret_width = width;
	return best;
}

static void note_error(struct inline_clock *c, uint64_t error)
{
	if (error > c->error)
		c->error = error;
}

void inline_clock__add(struct inline_clock *c, uint64_t tsc, uint64_t ns, uint64_t bound)
{
	struct clock_pair *last = c->n ? &c->pair[(c->n - 1) % INLINE_CLOCK_PAIRS] : NULL;
	uint64_t expected;
	u128 slope;

	if (last && (tsc <= last->tsc || ns <= last->ns))
		return;
	slope = last ? ((u128)(ns - last->ns) << SLOPE_SHIFT) / (tsc - last->tsc) : 0;
	if (slope > UINT64_MAX)
		return;
	if (c->n >= 2) {
		expected = forward(last, pair_at(c, c->n - 2)->slope, tsc);
		note_error(c, expected > ns ? expected - ns : ns - expected);
	}
	if (last)
		last->slope = (uint64_t)slope;
	c->pair[c->n++ % INLINE_CLOCK_PAIRS] =
		(struct clock_pair){ .tsc = tsc, .ns = ns, .bound = bound };
	note_error(c, bound);
}

/* Half the width of a reading, at the rate of the last segment. */
static uint64_t bound_of(const struct inline_clock *c, uint64_t width, const struct clock_pair *now)
{
	const struct clock_pair *last = c->n ? pair_at(c, c->n - 1) : NULL;

	if (!last || now->tsc <= last->tsc || now->ns <= last->ns)
		return 0;
	return (uint64_t)((u128)(width / 2) * (now->ns - last->ns) / (now->tsc - last->tsc)) + 1;
}

void inline_clock__sample(struct inline_clock *c)
{
	struct clock_pair now;
	uint64_t width;

	if (c->n && clock__now() < pair_at(c, c->n - 1)->ns + APART)
		return;
	now = read_pair(&width);
	inline_clock__add(c, now.tsc, now.ns, bound_of(c, width, &now));
}

int inline_clock__init(struct inline_clock *c, struct error *error)
{
	int err = check_source(error);

	if (!err)
		err = check_cpu(error);
	if (err)
		return err;
	memset(c, 0, sizeof(*c));
	while (c->n < 2)
		inline_clock__sample(c);
	return 0;
}

/* The last pair at or before `tsc` of those that begin a segment; the oldest if there is none. */
static uint64_t find_segment(const struct inline_clock *c, uint64_t tsc)
{
	uint64_t low = oldest(c), high = c->n - 2, middle;

	if (tsc >= pair_at(c, high)->tsc)
		return high; /* nearly always */
	while (low < high) {
		PARSER_STEPS(1);
		middle = low + (high - low + 1) / 2;
		if (pair_at(c, middle)->tsc <= tsc)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

uint64_t inline_clock__ns(const struct inline_clock *c, uint64_t tsc)
{
	uint64_t n = find_segment(c, tsc);
	const struct clock_pair *p = pair_at(c, n), *next = pair_at(c, n + 1);

	if (tsc < p->tsc)
		return backward(p, p->slope, tsc);
	return tsc < next->tsc ? forward(p, p->slope, tsc) : forward(next, p->slope, tsc);
}

uint64_t inline_clock__error_ns(const struct inline_clock *c)
{
	return c->error;
}

void inline_clock__fence(void)
{
	_mm_lfence();
}

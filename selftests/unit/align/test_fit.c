// SPDX-License-Identifier: GPL-2.0
/* Two clocks fitted by switches: a simulated machine, recorded twice, with what real recordings have. */
#include <math.h>

#include "unit/test.h"
#include "align/fit.h"

#define SECOND 1000000000ll

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % below;
}

/* How the two recordings differ. */
struct differ {
	size_t n;     /* switches of the machine */
	uint64_t gap; /* between them, ns, at most */
	int threads;
	int64_t offset;	   /* theirs + offset = ours, in the beginning */
	double drift;	   /* of theirs, in a ns */
	uint64_t jitter;   /* ns: of each stamp */
	unsigned int lost; /* in a thousand, of either */
	double from, to;   /* theirs covers that part */
	bool periodic;
	uint64_t wobble;   /* ns, of a period */
	unsigned int late; /* in a thousand of theirs: by 3 us */
};

struct both {
	struct fit_switch *ours, *theirs;
	size_t nours, ntheirs;
};

static int by_time(const void *a, const void *b)
{
	const struct fit_switch *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static const uint64_t beginning = 3600 * SECOND;

static uint64_t their_time(const struct differ *d, uint64_t time)
{
	return time - (uint64_t)d->offset -
	       (uint64_t)llround((double)(time - beginning) * d->drift);
}

static struct both record(const struct differ *d)
{
	struct both b = { malloc(d->n * sizeof(*b.ours)), malloc(d->n * sizeof(*b.theirs)), 0, 0 };
	uint64_t time = beginning;
	uint32_t running[2] = {}, next;
	struct fit_switch s;
	int cpu;

	for (size_t i = 0; i < d->n; i++) {
		cpu = d->periodic ? 0 : (int)rnd(2);
		next = running[cpu] ?
			       0 :
			       1000 + (uint32_t)(d->periodic ? 0 : rnd((uint64_t)d->threads));
		time += d->periodic ? d->gap + rnd(d->wobble + 1) : 2000 + rnd(d->gap);
		s = (struct fit_switch){ time, running[cpu], next, (uint16_t)cpu };
		running[cpu] = next;
		if (rnd(1000) >= d->lost) {
			b.ours[b.nours] = s;
			b.ours[b.nours++].time += rnd(d->jitter + 1);
		}
		if (rnd(1000) >= d->lost && i >= d->from * (double)d->n &&
		    i < d->to * (double)d->n) {
			s.time = their_time(d, time) + rnd(d->jitter + 1);
			if (d->late && rnd(1000) < d->late)
				s.time += 3000;
			b.theirs[b.ntheirs++] = s;
		}
	}
	qsort(b.ours, b.nours, sizeof(s), by_time);
	qsort(b.theirs, b.ntheirs, sizeof(s), by_time);
	return b;
}

static void forget(struct both *b)
{
	free(b->ours);
	free(b->theirs);
}

/* Everywhere in what both cover, the fit is as good as the stamps are. */
static void finds(struct differ d)
{
	struct both b = record(&d);
	struct error err = {};
	struct fit fit;
	uint64_t time;
	int64_t wrong;

	if (fit__clock(&fit, b.ours, b.nours, b.theirs, b.ntheirs, &err))
		fail_msg("%s", err.text);
	for (int part = 0; part <= 10; part++) {
		time = beginning + (uint64_t)((d.from + (d.to - d.from) * part / 10) *
					      (double)(b.ours[b.nours - 1].time - beginning));
		wrong = (int64_t)(fit__time(&fit, their_time(&d, time)) - time);
		if (llabs(wrong) > 300 + (int64_t)d.jitter / 2)
			fail_msg("wrong by %lld ns in part %d", (long long)wrong, part);
	}
	assert_true(fit.p50 <= d.jitter);
	assert_true(fit.p99 <= d.jitter + 1);
	assert_true(fit.max >= fit.p99 && fit.p99 >= fit.p50);
	assert_true(fit.matched >=
		    0.9 * pow(1 - d.lost / 1000., 2) * (d.to - d.from) * (double)d.n);
	assert_true(fit.matched <= fit.in_ours && fit.matched <= fit.in_theirs);
	assert_true(fit__agrees(&fit));
	forget(&b);
}

static const struct differ usual = {
	.n = 20000, .gap = 400000, .threads = 6, .jitter = 1000, .to = 1
};

TEST(offset_and_drift)
{
	static const int64_t offsets[] = { 0, 1, 5 * SECOND, -3000 * SECOND, 100000 * SECOND };
	static const double drifts[] = { 0, 1e-6, 100e-6, -100e-6, 400e-6 };
	struct differ d = usual;

	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 5; k++) {
			d.offset = offsets[i];
			d.drift = drifts[k];
			finds(d);
		}
}

TEST(losses_on_both_sides)
{
	struct differ d = usual;

	d.offset = 7777 * SECOND;
	d.drift = 20e-6;
	for (d.lost = 10; d.lost <= 250; d.lost += 60)
		finds(d);
}

TEST(windows_that_overlap_little)
{
	struct differ d = usual;

	d.offset = -50 * SECOND;
	d.drift = -30e-6;
	d.from = 0.9;
	finds(d);
	d.from = 0;
	d.to = 0.1;
	finds(d);
	d.n = 2000; /* two hundred switches in it */
	finds(d);
}

/* One thread that sleeps and wakes: the same two switches all the time; only gaps tell. */
TEST(one_pattern)
{
	struct differ d = usual;

	d.threads = 1;
	d.offset = 123 * SECOND + 456;
	finds(d);
	d.gap = 20000; /* some of the gaps are as long as others */
	finds(d);
	d.lost = 100;
	d.drift = 50e-6;
	finds(d);
}

TEST(few)
{
	struct differ d = usual;

	d.n = 60;
	d.offset = -1;
	finds(d);
}

TEST(hours)
{
	struct differ d = usual;

	d.gap = 400000000; /* 20000 switches in an hour */
	d.drift = 100e-6;
	d.offset = 9999 * SECOND;
	finds(d);
}

static void refused(struct both *b, int code, const char *reason)
{
	struct error err = {};
	struct fit fit;

	assert_int_equal(fit__clock(&fit, b->ours, b->nours, b->theirs, b->ntheirs, &err), code);
	if (!strstr(err.text, reason))
		fail_msg("%s", err.text);
	assert_non_null(strstr(err.text, "CLOCK_MONOTONIC"));
}

/* A clock that ticks: whichever tick is taken for which, all of them meet. */
TEST(no_periodic_pattern)
{
	struct differ d = { .n = 5000, .gap = 1000000, .jitter = 200, .to = 1, .periodic = true };
	struct both b = record(&d);

	refused(&b, -ENOTUNIQ, "fit equally well");
	forget(&b);
	d.lost = 50;
	b = record(&d);
	refused(&b, -ENOTUNIQ, "fit equally well");
	forget(&b);
}

/* A ticker of a real program, whose timer is late by some microseconds. */
TEST(an_almost_periodic_pattern)
{
	struct differ d = { .n = 5000, .gap = 1000000, .jitter = 500, .to = 1, .periodic = true };

	d.offset = 42 * SECOND;
	for (d.wobble = 10000; d.wobble <= 160000; d.wobble *= 2)
		finds(d);
	d.lost = 50;
	d.drift = 30e-6;
	finds(d);
	d.from = 0.5;
	finds(d);
}

TEST(no_other_machine)
{
	struct differ d = usual;
	struct both b = record(&d), c = record(&d);
	struct both mixed = { b.ours, c.theirs, b.nours, c.ntheirs };

	refused(&mixed, -ENODATA, "in common");
	forget(&b);
	forget(&c);
}

/* No run of any length is on both sides. */
TEST(no_other_threads)
{
	struct both b = record(&usual);

	for (size_t i = 0; i < b.ntheirs; i++) {
		b.theirs[i].prev += 10000;
		b.theirs[i].next += 10000;
	}
	refused(&b, -ENODATA, "in common");
	forget(&b);
}

TEST(no_bad_clock)
{
	struct differ d = usual;
	struct both b;

	d.jitter = 25000;
	d.gap = 4000000;
	b = record(&d);
	refused(&b, -EDOM, "deviates by more than");
	forget(&b);
}

TEST(no_few)
{
	struct differ d = usual;
	struct both b;

	d.n = 31;
	b = record(&d);
	refused(&b, -ENODATA, "too few");
	b.ntheirs = 0;
	refused(&b, -ENODATA, "too few");
	forget(&b);
}

/* The line goes through the middle of the stamps: if fewer than half of them are late, it ignores those. */
TEST(late_stamps)
{
	struct differ d = usual;
	struct error err = {};
	struct both b;
	struct fit fit;

	d.jitter = 200;
	d.late = 400;
	d.offset = 5 * SECOND;
	b = record(&d);
	if (fit__clock(&fit, b.ours, b.nours, b.theirs, b.ntheirs, &err))
		fail_msg("%s", err.text);
	assert_true(llabs(fit__offset(&fit) - d.offset) < 300);
	forget(&b);
}

/* No quartz is wrong by a thousandth: such a line is a coincidence, however well it fits. */
TEST(no_drift_of_a_thousandth)
{
	struct differ d = usual;
	struct both b;

	d.drift = 900e-6;
	finds(d);
	for (int sign = -1; sign <= 1; sign += 2) {
		d.drift = sign * 1200e-6;
		b = record(&d);
		refused(&b, -ENODATA, "in common");
		forget(&b);
	}
}

enum { TICKS = 4200 };

/* A thread that ticks, each millisecond from `time` on. Its first two switches are to another one and back. */
static void put_ticks(struct fit_switch *at, uint64_t time)
{
	for (uint32_t i = 0; i < TICKS; i++) {
		uint32_t tid = i < 2 ? 1001 : 1000;

		at[i] = (struct fit_switch){ time + i * 1000000ull, i % 2 ? tid : 0,
					     i % 2 ? 0 : tid, 2 };
	}
}

/*
 * Each tick looks like any other: more pairs of them than are looked at. One side has the ticks before the
 * others' time, the other side behind it, so that none of these pairs is right. The rare runs come first:
 * in the order of hashes, which the two switches in the beginning see to, the ticks would.
 */
TEST(rare_runs_come_first)
{
	struct differ d = usual;
	struct error err = {};
	struct both b;
	struct fit fit;

	d.n = 6000;
	d.offset = 5 * SECOND;
	b = record(&d);
	b.ours = reallocarray(b.ours, b.nours + TICKS, sizeof(*b.ours));
	memmove(b.ours + TICKS, b.ours, b.nours * sizeof(*b.ours));
	put_ticks(b.ours, beginning - 6 * SECOND);
	b.nours += TICKS;
	b.theirs = reallocarray(b.theirs, b.ntheirs + TICKS, sizeof(*b.theirs));
	put_ticks(b.theirs + b.ntheirs, b.theirs[b.ntheirs - 1].time + SECOND);
	b.ntheirs += TICKS;
	if (fit__clock(&fit, b.ours, b.nours, b.theirs, b.ntheirs, &err))
		fail_msg("%s", err.text);
	assert_true(llabs(fit__offset(&fit) - d.offset) < 1000);
	forget(&b);
}

TEST(compares_one_clock)
{
	struct differ d = usual;
	struct both b = record(&d);
	struct fit fit;

	assert_int_equal(fit__compare(&fit, b.ours, b.nours, b.theirs, b.ntheirs), 0);
	assert_true(fit__agrees(&fit));
	assert_true(fit.matched > d.n * 99 / 100);
	assert_true(fit.p99 <= 1000);
	assert_int_equal(fit__offset(&fit), 0);
	forget(&b);
	d.offset = SECOND;
	b = record(&d);
	assert_int_equal(fit__compare(&fit, b.ours, b.nours, b.theirs, b.ntheirs), 0);
	assert_false(fit__agrees(&fit));
	assert_int_equal(fit__compare(&fit, b.ours, 0, b.theirs, b.ntheirs), 0);
	assert_int_equal(fit.matched, 0);
	forget(&b);
}

/* The first of both was theirs a bit earlier, the last a bit later: neither is one of the time of both. */
TEST(counts_what_both_cover)
{
	struct fit_switch ours[40], theirs[40];
	struct fit fit;

	for (size_t i = 0; i < 40; i++) {
		ours[i] = (struct fit_switch){ SECOND + 1000000 * i, 0, 1000 + (uint32_t)i, 0 };
		theirs[i] = ours[i];
	}
	theirs[0].time -= 300;
	theirs[39].time += 300;
	assert_int_equal(fit__compare(&fit, ours, 40, theirs, 40), 0);
	assert_int_equal(fit.in_ours, 40);
	assert_int_equal(fit.in_theirs, 38);
	assert_int_equal(fit.matched, 38);
	assert_int_equal(fit.max, 300);
}

static int setup(void **state)
{
	random_state = 20261121;
	return 0;
}

FIXTURE(setup, NULL)

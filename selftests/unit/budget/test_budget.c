// SPDX-License-Identifier: GPL-2.0
/*
 * The controller of --max-overhead against simulated loads: the cost over any 10 s, what is shed and
 * in which order, hysteresis, pauses. The sums over 10 s are made here from each step's cost, not from
 * the controller's.
 */
#include "unit/test.h"
#include "budget/budget.h"

#define MS	 1000000ull
#define SECOND	 (1000 * MS)
#define STEP	 (10 * MS)
#define STEPS_10 (10 * SECOND / STEP)
#define MOST	 (600 * SECOND / STEP)
#define ALL	 (SITE_SETS_DEFAULT | SITE_SET(SWEEP))

/* Costs of a set as shares of a CPU. */
struct load {
	double base, sweep, heap, kernel;
};

struct run {
	struct budget b;
	struct budget_use use;
	double cost[MOST]; /* ns, of each step */
	unsigned int n;
	unsigned int sets;    /* recorded */
	unsigned int changes; /* of `sets` */
	unsigned int pauses;
	uint64_t detach_ns; /* how long the probes cost after a pause began */
	uint64_t off_at;    /* when the probes are detached; 0: they are attached */
	uint64_t on;	    /* ns for which sets were recorded */
	double target;	    /* CPUs */
};

static struct run *start(double share, bool of_target)
{
	struct run *r = calloc(1, sizeof(*r));
	const struct budget_opts opts = { .share = share, .of_target = of_target, .sets = ALL };

	assert_non_null(r);
	r->use.now = 12345 * MS;
	r->detach_ns = 100 * MS;
	r->sets = ALL;
	r->target = 1;
	budget__init(&r->b, &opts, &r->use);
	return r;
}

static void step(struct run *r, const struct load *load)
{
	bool costs = r->sets || r->use.now < r->off_at;
	unsigned int sets = r->sets ? r->sets : SITE_SET(SCHED), next;
	double ns = (double)STEP, *cost = r->use.cost_ns;

	assert_true(r->n < MOST);
	if (costs) {
		cost[SITE_SCHED] += load->base * ns;
		cost[SITE_SWEEP] += sets & SITE_SET(SWEEP) ? load->sweep * ns : 0;
		cost[SITE_HEAP] += sets & SITE_SET(HEAP) ? load->heap * ns : 0;
		cost[SITE_KERNEL] += sets & SITE_SET(KERNEL) ? load->kernel * ns : 0;
		r->cost[r->n] = load->base * ns + (sets & SITE_SET(SWEEP) ? load->sweep * ns : 0) +
				(sets & SITE_SET(HEAP) ? load->heap * ns : 0) +
				(sets & SITE_SET(KERNEL) ? load->kernel * ns : 0);
	}
	r->n++;
	r->on += r->sets ? STEP : 0;
	r->use.now += STEP;
	r->use.target_ns += (uint64_t)(r->target * ns);
	next = budget__step(&r->b, &r->use);
	if (next == r->sets)
		return;
	r->changes++;
	if (!next) {
		r->pauses++;
		r->off_at = r->use.now + r->detach_ns;
		budget__detached(&r->b, r->detach_ns);
	}
	r->sets = next;
}

static void run_for(struct run *r, const struct load *load, uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += STEP)
		step(r, load);
}

/* The largest cost of any 10 s, as a share of a CPU. */
static double worst(const struct run *r)
{
	double sum = 0, most = 0;

	for (unsigned int i = 0; i < r->n; i++) {
		sum += r->cost[i] - (i >= STEPS_10 ? r->cost[i - STEPS_10] : 0);
		most = sum > most ? sum : most;
	}
	return most / (10 * (double)SECOND);
}

TEST(below_the_budget_nothing_changes)
{
	const struct load load = { .base = 0.015, .sweep = 0.002, .kernel = 0.012 };
	struct run *r = start(0.03, false);

	run_for(r, &load, 300 * SECOND);
	assert_int_equal(r->changes, 0);
	assert_int_equal(r->sets, ALL);
	free(r);
}

/* Sweep has no cost worth mentioning: heap, then kernel events. */
TEST(sheds_in_order_what_costs)
{
	const struct load load = { .base = 0.01, .sweep = 0.0001, .heap = 0.02, .kernel = 0.03 };
	struct run *r = start(0.03, false);

	run_for(r, &load, 2 * SECOND);
	assert_int_equal(r->sets, ALL & ~SITE_SET(HEAP));
	run_for(r, &load, 2 * SECOND);
	assert_int_equal(r->sets, ALL & ~SITE_SET(HEAP) & ~SITE_SET(KERNEL));
	run_for(r, &load, 60 * SECOND);
	assert_int_equal(r->pauses, 0);
	assert_true(worst(r) <= 0.03 * 1.2);
	free(r);
}

TEST(restores_with_hysteresis)
{
	const struct load high = { .base = 0.02, .kernel = 0.02 };
	const struct load near = { .base = 0.0125, .kernel = 0.0125 };
	const struct load low = { .base = 0.008, .kernel = 0.008 };
	struct run *r = start(0.03, false);

	run_for(r, &high, 5 * SECOND);
	assert_int_equal(r->sets, ALL & ~SITE_SET(KERNEL));
	run_for(r, &near, 60 * SECOND); /* it would fit, but barely */
	assert_int_equal(r->sets, ALL & ~SITE_SET(KERNEL));
	run_for(r, &low, 4 * SECOND);
	assert_int_equal(r->sets, ALL & ~SITE_SET(KERNEL));
	run_for(r, &low, 3 * SECOND);
	assert_int_equal(r->sets, ALL);
	assert_int_equal(r->changes, 2);
	free(r);
}

/* A load whose cost grows whenever a set was restored: each attempt waits longer. */
TEST(does_not_oscillate)
{
	const struct load high = { .base = 0.02, .kernel = 0.02 };
	const struct load low = { .base = 0.008, .kernel = 0.008 };
	struct run *r = start(0.03, false);

	while (r->n < MOST - 1)
		step(r, r->sets & SITE_SET(KERNEL) ? &high : &low);
	assert_in_range(r->changes, 8, 20); /* about 200 if it waited 5 s each time */
	assert_true(worst(r) <= 0.03 * 1.2);
	free(r);
}

/* Even the smallest set costs five times the budget: it is recorded for a fifth of the time. */
TEST(pauses_if_nothing_is_left)
{
	const struct load load = { .base = 0.15, .kernel = 0.01 };
	struct run *r = start(0.03, false);
	double part;

	run_for(r, &load, 300 * SECOND);
	part = (double)r->on / (300 * (double)SECOND);
	assert_in_range(r->pauses, 10, 70);
	assert_true(part > 0.12 && part < 0.24);
	assert_true(worst(r) <= 0.03 * 1.2);
	free(r);
}

TEST(follows_a_ramp)
{
	struct run *r = start(0.03, false);

	for (int i = 0; i < 60; i++) {
		double level = (i < 30 ? i : 60 - i) / 30.0;
		const struct load load = { .base = 0.1 * level, .kernel = 0.05 * level };

		run_for(r, &load, SECOND);
	}
	assert_true(r->pauses > 0);
	run_for(r, &(struct load){ .base = 0.001, .kernel = 0.001 }, 60 * SECOND);
	assert_int_equal(r->sets, ALL);
	assert_true(worst(r) <= 0.03 * 1.2);
	assert_true(worst(r) >= 0.03 * 0.7); /* it uses what it may */
	free(r);
}

TEST(a_burst_is_cut)
{
	struct run *r = start(0.02, false);

	run_for(r, &(struct load){ .base = 0.001 }, 20 * SECOND);
	run_for(r, &(struct load){ .base = 0.3 }, 3 * SECOND);
	run_for(r, &(struct load){ .base = 0.001 }, 60 * SECOND);
	assert_true(r->pauses >= 1);
	assert_int_equal(r->sets, ALL);
	free(r);
}

/* While the probes are being detached, they cost more than the budget of 10 s. */
TEST(attempts_become_rare)
{
	const struct load load = { .base = 1 };
	struct run *r = start(0.005, false);

	run_for(r, &load, 550 * SECOND);
	assert_in_range(r->pauses, 3, 8);
	free(r);
}

TEST(of_the_targets_time)
{
	const struct load load = { .base = 0.025 };
	struct run *r = start(0.05, true);

	run_for(r, &load, 60 * SECOND); /* 2.5 % of its CPU time */
	assert_int_equal(r->changes, 0);
	r->target = 0.25; /* 10 % */
	run_for(r, &load, 60 * SECOND);
	assert_true(r->pauses > 0);
	free(r);
}

TEST(a_target_that_ends_or_sleeps)
{
	struct run *r = start(0.03, true);

	r->target = 0;
	run_for(r, &(struct load){}, 60 * SECOND);
	assert_int_equal(r->changes, 0);
	r->use.target_ns = 0; /* it has ended: its time is unknown */
	run_for(r, &(struct load){}, SECOND);
	assert_int_equal(r->changes, 0);
	r->use.now += 1000 * SECOND; /* the recorder was stopped */
	run_for(r, &(struct load){}, SECOND);
	assert_int_equal(r->changes, 0);
	free(r);
}

TEST(parses)
{
	static const char *const bad[] = { "",	    "3",    "%",    "-3%",   "3%%",
					   "3%cpu", "nan%", "inf%", "0%",    "0.01%",
					   "7000%", "0x3%", " 3%",  "1e99%", "3 %" };
	struct budget_opts opts = {};

	assert_true(budget__parse("3%", &opts));
	assert_true(opts.share > 0.0299 && opts.share < 0.0301 && !opts.of_target);
	assert_true(budget__parse("2.5%target", &opts));
	assert_true(opts.share > 0.0249 && opts.share < 0.0251 && opts.of_target);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(budget__parse(bad[i], &opts));
}

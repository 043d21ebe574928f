// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which event sets a recording can afford: see budget.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget/budget.h"

#define SECOND	     1000000000ull
#define BUCKETS_1S   (SECOND / BUDGET_BUCKET_NS)
#define BUCKETS_NOW  2		  /* of the latest cost, for a load that rises */
#define REACTION_NS  (SECOND / 5) /* before a detachment was measured */
#define MATERIAL     0.05	  /* of the cost: a set that has less is not shed */
#define CALM	     0.7	  /* of the budget: with the next set, the cost must be below */
#define HOLD_NS	     (5 * SECOND) /* for that long */
#define HOLD_MAX_NS  (300 * SECOND)
#define RELAPSE_NS   (10 * SECOND) /* shed again within this time: it was restored too early */
#define ROOM	     0.5	   /* of the budget must be free before probes are attached again */
#define ON_NS	     SECOND	   /* and enough for this long */
#define EMPTY	     0.02	   /* or nearly all is free */
#define SETTLED_NS   SECOND	   /* after a pause began, all of its cost is known */
#define PAUSE_MAX_NS (600 * SECOND)

const enum site_set budget_order[] = { SITE_FAULT, SITE_SWEEP, SITE_CPU, SITE_HEAP, SITE_KERNEL };
const unsigned int budget_sheds = sizeof(budget_order) / sizeof(*budget_order);

bool budget__parse(const char *text, struct budget_opts *ret)
{
	double percent;
	char *end;

	if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X')
		return false;
	percent = strtod(text, &end);
	if (strcmp(end, "%") && strcmp(end, "%target"))
		return false;
	if (!isfinite(percent) || percent / 100 < BUDGET_MIN || percent / 100 > BUDGET_MAX)
		return false;
	ret->share = percent / 100;
	ret->of_target = end[1] == 't';
	return true;
}

/* ---- what was measured ---- */

static struct budget_bucket *bucket_at(struct budget *b, uint64_t number)
{
	return &b->bucket[number % BUDGET_BUCKETS];
}

static double sum_costs(const struct budget_bucket *bucket)
{
	double sum = 0;

	for (unsigned int set = 0; set < SITE_SETS; set++)
		sum += bucket->cost_ns[set];
	return sum;
}

static void measure(struct budget *b, const struct budget_use *use)
{
	uint64_t number = b->last.now / BUDGET_BUCKET_NS, now = use->now / BUDGET_BUCKET_NS;
	struct budget_bucket *bucket;

	if (now > number + BUDGET_BUCKETS)
		number = now - BUDGET_BUCKETS;
	while (number < now)
		*bucket_at(b, ++number) = (struct budget_bucket){};
	bucket = bucket_at(b, now);
	for (unsigned int set = 0; set < SITE_SETS; set++)
		bucket->cost_ns[set] += use->cost_ns[set] - b->last.cost_ns[set];
	if (use->target_ns > b->last.target_ns) /* 0: it has ended */
		bucket->target_ns += (double)(use->target_ns - b->last.target_ns);
	b->last = *use;
}

/* How much of the latest `n` complete buckets and the open one is not before `from`, ns. */
static double covered(const struct budget *b, uint64_t n, uint64_t from)
{
	double ns = (double)(n * BUDGET_BUCKET_NS + b->last.now % BUDGET_BUCKET_NS);
	double all = (double)(b->last.now - from);

	return ns < all ? ns : all;
}

/* Cost of a set (SITE_SETS: of all) in the latest `n` complete buckets and the open one, ns. */
static double cost(const struct budget *b, uint64_t n, unsigned int set)
{
	uint64_t now = b->last.now / BUDGET_BUCKET_NS;
	double sum = 0;

	for (uint64_t i = 0; i <= n && i < BUDGET_BUCKETS && i <= now; i++) {
		const struct budget_bucket *bucket = &b->bucket[(now - i) % BUDGET_BUCKETS];

		sum += set == SITE_SETS ? sum_costs(bucket) : bucket->cost_ns[set];
	}
	return sum;
}

/* Since the probes were attached, at most. */
static double rate(const struct budget *b, uint64_t n)
{
	double ns = covered(b, n, b->attached);

	return cost(b, n, SITE_SETS) / (ns < BUDGET_BUCKET_NS ? BUDGET_BUCKET_NS : ns);
}

double budget__rate(const struct budget *b)
{
	return rate(b, BUCKETS_1S);
}

double budget__limit(const struct budget *b)
{
	double ns = covered(b, BUDGET_BUCKETS - 1, b->first), target = 0;

	if (!b->opts.of_target)
		return b->opts.share;
	for (unsigned int i = 0; i < BUDGET_BUCKETS; i++)
		target += b->bucket[i].target_ns;
	return ns > 0 ? b->opts.share * target / ns : 0;
}

static double spent(const struct budget *b)
{
	return cost(b, BUDGET_BUCKETS - 1, SITE_SETS);
}

static double allowed(const struct budget *b)
{
	return budget__limit(b) * (double)BUDGET_WINDOW_NS;
}

/* ---- all probes ---- */

static void pause_now(struct budget *b)
{
	b->on_rate = rate(b, BUCKETS_1S);
	b->paused = true;
	b->is_compared = false;
	b->peak = spent(b);
	b->since = b->last.now;
	b->calm = 0;
}

static bool must_pause(const struct budget *b)
{
	double now = rate(b, BUCKETS_NOW), second = rate(b, BUCKETS_1S);
	double soon = (now > second ? now : second) * (double)b->reaction_ns;

	return spent(b) > 0 && spent(b) + soon > allowed(b);
}

/* A pause that began too late makes the next ones longer: at the same load it would again. */
static void compare_peak(struct budget *b)
{
	uint64_t longer = b->pause_ns ? 2 * b->pause_ns : BUDGET_WINDOW_NS;

	b->is_compared = true;
	if (b->peak <= allowed(b))
		b->pause_ns = 0;
	else
		b->pause_ns = longer < PAUSE_MAX_NS ? longer : PAUSE_MAX_NS;
}

static bool may_resume(struct budget *b)
{
	double used = spent(b), most = allowed(b);
	uint64_t paused = b->last.now - b->since;

	if (used > b->peak)
		b->peak = used;
	if (paused < SETTLED_NS)
		return false;
	if (!b->is_compared)
		compare_peak(b);
	if (paused < b->pause_ns || most <= 0)
		return false;
	return used <= most * EMPTY ||
	       (used <= most * (1 - ROOM) && most - used >= b->on_rate * (double)ON_NS);
}

static void resume(struct budget *b)
{
	b->paused = false;
	b->since = b->attached = b->last.now;
}

/* ---- single sets ---- */

static bool is_settled(const struct budget *b)
{
	return b->last.now >= b->since + SECOND + BUDGET_BUCKET_NS;
}

/* The next set of the order whose cost matters; SITE_SETS: none. */
static unsigned int next_to_shed(const struct budget *b)
{
	double all = cost(b, BUCKETS_1S, SITE_SETS);

	for (unsigned int i = 0; i < budget_sheds; i++) {
		unsigned int set = budget_order[i];

		if (b->sets >> set & 1 && cost(b, BUCKETS_1S, set) >= all * MATERIAL)
			return set;
	}
	return SITE_SETS;
}

static void shed(struct budget *b, unsigned int set)
{
	b->share[set] = cost(b, BUCKETS_1S, set) / cost(b, BUCKETS_1S, SITE_SETS);
	b->sets &= ~(1u << set);
	b->shed |= 1u << set;
	if (b->restored && b->last.now < b->restored + RELAPSE_NS)
		b->hold = 2 * b->hold < HOLD_MAX_NS ? 2 * b->hold : HOLD_MAX_NS;
	b->restored = 0;
	b->since = b->last.now;
	b->calm = 0;
}

/* The set that was shed last, by the order; SITE_SETS: none. */
static unsigned int next_to_restore(const struct budget *b)
{
	for (unsigned int i = budget_sheds; i-- > 0;)
		if (b->shed >> budget_order[i] & 1)
			return budget_order[i];
	return SITE_SETS;
}

/* The cost with the set, if its share is what it was: loads change in size more than in kind. */
static double rate_with(const struct budget *b, unsigned int set)
{
	double others = 1 - b->share[set];

	return rate(b, BUCKETS_1S) / (others > 0.01 ? others : 0.01);
}

static void restore(struct budget *b, unsigned int set)
{
	b->shed &= ~(1u << set);
	b->sets |= 1u << set;
	b->restored = b->since = b->last.now;
	b->calm = 0;
}

static void adapt(struct budget *b)
{
	unsigned int set = next_to_restore(b);
	double limit = budget__limit(b);

	if (b->restored && b->last.now > b->restored + RELAPSE_NS)
		b->hold = HOLD_NS; /* it lasts */
	if (!is_settled(b))
		return;
	if (rate(b, BUCKETS_1S) > limit) {
		b->calm = 0;
		set = next_to_shed(b);
		if (set != SITE_SETS)
			shed(b, set);
		return;
	}
	if (set == SITE_SETS || rate_with(b, set) > limit * CALM) {
		b->calm = 0;
		return;
	}
	if (!b->calm)
		b->calm = b->last.now;
	if (b->last.now >= b->calm + b->hold)
		restore(b, set);
}

/* ---- public ---- */

void budget__init(struct budget *b, const struct budget_opts *opts, const struct budget_use *use)
{
	*b = (struct budget){
		.opts = *opts,
		.last = *use,
		.first = use->now,
		.attached = use->now,
		.sets = opts->sets,
		.since = use->now,
		.hold = HOLD_NS,
		.reaction_ns = REACTION_NS,
	};
}

unsigned int budget__step(struct budget *b, const struct budget_use *use)
{
	measure(b, use);
	/* Until then, too little is known of the target's CPU time. */
	if (b->last.now - b->first < SECOND && b->opts.of_target)
		return b->sets;
	if (b->paused && may_resume(b))
		resume(b);
	else if (!b->paused && must_pause(b))
		pause_now(b);
	else if (!b->paused)
		adapt(b);
	return b->paused ? 0 : b->sets;
}

void budget__detached(struct budget *b, uint64_t took_ns)
{
	uint64_t longest = b->reaction_ns - b->reaction_ns / 4;

	b->reaction_ns = took_ns > longest ? took_ns : longest;
}

void budget__give_up(struct budget *b, unsigned int sets)
{
	b->sets &= ~sets;
	b->shed &= ~sets;
}

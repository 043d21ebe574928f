// SPDX-License-Identifier: GPL-2.0
/*
 * The overhead budget of a recording (--max-overhead): measures what the probes cost the target, and
 * attaches and detaches them as budget/budget.c decides. Each change is in the trace.
 *
 * The cost is computed from the numbers of records and losses by the model of cost.h, with what a hit
 * takes on this machine, which is measured when the recording starts. That includes the trap, which
 * the run time that the kernel accounts to BPF programs lacks.
 *
 * Upstream: recorder.c. Downstream: probes.c; sequence/losses.c by the sink.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/cost.h"
#include "capture/hits.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "capture/setup.h"
#include "lib/clock.h"
#include "lib/log.h"

#define TRAP_NS	  400.0	      /* in a loop, where it cannot be measured */
#define CPU_EVERY 50000000ull /* ns between reads of the target's CPU time */
#define PPM	  1e6

/* ---- what the probes cost ---- */

static double cost(const struct recorder *r, const struct cost_events *events)
{
	return cost__recording(events, r->overhead.trap_ns, r->opts->stack_depth);
}

/* Of one set, without losses, which are few if they happen at all. */
static double cost_of_set(const struct recorder *r, enum site_set set)
{
	const uint64_t *n = r->stats->records;
	struct cost_events events = {};

	switch (set) {
	case SITE_HEAP:
		events.probes = n[GT_HEAP_ALLOC];
		break;
	case SITE_SWEEP:
		events.probes =
			n[GT_SWEEP_BEGIN] + n[GT_SWEEP_SPAN] + n[GT_SWEEP_LEFT] + n[GT_SWEEP_END];
		break;
	case SITE_KERNEL:
		events.calls = n[GT_SYS_ENTER];
		events.switches = n[GT_CPU_ON] + n[GT_CPU_OFF];
		events.wakes = n[GT_WAKING];
		break;
	case SITE_FAULT: /* as much as a switch */
		events.switches = n[GT_FAULT_BEGIN] + n[GT_FAULT_END];
		break;
	case SITE_CPU: /* about as much as a system call with its stack */
		events.calls = n[GT_SAMPLE];
		break;
	default:
		break;
	}
	return cost(r, &events);
}

static void measure(struct recorder *r, uint64_t now, struct budget_use *ret)
{
	struct cost_events events = recorder__cost_events(r);
	double rest;

	events.step_ns =
		cost__step_ns(r->overhead.trap_ns / COST_IN_PROCESS, r->overhead.stepped_ns);
	rest = cost(r, &events);
	if (now >= r->overhead.cpu_read + CPU_EVERY) {
		r->overhead.cpu_read = now;
		recorder__note_cpu(r);
	}
	*ret = (struct budget_use){ .now = now, .target_ns = r->stats->target_cpu_ns };
	for (unsigned int set = 0; set < SITE_SETS; set++)
		ret->cost_ns[set] = cost_of_set(r, (enum site_set)set);
	rest -= ret->cost_ns[SITE_HEAP] + ret->cost_ns[SITE_SWEEP] + ret->cost_ns[SITE_KERNEL];
	ret->cost_ns[SITE_SCHED] = rest > 0 ? rest : 0;
	r->stats->overhead_ns = 0;
	for (unsigned int set = 0; set < SITE_SETS; set++)
		r->stats->overhead_ns += (uint64_t)ret->cost_ns[set];
}

/* ---- changes ---- */

void recorder__end_pause(struct recorder *r, uint64_t now)
{
	if (r->overhead.paused_at && now > r->overhead.paused_at)
		r->stats->overhead_paused_ns += now - r->overhead.paused_at;
	r->overhead.paused_at = 0;
}

static void report_change(const struct recorder *r, unsigned int sets)
{
	unsigned int before = r->overhead.recorded;
	double rate = 100 * budget__rate(&r->overhead.budget);
	double limit = 100 * budget__limit(&r->overhead.budget);
	char names[128];

	site_set__names(before & ~sets ? before & ~sets : sets & ~before, names, sizeof(names));
	if (!sets)
		log__msg("the recording costs %.1f %% of a CPU, the budget is %.1f %%: pausing it, "
			 "without any probe",
			 rate, limit);
	else if (!before)
		log__msg("the recording continues");
	else
		log__msg("the recording costs %.1f %% of a CPU, the budget is %.1f %%: %s event "
			 "set %s",
			 rate, limit, before & ~sets ? "leaving out" : "again with", names);
}

static uint32_t ppm(double share)
{
	return share * PPM < UINT32_MAX ? (uint32_t)(share * PPM) : UINT32_MAX;
}

static int write_change(struct recorder *r, unsigned int sets, uint64_t time)
{
	const struct gt_recorded recorded = {
		.sets = sets,
		.cost = ppm(budget__rate(&r->overhead.budget)),
		.budget = ppm(budget__limit(&r->overhead.budget)),
		.asked = r->overhead.budget.opts.sets,
	};

	r->stats->overhead_changes++;
	return sink__recorded(r->sink, time, &recorded);
}

/* The record precedes the detachment, during which records are incomplete. */
static int suspend(struct recorder *r, uint64_t now)
{
	int err = write_change(r, 0, now);

	if (!err)
		err = probes__suspend(r->probes);
	budget__detached(&r->overhead.budget, clock__now() - now);
	r->stats->overhead_pauses++;
	r->overhead.paused_at = now;
	return err;
}

static int resume(struct recorder *r, unsigned int sets)
{
	struct recorder_opts opts = *r->opts;
	struct error why = {};
	size_t plugins;
	int err;

	opts.launch = NULL; /* its first program has long been released */
	plugins = recorder__find_plugins(r, false);
	probes__select(r->probes, sets);
	err = setup__attach(&opts, r->probes, NULL, &why);
	if (err) { /* -ESRCH: it has ended, or executes another program */
		if (err != -ESRCH)
			log__msg("the recording ends in a pause: %s", why.text);
		r->stopped = true;
		return 0;
	}
	err = recorder__note_plugins(r, plugins, r->overhead.paused_at, clock__now());
	if (err)
		return err;
	recorder__end_pause(r, clock__now());
	err = write_change(r, sets, clock__now());
	return err ? err : probes__present(r->probes);
}

/* If that fails, the set is left out for good. */
static int add(struct recorder *r, unsigned int sets)
{
	unsigned int added = sets & ~r->overhead.recorded;
	struct error why = {};
	int err = probes__add(r->probes, added, &why);

	if (err) {
		log__msg("it cannot be recorded again: %s", why.text);
		probes__select(r->probes, r->overhead.recorded);
		budget__give_up(&r->overhead.budget, added);
		r->overhead.recorded = sets & ~added;
		return 0;
	}
	r->overhead.recorded = sets;
	err = write_change(r, sets, clock__now());
	return err ? err : probes__present(r->probes);
}

static int leave_out(struct recorder *r, unsigned int sets, uint64_t now)
{
	int err = write_change(r, sets, now);

	probes__select(r->probes, sets);
	return err;
}

static int change(struct recorder *r, unsigned int sets, uint64_t now)
{
	unsigned int before = r->overhead.recorded;
	int err;

	report_change(r, sets);
	if (!sets)
		err = suspend(r, now);
	else if (!before)
		err = resume(r, sets);
	else if (sets & ~before)
		err = add(r, sets);
	else
		err = leave_out(r, sets, now);
	if (!(before && sets & ~before))
		r->overhead.recorded = sets;
	return err;
}

/* ---- the loop ---- */

void recorder__begin_budget(struct recorder *r)
{
	struct budget_opts opts = r->opts->budget;
	const struct budget_use use = { .now = r->t0 };

	if (!opts.share)
		return;
	opts.sets = r->opts->sets | SITE_SET(SCHED);
	if (!probes__has_kernel(r->probes)) /* unavailable */
		opts.sets &= ~(SITE_SET(KERNEL) | SITE_SET(FAULT));
	r->overhead.recorded = opts.sets;
	budget__init(&r->overhead.budget, &opts, &use);
}

void recorder__measure_budget(struct recorder *r)
{
	if (!r->opts->budget.share)
		return;
	r->overhead.trap_ns = (r->trap ? hits__trap_ns() : TRAP_NS) * COST_IN_PROCESS;
	r->overhead.stepped_ns = r->trap ? hits__stepped_ns() : 0;
	log__debug("overhead: a hit takes %.0f ns in the program, without its record",
		   r->overhead.trap_ns);
}

bool recorder__is_paused(const struct recorder *r)
{
	return r->opts->budget.share && r->has_begun && !r->overhead.recorded;
}

int recorder__keep_budget(struct recorder *r, uint64_t now)
{
	struct budget_use use;
	unsigned int sets;

	/* The initial state requires all probes. */
	if (!r->opts->budget.share || !sequencer__is_ready(sink__sequencer(r->sink)))
		return 0;
	measure(r, now, &use);
	sets = budget__step(&r->overhead.budget, &use);
	return sets == r->overhead.recorded ? 0 : change(r, sets, now);
}

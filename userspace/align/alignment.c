// SPDX-License-Identifier: GPL-2.0
/*
 * Aligns a trace with a perf.data file: see alignment.h.
 *
 * Timestamps of CLOCK_MONOTONIC are used as they are, after a comparison of the switches that both
 * contain. Any other clock is aligned by these switches, which requires kernel events in the
 * trace. If the trace has none, the context switches of the target are taken from perf, too.
 */
#include "align/alignment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/log.h"

#define GAPS_MIN    8 /* fewer switches are no evidence */
#define GAPS_TENTHS 3 /* of ten switches; without one of two CPUs a third is missing */

static bool is_targets(const struct map *target, const struct perf_sched *ev)
{
	return map__get(target, ev->tid) || map__get(target, ev->next);
}

/* perf's switches of the target's threads, as input of the fit. */
static struct fit_switch *their_switches(const struct join_perf *perf, const struct map *target,
					 size_t *ret_n)
{
	const struct perf_sched *ev = perf->sched;
	struct fit_switch *ret;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < perf->n; i++)
		n += ev[i].kind == PERF_SWITCH && is_targets(target, &ev[i]);
	ret = malloc(n * sizeof(*ret) + 1);
	for (size_t i = 0; ret && i < perf->n; i++)
		if (ev[i].kind == PERF_SWITCH && is_targets(target, &ev[i]))
			ret[at++] =
				(struct fit_switch){ ev[i].time, ev[i].tid, ev[i].next, ev[i].cpu };
	*ret_n = n;
	return ret;
}

/* ---- the clock ---- */

/* For the same clock: whether the recordings overlap in time. */
static int check_times(const struct alignment *a, struct error *error)
{
	const uint64_t from = a->side.generation[0].from, to = a->side.to;
	const uint64_t first = a->join.n ? a->join.sched[0].time : 0;
	const uint64_t last = a->join.n ? a->join.sched[a->join.n - 1].time : 0;

	if (last < from)
		return error__set(error, -ENODATA,
				  "recorded at different times: the perf file ends %" PRIu64 " "
				  "ms before the trace begins",
				  (from - last) / 1000000);
	if (first > to)
		return error__set(error, -ENODATA,
				  "recorded at different times: the perf file begins %" PRIu64 " "
				  "ms after the end of the trace",
				  (first - to) / 1000000);
	return 0;
}

static int compare_clocks(struct alignment *a, const struct fit_switch *theirs, size_t n,
			  struct error *error)
{
	const struct side *side = &a->side;
	struct fit *fit = &a->join.clock;
	uint64_t both;

	if (fit__compare(fit, side->switches, side->nswitches, theirs, n))
		return -ENOMEM;
	both = fit->in_ours < fit->in_theirs ? fit->in_ours : fit->in_theirs;
	if (both >= FIT_MATCHES_MIN && !fit__agrees(fit))
		return error__set(
			error, -ENODATA,
			"the clock of the perf file is CLOCK_MONOTONIC, but only %" PRIu64 " "
			"of %" PRIu64 " switches in the common time agree with the trace: it "
			"was recorded on another machine, or in another boot",
			fit->matched, both);
	if (fit->p99 > FIT_RESIDUAL_MAX)
		log__msg("timestamps of the perf file differ from those of the trace, by more "
			 "than %" PRIu64 " ns for 1 of 100 switches",
			 fit->p99);
	return 0;
}

static int fit_clocks(struct alignment *a, const struct fit_switch *theirs, size_t n,
		      struct error *error)
{
	const struct side *side = &a->side;
	int err;

	a->fitted = perf_data__clock(a->perf) != CLOCK_MONOTONIC;
	err = a->fitted ? 0 : check_times(a, error);
	if (!err && !n)
		err = error__set(
			error, -ENODATA,
			"the perf file has no switches of the target's threads: it was recorded "
			"at another time or on another machine, or one of the two was recorded "
			"in a container");
	if (err)
		return err;
	if (!a->fitted)
		return compare_clocks(a, theirs, n, error);
	if (!side->has_kernel)
		return error__set(error, -ENODATA,
				  "perf's clock is %s, and the trace has no context switches to "
				  "align it by; record the trace with --events kernel, or the "
				  "perf file with perf record -k CLOCK_MONOTONIC",
				  alignment__clock(a));
	return fit__clock(&a->join.clock, side->switches, side->nswitches, theirs, n, error);
}

/* ---- the target's threads ---- */

static int add_process(struct map *processes, uint32_t pid)
{
	return pid && !map__get(processes, pid) ? map__put(processes, pid, processes) : 0;
}

static int add_if_of(struct map *target, const struct map *processes, uint32_t tid,
		     const struct perf_data *perf)
{
	if (!tid || map__get(target, tid) || !map__get(processes, perf_data__process(perf, tid)))
		return 0;
	return map__put(target, tid, target);
}

/*
 * Threads without a P, which the trace does not know: all threads of the process according to perf.
 */
static int add_others(struct alignment *a)
{
	const struct perf_sched *ev = a->join.sched;
	struct map processes = {};
	int err = 0;

	for (size_t i = 0; !err && i < a->join.n; i++)
		if (map__get(&a->target, ev[i].tid))
			err = add_process(&processes, perf_data__process(a->perf, ev[i].tid));
	for (size_t i = 0; !err && processes.n && i < a->join.n; i++) {
		err = add_if_of(&a->target, &processes, ev[i].tid, a->perf);
		if (!err && ev[i].kind != PERF_MIGRATE)
			err = add_if_of(&a->target, &processes, ev[i].next, a->perf);
	}
	map__deinit(&processes);
	return err;
}

/*
 * In a recording of one process, or of some CPUs, threads leave a CPU without ever having got it,
 * and other tasks are missing. In a recording of the whole machine few switches are missing, but
 * perf may not see what follows the idle thread of a CPU: one in seven of all switches, on 6.18.
 */
static int check_whole(struct alignment *a, struct error *error)
{
	struct join_gaps *gaps = &a->gaps;
	bool whole;

	if (join__gaps(&a->join, &a->target, gaps))
		return -ENOMEM;
	whole = gaps->others && (gaps->lacking * 10 <= gaps->switches * GAPS_TENTHS ||
				 gaps->lacking <= perf_data__lost(a->perf));
	if (whole || gaps->switches < GAPS_MIN)
		return 0;
	return error__set(error, -ENODATA,
			  "the perf file lacks switches of the target's threads: %" PRIu64 " of "
			  "%" PRIu64 " contradict the previous one; record all CPUs, with perf "
			  "sched record or perf record -a",
			  gaps->lacking, gaps->switches);
}

static int align(struct alignment *a, struct error *error)
{
	struct fit_switch *theirs;
	size_t n;
	int err;

	a->join.sched = perf_data__sched(a->perf, &a->join.n);
	a->join.losses = perf_data__losses(a->perf, &a->join.nlosses);
	theirs = their_switches(&a->join, &a->target, &n);
	if (!theirs)
		return -ENOMEM;
	err = fit_clocks(a, theirs, n, error);
	free(theirs);
	if (!err && !a->side.has_kernel)
		err = add_others(a);
	err = err ?: check_whole(a, error);
	return err ?: join__cpus(&a->join, &a->target, a->side.generation[0].from, &a->wanted);
}

int alignment__make(struct alignment *ret, struct side *side, struct perf_data *perf,
		    struct error *error)
{
	struct alignment a = { .side = *side, .perf = perf, .join.data = perf };
	int err;

	a.target = a.side.threads;
	a.side.threads = (struct map){};
	err = align(&a, error);
	if (err) {
		alignment__deinit(&a);
		return err == -ENOMEM ? error__set(error, err, "out of memory") : err;
	}
	*ret = a;
	return 0;
}

void alignment__deinit(struct alignment *a)
{
	side__deinit(&a->side);
	perf_data__close(a->perf);
	map__deinit(&a->target);
	free(a->wanted);
}

uint64_t alignment__covered(const struct alignment *a, uint64_t *ret_all)
{
	const struct side *side = &a->side;
	const uint64_t begin = side->generation[0].from, end = side->to;
	uint64_t from = join_perf__begin(&a->join), to = join_perf__end(&a->join);

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	*ret_all = end > begin ? end - begin : 0;
	return to > from ? to - from : 0;
}

const char *alignment__clock(const struct alignment *a)
{
	switch (perf_data__clock(a->perf)) {
	case PERF_NO_CLOCK:
		return "perf's own";
	case CLOCK_REALTIME:
		return "CLOCK_REALTIME";
	case CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	case CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	case CLOCK_BOOTTIME:
		return "CLOCK_BOOTTIME";
	case CLOCK_TAI:
		return "CLOCK_TAI";
	default:
		return "one that is not known";
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Brings a trace and perf's file together: see alignment.h.
 *
 * A file of CLOCK_MONOTONIC is taken as it is, but what both hold is compared; any other clock is
 * fitted, for which the trace needs a kernel's side. Of a trace without one, the target's own switches
 * come from perf as well.
 */
#include "align/alignment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/log.h"

#define GAPS_MIN    8 /* fewer switches say nothing */
#define GAPS_TENTHS 3 /* nor does less than so many of ten: without a core of two it is a third */

static bool is_targets(const struct map *target, const struct perf_sched *ev)
{
	return map__get(target, ev->tid) || map__get(target, ev->next);
}

/* perf's switches of the target's threads, as the fit wants them. */
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

/* Of one clock: was perf there when the trace was recorded? */
static int check_times(const struct alignment *a, struct error *err)
{
	const uint64_t from = a->side.generation[0].from, to = a->side.to;
	const uint64_t first = a->join.n ? a->join.sched[0].time : 0;
	const uint64_t last = a->join.n ? a->join.sched[a->join.n - 1].time : 0;

	if (last < from)
		return error__set(err, -ENODATA,
				  "of different times: perf's file ends %" PRIu64
				  " ms before the trace begins",
				  (from - last) / 1000000);
	if (first > to)
		return error__set(err, -ENODATA,
				  "of different times: perf's file begins %" PRIu64
				  " ms after the trace's end",
				  (first - to) / 1000000);
	return 0;
}

static int compare_clocks(struct alignment *a, const struct fit_switch *theirs, size_t n,
			  struct error *err)
{
	const struct side *side = &a->side;
	struct fit *fit = &a->join.clock;
	uint64_t both;

	if (fit__compare(fit, side->switches, side->nswitches, theirs, n))
		return -ENOMEM;
	both = fit->in_ours < fit->in_theirs ? fit->in_ours : fit->in_theirs;
	if (both >= FIT_MATCHES_MIN && !fit__agrees(fit))
		return error__set(
			err, -ENODATA,
			"perf's file says that its clock is CLOCK_MONOTONIC, but of %" PRIu64
			" switches that it and the trace should both hold %" PRIu64
			" agree: of another machine, or another boot",
			both, fit->matched);
	if (fit->p99 > FIT_RESIDUAL_MAX)
		log__msg("perf's times differ from the trace's: 1 of 100 switches by more than "
			 "%" PRIu64 " ns",
			 fit->p99);
	return 0;
}

static int fit_clocks(struct alignment *a, const struct fit_switch *theirs, size_t n,
		      struct error *err)
{
	const struct side *side = &a->side;
	int code;

	a->fitted = perf_data__clock(a->perf) != CLOCK_MONOTONIC;
	code = a->fitted ? 0 : check_times(a, err);
	if (!code && !n)
		code = error__set(
			err, -ENODATA,
			"perf's file has no switch of the trace's threads: of another time or "
			"machine, or one of the two was recorded inside of a container");
	if (code)
		return code;
	if (!a->fitted)
		return compare_clocks(a, theirs, n, err);
	if (!side->has_kernel)
		return error__set(err, -ENODATA,
				  "perf's clock is %s, and the trace has no switches to fit it by; "
				  "record the trace with --events kernel, or perf's file with perf "
				  "record -k CLOCK_MONOTONIC",
				  alignment__clock(a));
	return fit__clock(&a->join.clock, side->switches, side->nswitches, theirs, n, err);
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

/* Those without a P, which the trace does not know: all of the process as perf has it. */
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

/* Of a trace without a kernel's side: when its threads waited, as perf has it. */
static int follow_threads(struct alignment *a)
{
	struct join_waits *waits = &a->side.waits;
	const struct join_perf *perf = &a->join;
	struct kernel_item item[2];
	uint64_t time, end = join_perf__end(perf);
	size_t at = 0;
	unsigned int n;
	int err = 0;

	for (size_t i = 0; !err && i < perf->n; i++) {
		time = fit__time(&perf->clock, perf->sched[i].time);
		if (join_perf__pass_losses(perf, &at, time))
			join_waits__lose(waits, fit__time(&perf->clock, perf->losses[at - 1].to));
		n = join__items(perf, &a->target, i, item);
		for (unsigned int k = 0; !err && k < n; k++)
			err = join_waits__item(waits, &item[k]);
	}
	return err ?: join_waits__end(waits, end < a->side.to ? end : a->side.to);
}

/*
 * Of one process, or of some cores, perf tells of threads that leave a core and never get one, and not
 * who runs else. Of the whole machine few are missing, but perf may not see who follows a core's idle
 * thread: one in seven of all switches, on 6.18.
 */
static int check_whole(struct alignment *a, struct error *err)
{
	struct join_gaps *gaps = &a->gaps;
	bool whole;

	if (join__gaps(&a->join, &a->target, gaps))
		return -ENOMEM;
	whole = gaps->others && (gaps->lacking * 10 <= gaps->switches * GAPS_TENTHS ||
				 gaps->lacking <= perf_data__lost(a->perf));
	if (whole || gaps->switches < GAPS_MIN)
		return 0;
	return error__set(err, -ENODATA,
			  "perf's file lacks switches of the trace's threads: of %" PRIu64
			  " %" PRIu64 " contradict the one before; record all of the machine, with "
			  "perf sched record or perf record -a",
			  gaps->switches, gaps->lacking);
}

static int align(struct alignment *a, struct error *err)
{
	struct fit_switch *theirs;
	size_t n;
	int code;

	a->join.sched = perf_data__sched(a->perf, &a->join.n);
	a->join.losses = perf_data__losses(a->perf, &a->join.nlosses);
	theirs = their_switches(&a->join, &a->target, &n);
	if (!theirs)
		return -ENOMEM;
	code = fit_clocks(a, theirs, n, err);
	free(theirs);
	if (!code && !a->side.has_kernel)
		code = add_others(a);
	code = code ?: check_whole(a, err);
	if (!code && !a->side.has_kernel)
		code = follow_threads(a);
	return code ?: join__cores(&a->join, &a->target, &a->side.waits, &a->wanted);
}

int alignment__make(struct alignment *ret, struct side *side, struct perf_data *perf,
		    struct error *err)
{
	struct alignment a = { .side = *side, .perf = perf, .join.data = perf };
	int code;

	a.target = a.side.threads;
	a.side.threads = (struct map){};
	code = align(&a, err);
	if (code) {
		alignment__deinit(&a);
		return code == -ENOMEM ? error__set(err, code, "no memory") : code;
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

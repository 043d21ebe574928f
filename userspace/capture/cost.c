// SPDX-License-Identifier: GPL-2.0
/*
 * The model of cost.h. Its constants are CPU time on a machine where a trap takes TRAP_NS, fitted to
 * the servers of `make bench`; on others all of them change by the same factor. The largest error
 * is that of stacks, which take 50 ns (flat programs) to 270 ns (30 frames).
 */
#include "capture/cost.h"

#define TRAP_NS	   400.0
#define STEPPED	   6.0 /* times a trap, unless it was measured */
#define PROBE_NS   130.0
#define STACK_NS   120.0
#define CALL_NS	   250.0 /* entry and exit */
#define SWITCH_NS  150.0
#define WAKE_NS	   200.0
#define COUNTED_NS 40.0 /* a kernel event */
#define INLINE_NS  40.0 /* an inline probe */

void cost__add(struct cost_events *ret, const uint64_t hits[GT_HITS_COUNT], unsigned int set)
{
	for (unsigned int probe = 0; probe < GT_PROBE_COUNT; probe++) {
		if (set != SITE_SETS && site__set((enum gt_probe)probe) != (enum site_set)set)
			continue;
		ret->probes += hits[GT_HITS_OF(probe, false)];
		ret->stepped += hits[GT_HITS_OF(probe, true)];
	}
	if (set != SITE_SETS && set != SITE_KERNEL)
		return;
	ret->calls += hits[GT_HITS_CALLS];
	ret->switches += hits[GT_HITS_LEAVES] + hits[GT_HITS_GETS];
	ret->wakes += hits[GT_HITS_WAKES];
}

struct cost_events cost__of_recording(const struct recorder_stats *stats)
{
	const uint64_t *n = stats->records;
	uint64_t others = n[GT_GO_SYS_ENTER] + n[GT_GO_SYS_EXIT] + stats->inlined +
			  stats->inline_lost + stats->stepped;
	struct cost_events ret = {};

#define ADD(number, NAME, ...) ret.probes += n[GT_##NAME] + stats->counters.lost[GT_##NAME];
	GT_GO_KINDS(ADD)
	GT_PAIR_KINDS(ADD)
#undef ADD
	if (stats->derives) /* these were not hits, but sent with one */
		others += n[GT_PARK] + n[GT_DESTROY] + n[GT_ENDED];
	/* a process can forge the numbers of its inline probes */
	ret.probes = ret.probes > others ? ret.probes - others : 0;
	ret.stepped = stats->stepped;
	ret.step_ns = cost__step_ns(stats->trap_ns, stats->stepped_ns);
	ret.inlined = stats->inlined;
	ret.calls = n[GT_SYS_ENTER] + n[GT_GO_SYS_ENTER];
	ret.switches = n[GT_CPU_ON] + n[GT_CPU_OFF];
	ret.wakes = n[GT_WAKING];
	return ret;
}

double cost__step_ns(double trap_ns, double stepped_ns)
{
	return stepped_ns > trap_ns ? stepped_ns - trap_ns : 0;
}

/* The caches of a program suffer from the trap, not from the step after it. */
static double traps(const struct cost_events *e, double trap_ns)
{
	double step = e->step_ns > 0 ? e->step_ns : trap_ns * (STEPPED - 1);

	return (double)(e->probes + e->stepped) * trap_ns + (double)e->stepped * step;
}

double cost__recording(const struct cost_events *e, double trap_ns, bool stacks)
{
	double probes = (double)(e->probes + e->stepped);
	double work = probes * PROBE_NS + (double)e->calls * CALL_NS +
		      (double)e->switches * SWITCH_NS + (double)e->wakes * WAKE_NS +
		      (double)e->inlined * INLINE_NS;

	if (stacks)
		work += (probes + (double)e->calls) * STACK_NS;
	return traps(e, trap_ns) + work * trap_ns / TRAP_NS;
}

double cost__counting(const struct cost_events *e, double trap_ns)
{
	return traps(e, trap_ns) + (double)(e->calls + e->switches + e->wakes) * COUNTED_NS;
}

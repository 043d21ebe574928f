// SPDX-License-Identifier: GPL-2.0
/*
 * Which BPF program is a probe's, and which probes a recording wants: see session_impl.h.
 */
#include <bpf/libbpf.h>

#include "capture/session_impl.h"

#include "gotrace.skel.h"

struct bpf_program *session__program_of(const struct gotrace_bpf *skel, enum gt_probe probe)
{
	struct bpf_program *const programs[GT_PROBE_COUNT] = {
		[GT_PROBE_EXECUTE] = skel->progs.execute,
		[GT_PROBE_PARK] = skel->progs.park,
		[GT_PROBE_READY] = skel->progs.ready,
		[GT_PROBE_CAS_RUNNABLE] = skel->progs.goroutine_rare,
		[GT_PROBE_GOSCHED] = skel->progs.goroutine_rare,
		[GT_PROBE_GOYIELD] = skel->progs.goroutine_rare,
		[GT_PROBE_PREEMPT_PARK] = skel->progs.goroutine_rare,
		[GT_PROBE_CREATE] = skel->progs.goroutine_rare,
		[GT_PROBE_CREATE_BLOCKED] = skel->progs.goroutine_rare,
		[GT_PROBE_DESTROY] = skel->progs.destroy,
		[GT_PROBE_SWITCH] = skel->progs.coro_switch,
		[GT_PROBE_SYSCALL_ENTER] = skel->progs.syscall_enter,
		[GT_PROBE_SYSCALL_BLOCK] = skel->progs.goroutine_rare,
		[GT_PROBE_SYSCALL_EXIT] = skel->progs.syscall_exit,
		[GT_PROBE_SYSCALL_TRY_EXIT] = skel->progs.syscall_try_exit,
		[GT_PROBE_SYSCALL_LOST] = skel->progs.syscall_lost,
		[GT_PROBE_SYSCALL_NO_P] = skel->progs.syscall_no_p,
		[GT_PROBE_CREATE_SYSCALL] = skel->progs.create_syscall,
		[GT_PROBE_DESTROY_SYSCALL] = skel->progs.destroy_syscall,
		[GT_PROBE_P_START] = skel->progs.p_start,
		[GT_PROBE_P_STOP] = skel->progs.p_stop,
		[GT_PROBE_P_HANDOFF] = skel->progs.p_handoff,
		[GT_PROBE_STW_BEGIN] = skel->progs.runtime_rare,
		[GT_PROBE_STW_END] = skel->progs.stw_end,
		[GT_PROBE_GC_BEGIN] = skel->progs.runtime_rare,
		[GT_PROBE_GC_END] = skel->progs.gc_end,
		[GT_PROBE_PROCS] = skel->progs.runtime_rare,
		[GT_PROBE_TASK_BEGIN] = skel->progs.user_event,
		[GT_PROBE_TASK_END] = skel->progs.user_event,
		[GT_PROBE_REGION] = skel->progs.user_event,
		[GT_PROBE_LOG] = skel->progs.user_event,
		[GT_PROBE_ASSIST_BEGIN] = skel->progs.runtime_rare,
		[GT_PROBE_ASSIST_END] = skel->progs.runtime_rare,
		[GT_PROBE_HEAP_ALLOC] = skel->progs.heap_alloc,
		[GT_PROBE_HEAP_GOAL] = skel->progs.runtime_rare,
		[GT_PROBE_SWEEP_BEGIN] = skel->progs.runtime_rare,
		[GT_PROBE_SWEEP_SPAN] = skel->progs.runtime_rare,
		[GT_PROBE_SWEEP_LEFT] = skel->progs.runtime_rare,
		[GT_PROBE_SWEEP_END] = skel->progs.runtime_rare,
	};

	return programs[probe];
}

bool session__wants(const struct session_opts *opts, enum gt_probe probe)
{
	const bool *has = opts->sites->has;

	if (!has[probe])
		return false;
	/* The begin of a range without its end would be worse than neither. */
	if (probe == GT_PROBE_ASSIST_BEGIN && !has[GT_PROBE_ASSIST_END])
		return false;
	if (site__set(probe) == SITE_SWEEP &&
	    !(has[GT_PROBE_SWEEP_BEGIN] && has[GT_PROBE_SWEEP_END]))
		return false;
	return (opts->sets | SITE_SET(SCHED)) >> site__set(probe) & 1;
}

bool session__has_inlined_sites(const struct site_list *sites)
{
	for (size_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->site[i];

		if (GT_COOKIE_IS_PLACE(site->probe))
			continue;
		if (GT_COOKIE_ZERO_FLAG(site->cookie))
			return true;
		switch (site->probe) {
		case GT_PROBE_READY:
		case GT_PROBE_PREEMPT_PARK:
		case GT_PROBE_CREATE_BLOCKED:
		case GT_PROBE_DESTROY:
		case GT_PROBE_SYSCALL_ENTER:
			if (site->cookie)
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

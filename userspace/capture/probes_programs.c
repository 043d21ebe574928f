// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF program of each probe, and the probes that a recording includes: see probes_impl.h.
 */
#include <bpf/libbpf.h>

#include "capture/probes_impl.h"

#include "gotrace.skel.h"

struct bpf_program *probes__program_of(const struct gotrace_bpf *skel, enum gt_probe probe)
{
	struct bpf_program *const programs[GT_PROBE_COUNT] = {
#define PROGRAM(NAME, name, program, ...) [GT_PROBE_##NAME] = skel->progs.program,
		GT_PROBES(PROGRAM)
	};

	return programs[probe];
}

struct probes_opts probes__opts_of_plugin(const struct probes_opts *opts,
					  const struct go_module *plugin, struct site_list *sites)
{
	struct probes_opts ret = *opts;

	*sites = plugin->sites;
	sites->has[GT_PROBE_SYSCALL_AT] = opts->sites->has[GT_PROBE_SYSCALL_AT];
	ret.path = plugin->attach_path;
	ret.bias = plugin->bias;
	ret.sites = sites;
	return ret;
}

bool probes__derives_syscalls(const struct probes_opts *opts)
{
	return (opts->derives || opts->is_inline) && opts->sites->has[GT_PROBE_SYSCALL_AT] &&
	       opts->sets & SITE_SET(SYSCALL) && !opts->no_tracepoints;
}

bool probes__wants(const struct probes_opts *opts, enum gt_probe probe)
{
	const bool *has = opts->sites->has;

	if (!has[probe] || opts->is_inline >> probe & 1)
		return false;
	if (opts->derives && (probe == GT_PROBE_PARK || probe == GT_PROBE_DESTROY))
		return false;
	if (probe == GT_PROBE_SYSCALL_AT)
		return false;
	if (probe == GT_PROBE_LABELS && opts->no_labels)
		return false;
	if (probe == GT_PROBE_PLUGIN_MAPPED &&
	    opts->session) /* no recorder reads the record in time */
		return false;
	if (probe == GT_PROBE_FUNC_CALL || probe == GT_PROBE_REQUEST) /* by options of their own */
		return true;
	if (probe == GT_PROBE_SYSCALL_ENTER || probe == GT_PROBE_SYSCALL_TRY_EXIT)
		return opts->sets & SITE_SET(SYSCALL) && !probes__derives_syscalls(opts);
	if (probe == GT_PROBE_SYSCALL_CALL || probe == GT_PROBE_SYSCALL_RETURN)
		return probes__derives_syscalls(opts);
	/* The start of a range without its end is worse than neither. */
	if (probe == GT_PROBE_ASSIST_BEGIN && !has[GT_PROBE_ASSIST_END])
		return false;
	if (site__set(probe) == SITE_SWEEP &&
	    !(has[GT_PROBE_SWEEP_BEGIN] && has[GT_PROBE_SWEEP_END]))
		return false;
	return (opts->sets | SITE_SET(SCHED)) >> site__set(probe) & 1;
}

bool probes__has_inlined_sites(const struct site_list *sites)
{
	for (size_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->site[i];

		if (GT_COOKIE_IS_PLACE(site->probe) || site->probe == GT_PROBE_HEAP_ALLOC)
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

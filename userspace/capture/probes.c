// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of one recording: see probes.h.
 *
 * Before Linux 6.10 the PID filter of uprobe_multi compares threads, not processes; on these kernels,
 * and with --force-perf-uprobes, each site is a perf uprobe of its own, with the same programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/kernel_probes.h"
#include "capture/probes_impl.h"
#include "capture/sampler.h"
#include "capture/site_links.h"
#include "gotrace/window.h"
#include "lib/steps.h"

#include "gotrace.skel.h"

#define SLOT_BYTES 224 /* of an entry of the map of slots, with the kernel's own data */

int probes__open(struct probes **ret, const struct probes_opts *opts, struct error *error)
{
	struct probes *p;
	int err;

	probes__log_libbpf();
	steps__say("loading the BPF programs");
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	err = pid_ns__find(&p->pid_ns, error);
	if (err) {
		free(p);
		return err;
	}
	p->opts = *opts;
	p->multi = !opts->force_perf && probes__kernel_has_multi();
	err = probes__load(p, error);
	p->links = err ? NULL : site_links__create(&p->opts, p->skel, p->multi);
	if (!err && !p->links)
		err = -ENOMEM;
	p->sets = p->opts.sets | (opts->sample_hz ? SITE_SET(CPU) : 0);
	if (err) {
		probes__destroy(p);
		return err;
	}
	*ret = p;
	return 0;
}

/* The selected sets whose sites need links: no size of the heap once it is sampled. */
static unsigned int site_sets(const struct probes *p)
{
	return p->skel->bss_curg->heap_sampled[0] ? p->sets & ~SITE_SET(HEAP) : p->sets;
}

static int attach_sites(struct probes *p, struct error *error)
{
	int err = site_links__attach(p->links, site_sets(p), error);

	for (size_t i = 0; i < p->nplugins && !err; i++)
		err = site_links__attach(p->plugin[i]->links, site_sets(p), error);
	return err;
}

static void keep_sites(struct probes *p)
{
	site_links__keep(p->links, site_sets(p));
	for (size_t i = 0; i < p->nplugins; i++)
		site_links__keep(p->plugin[i]->links, site_sets(p));
}

static void detach_sites(struct probes *p)
{
	if (p->links)
		site_links__detach(p->links);
	for (size_t i = 0; i < p->nplugins; i++)
		site_links__detach(p->plugin[i]->links);
}

static size_t count_sites(const struct probes *p)
{
	size_t n = site_links__count(p->links);

	for (size_t i = 0; i < p->nplugins; i++)
		n += site_links__count(p->plugin[i]->links);
	return n;
}

int probes__attach(struct probes *p, struct error *error)
{
	struct error why = {};
	int err;

	steps__say("attaching %zu probes", count_sites(p));
	if (!p->exec)
		p->exec = bpf_program__attach(probes__exec_program(p));
	if (!p->exec)
		return probes__explain(-errno, error, "cannot attach to sched_process_exec");
	/* First: a system call is seen at its entry once a probe has found its goroutine. */
	err = p->kernel ? kernel_probes__attach(p->kernel, &why) : 0;
	if (err && p->skel->rodata->config.syscall_at)
		return error__set(error, err, "%s; choose --events=sched,gc,heap,user", why.text);
	err = probes__without_kernel(p, err, error, &why);
	if (!err)
		err = attach_sites(p, error);
	if (!err && p->sampler && p->sets & SITE_SET(CPU))
		err = sampler__attach(p->sampler, p->opts.sample_hz, error);
	return err;
}

/* A program that saw the old value may still run for a moment. */
void probes__start_slots(struct probes *p)
{
	__atomic_store_n(&p->skel->bss_curg->slots_live, 1, __ATOMIC_SEQ_CST);
	usleep(1000);
}

void probes__set_slot(struct probes *p, uint32_t tid, const struct gt_slot *slot)
{
	bpf_map_update_elem(bpf_map__fd(p->skel->maps.slots), &tid, slot, BPF_NOEXIST);
}

bool probes__sample_heap(struct probes *p)
{
	if (!p->skel->rodata->config.heap_live || !site_links__has_heap(p->links))
		return false;
	__atomic_store_n(&p->skel->bss_curg->heap_sampled[0], 1, __ATOMIC_SEQ_CST);
	keep_sites(p);
	return true;
}

static void detach_all(struct probes *p)
{
	sampler__detach(p->sampler);
	kernel_probes__detach(p->kernel);
	detach_sites(p);
}

void probes__throttled(struct probes *p, struct private_cpu_samples *ret)
{
	if (p->sampler)
		sampler__throttled(p->sampler, ret);
}

void probes__detach(struct probes *p)
{
	detach_all(p);
	bpf_link__destroy(p->exec);
	p->exec = NULL;
}

int probes__suspend(struct probes *p)
{
	detach_all(p);
	__atomic_store_n(&p->skel->bss_curg->slots_live, 0, __ATOMIC_SEQ_CST);
	return rings__forget_slots(&p->rings);
}

void probes__select(struct probes *p, unsigned int sets)
{
	if (p->kernel)
		kernel_probes__select(p->kernel, sets);
	if (p->sets & ~sets & SITE_SET(CPU))
		sampler__detach(p->sampler);
	p->sets = sets;
	keep_sites(p);
}

int probes__add(struct probes *p, unsigned int sets, struct error *error)
{
	int err = 0;

	probes__select(p, p->sets | sets);
	if (p->kernel && sets & KERNEL_SETS)
		err = kernel_probes__attach(p->kernel, error);
	if (!err)
		err = attach_sites(p, error);
	if (!err && p->sampler && sets & SITE_SET(CPU))
		err = sampler__attach(p->sampler, p->opts.sample_hz, error);
	return err;
}

int probes__present(const struct probes *p)
{
	return p->kernel ? kernel_probes__present(p->kernel) : 0;
}

int probes__reset(struct probes *p)
{
	memset(p->skel->bss_texts, 0, sizeof(*p->skel->bss_texts));
	memset(p->skel->bss_curg, 0, sizeof(*p->skel->bss_curg));
	if (p->kernel)
		kernel_probes__forget_skipped(p->kernel);
	return rings__reset(&p->rings);
}

static void destroy_plugin(struct plugin_probes *plugin)
{
	site_links__destroy(plugin->links);
	free(plugin);
}

void probes__destroy(struct probes *p)
{
	if (!p)
		return;
	if (p->skel)
		probes__detach(p);
	rings__destroy(&p->rings);
	sampler__destroy(p->sampler);
	kernel_probes__destroy(p->kernel);
	gotrace_bpf__destroy(p->skel);
	site_links__destroy(p->links);
	for (size_t i = 0; i < p->nplugins; i++)
		destroy_plugin(p->plugin[i]);
	free(p);
}

/* The programs were chosen and loaded for the sites of the program itself. */
static int check_plugin(const struct probes *p, const struct plugin_probes *plugin,
			struct error *error)
{
	if (probes__has_inlined_sites(&plugin->sites) && !p->skel->rodata->config.inlined_sites)
		return error__set(
			error, -ENOTSUP,
			"the compiler inlined functions of the runtime in it, and none in "
			"the program: begin the recording once it is loaded");
	for (size_t i = 0; i < plugin->sites.n; i++) {
		const struct site *site = &plugin->sites.site[i];

		if (probes__wants(&plugin->opts, site->probe) &&
		    bpf_program__fd(probes__program_of(p->skel, site->probe)) < 0)
			return error__set(error, -ENOTSUP,
					  "the program itself has no probe '%s', which it needs",
					  site__probe_name(site->probe));
	}
	return 0;
}

int probes__add_plugin(struct probes *p, const struct go_module *module, bool now,
		       struct error *error)
{
	struct plugin_probes *plugin =
		p->nplugins < MODULES_MAX ? calloc(1, sizeof(*plugin)) : NULL;
	int err;

	if (!plugin)
		return error__set(error, -ENOMEM, "out of memory");
	plugin->opts = probes__opts_of_plugin(&p->opts, module, &plugin->sites);
	err = check_plugin(p, plugin, error);
	if (!err) {
		plugin->links = site_links__create(&plugin->opts, p->skel, p->multi);
		err = plugin->links ? 0 : -ENOMEM;
	}
	if (!err && now)
		err = site_links__attach(plugin->links, site_sets(p), error);
	if (err) {
		destroy_plugin(plugin);
		return error__set(error, err, "%s", strerror(-err));
	}
	p->plugin[p->nplugins++] = plugin;
	return 0;
}

bool probes__has_kernel(const struct probes *p)
{
	return p->kernel && p->opts.sets & KERNEL_SETS;
}

bool probes__calls_only(const struct probes *p)
{
	return p->skel->rodata->config.calls_only;
}

bool probes__multi(const struct probes *p)
{
	return p->multi;
}

bool probes__kfuncs(const struct probes *p)
{
	return p->kfuncs;
}

unsigned int probes__rings(const struct probes *p)
{
	return p->rings.n;
}

int probes__ring_fd(const struct probes *p, unsigned int ring)
{
	return p->rings.job[ring].fd;
}

uint64_t probes__ring_bytes(const struct probes *p)
{
	return (uint64_t)p->rings.n * p->rings.size;
}

uint64_t probes__memory(const struct probes *p)
{
	return probes__ring_bytes(p) + sizeof(*p->skel->bss_seen) + sizeof(*p->skel->bss_curg) +
	       sizeof(*p->skel->bss_rings) + sizeof(*p->skel->bss_texts) +
	       p->rings.cpus * (sizeof(struct gt_counters) + sizeof(struct gt_window[GT_WINDOWS])) +
	       GT_SLOTS * SLOT_BYTES;
}

int probes__counters(const struct probes *p, struct gt_counters *ret)
{
	size_t words = sizeof(*ret) / sizeof(gt_u64), i, cpu;
	struct gt_counters *each = calloc(p->rings.cpus, sizeof(*each));
	uint32_t zero = 0;
	int err = -ENOMEM;

	if (!each)
		return err;
	err = bpf_map_lookup_elem(p->rings.counters, &zero, each);
	if (!err) {
		memset(ret, 0, sizeof(*ret));
		for (cpu = 0; cpu < p->rings.cpus; cpu++)
			for (i = 0; i < words; i++)
				((gt_u64 *)ret)[i] += ((gt_u64 *)&each[cpu])[i];
		if (p->kernel)
			kernel_probes__add_skipped(p->kernel, ret->lost);
	}
	free(each);
	return err;
}

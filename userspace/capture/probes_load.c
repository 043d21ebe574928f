// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the BPF programs of a recording: those that its event sets and its target need, with their
 * rings, and in parallel the programs of kernel events.
 *
 * Upstream: probes.c. Downstream: rings.c, kernel_probes.c, sampler.c; probes_programs.c selects the
 * programs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <linux/capability.h>

#include <bpf/libbpf.h>

#include "capture/kernel_probes.h"
#include "capture/kmod.h"
#include "capture/probes_impl.h"
#include "capture/sampler.h"
#include "lib/capability.h"
#include "lib/log.h"
#include "target/arch/arch.h"

#include "alone.skel.h"
#include "gotrace.skel.h"

static bool kernel_is_at_least(unsigned int want_major, unsigned int want_minor)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > want_major || (major == want_major && minor >= want_minor);
}

bool probes__kernel_has_multi(void)
{
	return kernel_is_at_least(6, 10);
}

static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return log__verbose() && level <= LIBBPF_INFO ? vfprintf(stderr, fmt, ap) : 0;
}

void probes__log_libbpf(void)
{
	libbpf_set_print(libbpf_log);
}

int probes__explain(int err, struct error *error, const char *what)
{
	if (err == -EPERM || err == -EACCES)
		return error__set(error, err,
				  "%s: not permitted; run as root, or with CAP_BPF, "
				  "CAP_PERFMON and CAP_SYS_PTRACE",
				  what);
	if (err == -EINVAL && !kernel_is_at_least(6, 1))
		return error__set(error, err, "%s: the kernel is older than Linux 6.1", what);
	return error__set(error, err, "%s: %s%s", what, strerror(-err),
			  log__verbose() ? "" : " (--verbose shows the kernel's log)");
}

int probes__explain_perf_uprobes(int err, struct error *error, const char *what)
{
	if ((err == -EPERM || err == -EACCES) && capability__has(CAP_PERFMON) &&
	    !capability__has(CAP_SYS_ADMIN))
		return error__set(
			error, err,
			"%s: not permitted; this kernel permits uprobes by perf events "
			"(--force-perf-uprobes, or before Linux 6.10) with CAP_SYS_ADMIN only: "
			"run as root, or with CAP_BPF, CAP_SYS_ADMIN and CAP_SYS_PTRACE",
			what);
	return probes__explain(err, error, what);
}

struct bpf_program *probes__exec_program(const struct probes *p)
{
	return p->opts.session ? p->skel->progs.process_exec_session : p->skel->progs.process_exec;
}

static void prepare_programs(struct probes *p)
{
	struct bpf_program *program;
	enum gt_probe probe;

	bpf_object__for_each_program (program, p->skel->obj) {
		bpf_program__set_autoload(program, program == probes__exec_program(p));
		bpf_program__set_autoattach(program, false);
		if (!p->multi && program != p->skel->progs.process_exec &&
		    program != p->skel->progs.process_exec_session)
			bpf_program__set_expected_attach_type(program, 0);
	}
	for (probe = 0; probe < GT_PROBE_COUNT; probe++)
		if (probes__wants(&p->opts, probe))
			bpf_program__set_autoload(probes__program_of(p->skel, probe), true);
}

/* Whether the table has requests to HTTP servers: its unused rows are 0. */
static bool serves_http(const struct gt_request_site *site)
{
	for (unsigned int i = 0; site && i < GT_REQUEST_SITES; i++)
		if (site[i].preset == GT_PRESET_HTTP && site[i].step == GT_REQUEST_BEGINS &&
		    site[i].text[0].reg)
			return true;
	return false;
}

static void *open_kernel(void *argument)
{
	struct probes *p = argument;
	unsigned int sets = p->opts.sets & KERNEL_SETS;

	if (p->kernel_job.config.syscall_at)
		sets |= SITE_SET(SYSCALL);
	p->kernel_job.err =
		kernel_probes__open(&p->kernel, &p->kernel_job.config, &p->pid_ns, &p->rings, sets,
				    serves_http(p->opts.requests), &p->kernel_job.error);
	return NULL;
}

static bool needs_kernel(const struct probes *p)
{
	return p->opts.sets & KERNEL_SETS || p->skel->rodata->config.syscall_at;
}

static void start_kernel(struct probes *p)
{
	if (!needs_kernel(p))
		return;
	p->kernel_job.config = p->skel->rodata->config;
	p->kernel_job.threaded = !pthread_create(&p->kernel_job.thread, NULL, open_kernel, p);
	if (!p->kernel_job.threaded)
		open_kernel(p);
}

int probes__without_kernel(struct probes *p, int err, struct error *error, const struct error *why)
{
	if (!err)
		return 0;
	if (!p->opts.kernel_optional)
		return error__set(error, err, "%s", why->text);
	log__msg("continuing without event set kernel: %s", why->text);
	kernel_probes__destroy(p->kernel);
	p->kernel = NULL;
	return 0;
}

static void wait_for_kernel(struct probes *p)
{
	if (p->kernel_job.threaded)
		pthread_join(p->kernel_job.thread, NULL);
	p->kernel_job.threaded = false;
}

static int load_probes(struct probes *p, struct error *error)
{
	int err = gotrace_bpf__load(p->skel), rings = rings__finish(&p->rings);

	if (err == -EACCES) /* not a lack of privilege: that is -EPERM */
		return error__set(error, err, "the kernel's verifier rejects the BPF programs%s",
				  log__verbose() ? "" : " (--verbose shows the kernel's log)");
	if (err)
		return probes__explain(err, error, "cannot load the BPF programs");
	return rings ? probes__explain(rings, error, "cannot create a ring buffer") : 0;
}

/* Finds out whether BPF programs can call the kernel module. Only a session requires that. */
static int find_module(struct probes *p, struct error *error)
{
	struct kmod *module;
	struct error why = {};
	int err = kmod__open(&module, &why);

	if (!err) {
		p->kfuncs = kmod__has_kfuncs(module);
		kmod__close(module);
	}
	log__debug("stacks are unwound by %s", p->kfuncs ? "the kernel module" : "BPF programs");
	if (err && err != -ENOENT)
		log__debug("%s", why.text);
	if (!p->opts.session)
		return 0;
	/* Page faults run perf event programs, which can call modules from 6.12 on. */
	if (p->opts.sets & SITE_SET(FAULT) && !kernel_is_at_least(6, 12))
		return error__set(error, -ENOTSUP,
				  "--blackbox can record page faults only on Linux 6.12 or later: "
				  "record without event set fault");
	if (p->kfuncs)
		return 0;
	if (err)
		return error__set(error, err, "%s", why.text);
	return error__set(error, -ENOTSUP,
			  "the kernel module is loaded, but BPF programs cannot call it "
			  "(gotrace-bpf doctor shows the reason)");
}

/*
 * The object exists twice. The one that calls the module's functions requires the kernel's types,
 * which takes time and is not possible everywhere; without the module the other one is used.
 */
static struct gotrace_bpf *open_programs(bool with_module)
{
	struct gotrace_bpf *skel = calloc(1, sizeof(*skel));

	if (!skel || gotrace_bpf__create_skeleton(skel)) {
		free(skel);
		return NULL;
	}
	if (!with_module)
		skel->skeleton->data = alone_bpf__elf_bytes(&skel->skeleton->data_sz);
	if (!bpf_object__open_skeleton(skel->skeleton, NULL))
		return skel;
	gotrace_bpf__destroy(skel);
	return NULL;
}

static const struct site *find_site(const struct probes_opts *opts, enum gt_probe probe)
{
	for (size_t i = 0; i < opts->sites->n; i++)
		if (opts->sites->site[i].probe == probe)
			return &opts->sites->site[i];
	return NULL;
}

/* The address to which Go's system calls return, if they are derived; or 0. */
static uint64_t syscall_at(const struct probes_opts *opts)
{
	const struct site *site = find_site(opts, GT_PROBE_SYSCALL_AT);

	return site && probes__derives_syscalls(opts) ?
		       opts->bias + site->addr + ARCH_SYSCALL_SIZE :
		       0;
}

/* The address of the heap's size, if it may be sampled; or 0. */
static uint64_t heap_live(const struct probes_opts *opts)
{
	const struct site *site = find_site(opts, GT_PROBE_HEAP_ALLOC);
	uint64_t address = site ? GT_COOKIE_COUNTER(site->cookie) : 0;

	return address && !opts->heap_whole && probes__wants(opts, GT_PROBE_HEAP_ALLOC) ?
		       opts->bias + address :
		       0;
}

/* The constants of the programs, which the verifier then knows. */
static void set_config(struct probes *p)
{
	struct gt_config *config = &p->skel->rodata->config;

	*config = *p->opts.config;
	config->tgid = (uint32_t)p->opts.pid;
	config->rings = p->rings.n;
	config->stack_depth = p->opts.stack_depth;
	config->kfuncs = p->kfuncs;
	config->session = p->opts.session;
	config->inlined_sites = probes__has_inlined_sites(p->opts.sites) || p->opts.plugins_inlined;
	config->derives = p->opts.derives;
	config->derived_ns = p->opts.derived_ns;
	config->exits_probed = p->opts.sites->has[GT_PROBE_SYSCALL_EXIT];
	config->syscall_at = syscall_at(&p->opts);
	config->calls_only = config->syscall_at && !(p->opts.sets & SITE_SET(KERNEL));
	config->heap_live = heap_live(&p->opts);
	p->skel->rodata->pid_ns = p->pid_ns;
	if (p->opts.requests)
		memcpy((void *)p->skel->rodata->request_sites, p->opts.requests,
		       sizeof(p->skel->rodata->request_sites));
}

/* The tracepoints from which system calls were to be derived are unavailable: probes are needed. */
static int load_again(struct probes *p, struct error *error)
{
	p->opts.sets &= ~SITE_SET(KERNEL);
	p->opts.no_tracepoints = true;
	gotrace_bpf__destroy(p->skel);
	p->skel = NULL;
	rings__destroy(&p->rings);
	p->kernel_job = (struct kernel_job){};
	return probes__load(p, error);
}

int probes__load(struct probes *p, struct error *error)
{
	const struct gt_config *config;
	int err = find_module(p, error);

	if (err)
		return err;
	p->skel = open_programs(p->kfuncs);
	if (!p->skel)
		return probes__explain(-errno, error, "cannot open the BPF programs");
	if (p->opts.session)
		err = rings__start_none(&p->rings);
	else
		err = rings__start(&p->rings, p->opts.ring_size);
	if (!err)
		err = rings__use(&p->rings, p->skel->obj);
	if (err)
		return probes__explain(err, error, "cannot create the ring buffers");
	set_config(p);
	config = &p->skel->rodata->config;
	prepare_programs(p);
	start_kernel(p);
	err = load_probes(p, error);
	wait_for_kernel(p);
	if (!err && p->kernel_job.err && config->calls_only) {
		log__debug("system calls have probes: %s", p->kernel_job.error.text);
		return load_again(p, error);
	}
	if (!err && p->kernel_job.err) {
		err = probes__without_kernel(p, p->kernel_job.err, error, &p->kernel_job.error);
		if (!err && config->syscall_at)
			return load_again(p, error);
	}
	if (!err && p->opts.sample_hz)
		err = sampler__open(&p->sampler, config, &p->pid_ns, &p->rings, error);
	return err;
}

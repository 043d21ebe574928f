// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of one recording: see probes.h.
 *
 * Before Linux 6.10 the PID filter of uprobe_multi compares threads, not processes; on these kernels,
 * and with --force-perf-uprobes, each site is a perf uprobe of its own, with the same programs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/kernel_probes.h"
#include "capture/kmod.h"
#include "capture/probes.h"
#include "capture/probes_impl.h"
#include "capture/rings.h"
#include "capture/sampler.h"
#include "capture/site_links.h"
#include "gotrace/window.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "target/arch/arch.h"

#include "alone.skel.h"
#include "gotrace.skel.h"

#define SLOT_BYTES  224 /* of an entry of the map of slots, with the kernel's own data */
#define KERNEL_SETS (SITE_SET(KERNEL) | SITE_SET(FAULT))

/* Kernel event programs are loaded in parallel to the probes: each takes tens of milliseconds. */
struct kernel_job {
	pthread_t thread;
	bool threaded;
	struct gt_config config;
	int err;
	struct error error;
};

struct probes {
	struct gotrace_bpf *skel;
	struct probes_opts opts;
	bool multi;
	bool kfuncs; /* the kernel module's functions can be called */
	struct bpf_link *exec;
	struct site_links *links;
	struct rings rings;
	unsigned int sets;	      /* that are attached, or will be: probes__select() */
	struct sampler *sampler;      /* NULL: no CPU samples */
	struct kernel_probes *kernel; /* NULL: not wanted, or unavailable */
	struct kernel_job kernel_job;
};

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
	return error__set(error, err, "%s: %s%s", what, strerror(-err),
			  log__verbose() ? "" : " (--verbose shows the kernel's log)");
}

static struct bpf_program *exec_program(const struct probes *p)
{
	return p->opts.session ? p->skel->progs.process_exec_session : p->skel->progs.process_exec;
}

static void prepare_programs(struct probes *p)
{
	struct bpf_program *program;
	enum gt_probe probe;

	bpf_object__for_each_program (program, p->skel->obj) {
		bpf_program__set_autoload(program, program == exec_program(p));
		bpf_program__set_autoattach(program, false);
		if (!p->multi && program != p->skel->progs.process_exec &&
		    program != p->skel->progs.process_exec_session)
			bpf_program__set_expected_attach_type(program, 0);
	}
	for (probe = 0; probe < GT_PROBE_COUNT; probe++)
		if (probes__wants(&p->opts, probe))
			bpf_program__set_autoload(probes__program_of(p->skel, probe), true);
}

static void *open_kernel(void *argument)
{
	struct probes *p = argument;
	unsigned int sets = p->opts.sets & KERNEL_SETS;

	if (p->kernel_job.config.syscall_at)
		sets |= SITE_SET(SYSCALL);
	p->kernel_job.err = kernel_probes__open(&p->kernel, &p->kernel_job.config, &p->rings, sets,
						&p->kernel_job.error);
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

/* Set kernel is a default set: if it is unavailable, the recording continues without it. */
static int without_kernel(struct probes *p, int err, struct error *error, const struct error *why)
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

static int load(struct probes *p, struct error *error);

/* The tracepoints from which system calls were to be derived are unavailable: probes are needed. */
static int load_again(struct probes *p, struct error *error)
{
	p->opts.sets &= ~SITE_SET(KERNEL);
	p->opts.no_tracepoints = true;
	gotrace_bpf__destroy(p->skel);
	p->skel = NULL;
	rings__destroy(&p->rings);
	p->kernel_job = (struct kernel_job){};
	return load(p, error);
}

static int load(struct probes *p, struct error *error)
{
	struct gt_config *config;
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
	config = &p->skel->rodata->config;
	*config = *p->opts.config;
	config->tgid = (uint32_t)p->opts.pid;
	config->rings = p->rings.n;
	config->stack_depth = p->opts.stack_depth;
	config->kfuncs = p->kfuncs;
	config->session = p->opts.session;
	config->inlined_sites = probes__has_inlined_sites(p->opts.sites);
	config->derives = p->opts.derives;
	config->derived_ns = p->opts.derived_ns;
	config->exits_probed = p->opts.sites->has[GT_PROBE_SYSCALL_EXIT];
	config->syscall_at = syscall_at(&p->opts);
	config->calls_only = config->syscall_at && !(p->opts.sets & SITE_SET(KERNEL));
	config->heap_live = heap_live(&p->opts);
	if (p->opts.requests)
		memcpy((void *)p->skel->rodata->request_sites, p->opts.requests,
		       sizeof(p->skel->rodata->request_sites));
	prepare_programs(p);
	start_kernel(p);
	err = load_probes(p, error);
	wait_for_kernel(p);
	if (!err && p->kernel_job.err && config->calls_only) {
		log__debug("system calls have probes: %s", p->kernel_job.error.text);
		return load_again(p, error);
	}
	if (!err && p->kernel_job.err) {
		err = without_kernel(p, p->kernel_job.err, error, &p->kernel_job.error);
		if (!err && config->syscall_at)
			return load_again(p, error);
	}
	if (!err && p->opts.sample_hz)
		err = sampler__open(&p->sampler, config, &p->rings, error);
	return err;
}

int probes__check_namespace(struct error *error)
{
	struct stat ns;

	if (stat("/proc/self/ns/pid", &ns) || ns.st_ino == PROBES_INIT_PID_NS)
		return 0;
	return error__set(error, -ENOTSUP,
			  "gotrace-bpf cannot identify its target from a PID namespace of "
			  "its own: run it in the host's (--pid=host, hostPID)");
}

int probes__open(struct probes **ret, const struct probes_opts *opts, struct error *error)
{
	struct probes *p;
	int err;

	probes__log_libbpf();
	steps__say("loading the BPF programs");
	err = probes__check_namespace(error);
	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	p->multi = !opts->force_perf && probes__kernel_has_multi();
	err = load(p, error);
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

int probes__attach(struct probes *p, struct error *error)
{
	struct error why = {};
	int err;

	steps__say("attaching %zu probes", site_links__count(p->links));
	if (!p->exec)
		p->exec = bpf_program__attach(exec_program(p));
	if (!p->exec)
		return probes__explain(-errno, error, "cannot attach to sched_process_exec");
	/* First: a system call is seen at its entry once a probe has found its goroutine. */
	err = p->kernel ? kernel_probes__attach(p->kernel, &why) : 0;
	if (err && p->skel->rodata->config.syscall_at)
		return error__set(error, err, "%s; choose --events=sched,gc,heap,user", why.text);
	err = without_kernel(p, err, error, &why);
	if (!err)
		err = site_links__attach(p->links, site_sets(p), error);
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
	site_links__keep(p->links, site_sets(p));
	return true;
}

static void detach_all(struct probes *p)
{
	sampler__detach(p->sampler);
	kernel_probes__detach(p->kernel);
	if (p->links)
		site_links__detach(p->links);
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
	site_links__keep(p->links, site_sets(p));
}

int probes__add(struct probes *p, unsigned int sets, struct error *error)
{
	int err = 0;

	probes__select(p, p->sets | sets);
	if (p->kernel && sets & KERNEL_SETS)
		err = kernel_probes__attach(p->kernel, error);
	if (!err)
		err = site_links__attach(p->links, site_sets(p), error);
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
	return rings__reset(&p->rings);
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
	free(p);
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
	}
	free(each);
	return err;
}

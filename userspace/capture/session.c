// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of one recording: see session.h.
 *
 * By uprobe_multi, one link a program holds all its sites. Its PID filter compares threads,
 * not processes, before kernel 6.10, so until then, and by --force-perf-uprobes, each site is a
 * perf uprobe of its own, with the same programs.
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
#include "capture/rings.h"
#include "capture/sampler.h"
#include "capture/session.h"
#include "capture/session_impl.h"
#include "lib/log.h"
#include "lib/steps.h"

#include "alone.skel.h"
#include "gotrace.skel.h"

#define SITES_A_LINK 128 /* as many as site.c makes */
#define KERNEL_SETS  (SITE_SET(KERNEL) | SITE_SET(FAULT))

/* The kernel's side is loaded at the same time as the probes: each takes its tens of milliseconds. */
struct kernel_job {
	pthread_t thread;
	bool threaded;
	struct gt_config config;
	int code;
	struct error err;
};

struct session {
	struct gotrace_bpf *skel;
	struct session_opts opts;
	bool multi;
	bool kfuncs; /* the module's functions can be called */
	struct bpf_link *exec;
	unsigned int nlinks;
	struct rings rings;
	struct bpf_link **link;
	struct sampler *sampler;      /* NULL: none wanted */
	struct kernel_probes *kernel; /* NULL: none wanted, or none to be had */
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

bool session__kernel_has_multi(void)
{
	return kernel_is_at_least(6, 10);
}

static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return log__verbose() && level <= LIBBPF_INFO ? vfprintf(stderr, fmt, ap) : 0;
}

static int explain(int code, struct error *err, const char *what)
{
	if (code == -EPERM || code == -EACCES)
		return error__set(err, code,
				  "%s: not permitted; run as root, or with CAP_BPF, "
				  "CAP_PERFMON and CAP_SYS_PTRACE",
				  what);
	return error__set(err, code, "%s: %s%s", what, strerror(-code),
			  log__verbose() ? "" : " (--verbose shows the kernel's log)");
}

static struct bpf_program *exec_program(const struct session *s)
{
	return s->opts.session ? s->skel->progs.process_exec_session : s->skel->progs.process_exec;
}

static void prepare_programs(struct session *s)
{
	struct bpf_program *program;
	enum gt_probe probe;

	bpf_object__for_each_program (program, s->skel->obj) {
		bpf_program__set_autoload(program, program == exec_program(s));
		bpf_program__set_autoattach(program, false);
		if (!s->multi && program != s->skel->progs.process_exec &&
		    program != s->skel->progs.process_exec_session)
			bpf_program__set_expected_attach_type(program, 0);
	}
	for (probe = 0; probe < GT_PROBE_COUNT; probe++)
		if (session__wants(&s->opts, probe))
			bpf_program__set_autoload(session__program_of(s->skel, probe), true);
}

static void *open_kernel(void *argument)
{
	struct session *s = argument;

	s->kernel_job.code = kernel_probes__open(&s->kernel, &s->kernel_job.config, &s->rings,
						 s->opts.sets, &s->kernel_job.err);
	return NULL;
}

static void start_kernel(struct session *s)
{
	if (!(s->opts.sets & KERNEL_SETS))
		return;
	s->kernel_job.config = s->skel->rodata->config;
	s->kernel_job.threaded = !pthread_create(&s->kernel_job.thread, NULL, open_kernel, s);
	if (!s->kernel_job.threaded)
		open_kernel(s);
}

/* Set kernel is a default one: where it can't be had, all else is recorded without it. */
static int without_kernel(struct session *s, int code, struct error *err, const struct error *why)
{
	if (!code)
		return 0;
	if (!s->opts.kernel_optional)
		return error__set(err, code, "%s", why->text);
	log__msg("recorded without set kernel: %s", why->text);
	kernel_probes__destroy(s->kernel);
	s->kernel = NULL;
	return 0;
}

static void wait_for_kernel(struct session *s)
{
	if (s->kernel_job.threaded)
		pthread_join(s->kernel_job.thread, NULL);
	s->kernel_job.threaded = false;
}

static int load_probes(struct session *s, struct error *err)
{
	int code = gotrace_bpf__load(s->skel), rings = rings__finish(&s->rings);

	if (code == -EACCES) /* not a lack of privilege: that is -EPERM */
		return error__set(err, code, "the kernel's verifier refuses the BPF programs%s",
				  log__verbose() ? "" : " (--verbose shows why)");
	if (code)
		return explain(code, err, "cannot load the BPF programs");
	return rings ? explain(rings, err, "cannot create a ring buffer") : 0;
}

/* Whether the module is there and programs can call it; without a session it is no one's fault if not. */
static int find_module(struct session *s, struct error *err)
{
	struct kmod *module;
	struct error why = {};
	int code = kmod__open(&module, &why);

	if (!code) {
		s->kfuncs = kmod__has_kfuncs(module);
		kmod__close(module);
	}
	log__debug("stacks are walked by %s", s->kfuncs ? "the kernel module" : "BPF programs");
	if (code && code != -ENOENT)
		log__debug("%s", why.text);
	if (!s->opts.session)
		return 0;
	/* Those of page faults are perf events' programs, which may call a module from then on. */
	if (s->opts.sets & SITE_SET(FAULT) && !kernel_is_at_least(6, 12))
		return error__set(err, -ENOTSUP,
				  "page faults go into a black box with kernels of 6.12 "
				  "or later only: record without set fault");
	if (s->kfuncs)
		return 0;
	if (code)
		return error__set(err, code, "%s", why.text);
	return error__set(err, -ENOTSUP,
			  "the kernel module is loaded, but BPF programs cannot call it "
			  "(gotrace-bpf doctor says why)");
}

/*
 * The same programs twice: those that know the module's functions want the kernel's types, which takes time and
 * is not possible everywhere; so where the module is not there, those are taken that don't know it.
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

static int load(struct session *s, struct error *err)
{
	struct gt_config *config;
	int code = find_module(s, err);

	if (code)
		return code;
	s->skel = open_programs(s->kfuncs);
	if (!s->skel)
		return explain(-errno, err, "cannot open the BPF programs");
	if (s->opts.session)
		code = rings__start_none(&s->rings);
	else
		code = rings__start(&s->rings, s->opts.ring_size);
	if (!code)
		code = rings__use(&s->rings, s->skel->obj);
	if (code)
		return explain(code, err, "cannot create the ring buffers");
	config = &s->skel->rodata->config;
	*config = *s->opts.config;
	config->tgid = (uint32_t)s->opts.pid;
	config->rings = s->rings.n;
	config->stack_depth = s->opts.stack_depth;
	config->kfuncs = s->kfuncs;
	config->session = s->opts.session;
	config->inlined_sites = session__has_inlined_sites(s->opts.sites);
	prepare_programs(s);
	start_kernel(s);
	code = load_probes(s, err);
	wait_for_kernel(s);
	if (!code)
		code = without_kernel(s, s->kernel_job.code, err, &s->kernel_job.err);
	if (!code && s->opts.sample_hz)
		code = sampler__open(&s->sampler, config, &s->rings, err);
	return code;
}

int session__open(struct session **ret, const struct session_opts *opts, struct error *err)
{
	struct session *s;
	struct stat ns;
	int code;

	libbpf_set_print(libbpf_log);
	steps__say("loading the BPF programs");
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != SESSION_INIT_PID_NS)
		return error__set(err, -ENOTSUP,
				  "in a PID namespace of its own, gotrace-bpf can't tell "
				  "its target; run it in the host's (--pid=host, hostPID)");
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->multi = !opts->force_perf && session__kernel_has_multi();
	s->link = calloc(opts->sites->n + 1, sizeof(*s->link));
	code = s->link ? load(s, err) : -ENOMEM;
	if (code) {
		session__destroy(s);
		return code;
	}
	*ret = s;
	return 0;
}

static int keep(struct session *s, struct bpf_link *link, const char *func, struct error *err)
{
	char what[160];
	int code = -errno;

	if (link) {
		s->link[s->nlinks++] = link;
		return 0;
	}
	if (code == -ESRCH)
		return error__set(err, code, "process %d ended while probes were attached",
				  s->opts.pid);
	snprintf(what, sizeof(what), "cannot attach a probe to %s", func);
	return explain(code, err, what);
}

/* All sites of a program by one link. */
static int attach_multi(struct session *s, struct bpf_program *program, struct error *err)
{
	unsigned long offsets[SITES_A_LINK];
	__u64 cookies[SITES_A_LINK];
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offsets, .cookies = cookies);
	const struct site *site, *end = s->opts.sites->site + s->opts.sites->n;
	const char *func = "";

	for (site = s->opts.sites->site; site < end; site++) {
		if (!session__wants(&s->opts, site->probe) ||
		    session__program_of(s->skel, site->probe) != program)
			continue;
		if (opts.cnt == SITES_A_LINK)
			return error__set(err, -E2BIG, "more than %d sites for one probe at %s",
					  SITES_A_LINK, site->func);
		offsets[opts.cnt] = site->offset;
		cookies[opts.cnt++] = GT_COOKIE(site->probe, site->cookie);
		func = site->func;
	}
	if (!opts.cnt)
		return 0;
	return keep(
		s,
		bpf_program__attach_uprobe_multi(program, s->opts.pid, s->opts.path, NULL, &opts),
		func, err);
}

static int attach_perf(struct session *s, const struct site *site, struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = GT_COOKIE(site->probe, site->cookie));

	return keep(s,
		    bpf_program__attach_uprobe_opts(session__program_of(s->skel, site->probe),
						    s->opts.pid, s->opts.path, site->offset, &opts),
		    site->func, err);
}

static int attach_sites(struct session *s, struct error *err)
{
	struct bpf_program *program;
	int code = 0;
	size_t i;

	if (s->multi) {
		bpf_object__for_each_program (program, s->skel->obj) {
			if (!code)
				code = attach_multi(s, program, err);
		}
		return code;
	}
	for (i = 0; i < s->opts.sites->n && !code; i++)
		if (session__wants(&s->opts, s->opts.sites->site[i].probe))
			code = attach_perf(s, &s->opts.sites->site[i], err);
	return code;
}

int session__attach(struct session *s, struct error *err)
{
	struct error why = {};
	int code;

	steps__say("attaching %zu probes", s->opts.sites->n);
	s->exec = bpf_program__attach(exec_program(s));
	if (!s->exec)
		return explain(-errno, err, "cannot attach to sched_process_exec");
	code = attach_sites(s, err);
	if (!code && s->sampler)
		code = sampler__attach(s->sampler, s->opts.sample_hz, err);
	if (!code && s->kernel)
		code = without_kernel(s, kernel_probes__attach(s->kernel, &why), err, &why);
	return code;
}

static void *destroy_link(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

/*
 * For each link the kernel waits until no CPU runs its program any more, about 60 ms. All at once
 * they wait for the same; one after the other took 1.3 s, in which the target still ran into
 * probes.
 */
void session__detach(struct session *s)
{
	pthread_t *thread = calloc(s->nlinks + 1, sizeof(*thread));
	bool *started = calloc(s->nlinks + 1, sizeof(*started));
	unsigned int i;

	sampler__detach(s->sampler);
	kernel_probes__detach(s->kernel);
	for (i = 0; i < s->nlinks; i++) {
		if (thread && started)
			started[i] = !pthread_create(&thread[i], NULL, destroy_link, s->link[i]);
		if (!started || !started[i])
			destroy_link(s->link[i]);
	}
	bpf_link__destroy(s->exec);
	s->exec = NULL;
	for (i = 0; i < s->nlinks; i++)
		if (started && started[i])
			pthread_join(thread[i], NULL);
	s->nlinks = 0;
	free(thread);
	free(started);
}

void session__destroy(struct session *s)
{
	if (!s)
		return;
	if (s->skel)
		session__detach(s);
	rings__destroy(&s->rings);
	sampler__destroy(s->sampler);
	kernel_probes__destroy(s->kernel);
	gotrace_bpf__destroy(s->skel);
	free(s->link);
	free(s);
}

bool session__has_kernel(const struct session *s)
{
	return s->kernel;
}

bool session__multi(const struct session *s)
{
	return s->multi;
}

bool session__kfuncs(const struct session *s)
{
	return s->kfuncs;
}

unsigned int session__rings(const struct session *s)
{
	return s->rings.n;
}

int session__ring_fd(const struct session *s, unsigned int ring)
{
	return s->rings.job[ring].fd;
}

uint64_t session__ring_bytes(const struct session *s)
{
	return (uint64_t)s->rings.n * s->rings.size;
}

uint64_t session__memory(const struct session *s)
{
	return session__ring_bytes(s) + sizeof(*s->skel->bss_seen) + sizeof(*s->skel->bss_curg) +
	       sizeof(*s->skel->bss_rings) + sizeof(*s->skel->bss_texts) +
	       s->rings.cpus * sizeof(struct gt_counters);
}

int session__counters(const struct session *s, struct gt_counters *ret)
{
	size_t words = sizeof(*ret) / sizeof(gt_u64), i, cpu;
	struct gt_counters *each = calloc(s->rings.cpus, sizeof(*each));
	uint32_t zero = 0;
	int code = -ENOMEM;

	if (!each)
		return code;
	code = bpf_map_lookup_elem(s->rings.counters, &zero, each);
	if (!code) {
		memset(ret, 0, sizeof(*ret));
		for (cpu = 0; cpu < s->rings.cpus; cpu++)
			for (i = 0; i < words; i++)
				((gt_u64 *)ret)[i] += ((gt_u64 *)&each[cpu])[i];
	}
	free(each);
	return code;
}

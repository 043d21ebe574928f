// SPDX-License-Identifier: GPL-2.0
/*
 * Counts hits: see hits.h. The links are those of this process, as the recorder's are: they are
 * gone with it, whatever ends it (detach.c).
 */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/cpu_events.h"
#include "capture/detach.h"
#include "capture/hits.h"
#include "capture/probes_impl.h"
#include "lib/clock.h"
#include "target/arch/arch.h"

#include "hits.skel.h"

#define KERNEL_LINKS 3
#define ROUNDS	     10
#define CALLS	     1000 /* per round */
#define STEPS	     100

struct hits {
	struct hits_bpf *skel;
	pid_t pid;
	const char *path;
	bool kernel, multi;
	unsigned long offset[SITES_MAX];
	__u64 cookie[SITES_MAX];
	unsigned int sites, nlinks;
	struct bpf_link *link[SITES_MAX + KERNEL_LINKS];
};

/* Sets the reason, unless it is known already. Returns err. */
static int explain(int err, struct error *error)
{
	if (error->text[0])
		return err;
	if (err == -EPERM || err == -EACCES)
		return error__set(error, err,
				  "cannot count hits: not permitted; run as root, or with CAP_BPF "
				  "and CAP_PERFMON");
	return error__set(error, err, "cannot count hits: %s", strerror(-err));
}

static int create(struct hits **ret, pid_t pid, const char *path, bool kernel, struct error *error)
{
	struct gt_pid_ns pid_ns;
	struct hits *h;
	int err = pid_ns__find(&pid_ns, error);

	if (err)
		return err;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	probes__log_libbpf();
	*h = (struct hits){
		.pid = pid, .path = path, .kernel = kernel, .multi = probes__kernel_has_multi()
	};
	h->skel = hits_bpf__open();
	if (!h->skel) {
		err = -errno;
		free(h);
		return err;
	}
	h->skel->rodata->pid_ns = pid_ns;
	h->skel->rodata->target = (__u32)pid;
	bpf_program__set_autoload(h->skel->progs.count_call, kernel);
	bpf_program__set_autoload(h->skel->progs.count_switch, kernel);
	bpf_program__set_autoload(h->skel->progs.count_wake, kernel);
	if (!h->multi)
		bpf_program__set_expected_attach_type(h->skel->progs.count_hit, 0);
	err = hits_bpf__load(h->skel);
	if (err)
		hits__destroy(h);
	else
		*ret = h;
	return err;
}

int hits__open(struct hits **ret, const struct probes_opts *opts, struct error *error)
{
	bool kernel = opts->sets & SITE_SET(KERNEL);
	const struct site *site = opts->sites->site, *end = site + opts->sites->n;
	int err = create(ret, opts->pid, opts->path, kernel, error);

	for (; !err && site < end; site++) {
		struct hits *h = *ret;

		if (!probes__wants(opts, site->probe))
			continue;
		if (h->sites == SITES_MAX)
			break;
		h->offset[h->sites] = site->offset;
		h->cookie[h->sites++] = GT_HITS_OF(site->probe, site->cost == SITE_STEPPED);
	}
	return err ? explain(err, error) : 0;
}

static int keep(struct hits *h, struct bpf_link *link, struct error *error)
{
	if (!link)
		return explain(-errno, error);
	h->link[h->nlinks++] = link;
	return 0;
}

static int attach_sites(struct hits *h, struct error *error)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, multi, .offsets = h->offset, .cookies = h->cookie,
		    .cnt = h->sites);
	const struct bpf_program *program = h->skel->progs.count_hit;
	int err = 0;

	if (h->multi && h->sites)
		return keep(
			h, bpf_program__attach_uprobe_multi(program, h->pid, h->path, NULL, &multi),
			error);
	for (unsigned int i = 0; i < h->sites && !err; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, one, .bpf_cookie = h->cookie[i]);
		struct bpf_link *link = bpf_program__attach_uprobe_opts(program, h->pid, h->path,
									h->offset[i], &one);

		err = link ? keep(h, link, error) :
			     probes__explain_perf_uprobes(-errno, error, "cannot count hits");
	}
	return err;
}

int hits__attach(struct hits *h, struct error *error)
{
	struct bpf_program *const kernel[KERNEL_LINKS] = { h->skel->progs.count_call,
							   h->skel->progs.count_switch,
							   h->skel->progs.count_wake };
	int err = 0;

	for (unsigned int i = 0; i < KERNEL_LINKS && h->kernel && !err; i++)
		err = keep(h, bpf_program__attach(kernel[i]), error);
	return err ? err : attach_sites(h, error);
}

int hits__read(const struct hits *h, uint64_t ret[GT_HITS_COUNT])
{
	int cpus = libbpf_num_possible_cpus(), map = bpf_map__fd(h->skel->maps.hits), err = 0;
	uint64_t *value = cpus > 0 ? calloc((size_t)cpus, sizeof(*value)) : NULL;

	memset(ret, 0, GT_HITS_COUNT * sizeof(*ret));
	for (__u32 what = 0; value && !err && what < GT_HITS_COUNT; what++) {
		err = bpf_map_lookup_elem(map, &what, value) ? -errno : 0;
		for (int cpu = 0; cpu < cpus; cpu++)
			ret[what] += value[cpu];
	}
	free(value);
	return value ? err : -ENOMEM;
}

void hits__destroy(struct hits *h)
{
	if (!h)
		return;
	detach__links(h->link, h->nlinks);
	hits_bpf__destroy(h->skel);
	free(h);
}

/* ---- what a hit takes ---- */

struct place {
	uint64_t addr;
	unsigned long offset; /* in the file */
};

/* The first object is this program. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;
	uint64_t addr = place->addr - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || addr - ph->p_vaddr >= ph->p_filesz)
			continue;
		place->offset = addr - ph->p_vaddr + ph->p_offset;
		return 1;
	}
	return -1;
}

/* An instruction of this program. */
static int add_own_site(struct hits *h, const char *at, struct error *error)
{
	struct place place = { .addr = (uintptr_t)at };

	if (dl_iterate_phdr(find_offset, &place) != 1)
		return explain(-ENOENT, error);
	h->offset[h->sites++] = place.offset;
	return 0;
}

int hits__open_trap(struct hits **ret, struct error *error)
{
	int err = create(ret, getpid(), "/proc/self/exe", false, error);

	if (err)
		return explain(err, error);
	err = add_own_site(*ret, arch__trap_at, error);
	if (!err)
		err = add_own_site(*ret, arch__step_at, error);
	if (!err)
		err = hits__attach(*ret, error);
	if (err) {
		hits__destroy(*ret);
		*ret = NULL;
	}
	return err;
}

static double measure(void (*call)(void), int calls)
{
	double best = 1e9, ns;
	uint64_t start;

	for (int round = 0; round < ROUNDS; round++) {
		start = clock__now();
		for (int i = 0; i < calls; i++)
			call();
		ns = (double)(clock__now() - start) / calls;
		best = ns < best ? ns : best;
	}
	return best;
}

double hits__trap_ns(void)
{
	return measure(arch__trapped, CALLS);
}

double hits__stepped_ns(void)
{
	return measure(arch__stepped, STEPS);
}

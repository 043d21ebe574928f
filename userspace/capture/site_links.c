// SPDX-License-Identifier: GPL-2.0
/* The links to sites: see site_links.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "capture/detach.h"
#include "capture/probes.h"
#include "capture/probes_impl.h"
#include "capture/site_links.h"

#include "gotrace.skel.h"

/* Links that are detached at different times. */
enum group {
	GROUP_MOST,
	GROUP_HEAP, /* changes of the heap's size */
	GROUP_SWEEP,
	GROUP_END
};

#define GROUP(group) (1u << GROUP_##group)

struct site_links {
	const struct probes_opts *opts;
	const struct gotrace_bpf *skel;
	bool multi;
	struct bpf_link **link;
	enum group *group; /* of each link */
	unsigned int n;
	struct bpf_link **leaving; /* room for links that are being detached */
	unsigned int attached;	   /* bits, by enum group; also of those attached in part */
};

struct site_links *site_links__create(const struct probes_opts *opts,
				      const struct gotrace_bpf *skel, bool multi)
{
	struct site_links *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->opts = opts;
	l->skel = skel;
	l->multi = multi;
	l->link = calloc(opts->sites->n + 1, sizeof(struct bpf_link *));
	l->group = calloc(opts->sites->n + 1, sizeof(*l->group));
	l->leaving = calloc(opts->sites->n + 1, sizeof(struct bpf_link *));
	if (l->link && l->group && l->leaving)
		return l;
	site_links__destroy(l);
	return NULL;
}

void site_links__destroy(struct site_links *l)
{
	if (!l)
		return;
	site_links__detach(l);
	free(l->link);
	free(l->group);
	free(l->leaving);
	free(l);
}

static enum group group_of(enum gt_probe probe)
{
	return probe == GT_PROBE_HEAP_ALLOC   ? GROUP_HEAP :
	       site__set(probe) == SITE_SWEEP ? GROUP_SWEEP :
						GROUP_MOST;
}

static int keep(struct site_links *l, struct bpf_link *link, const struct site *site,
		struct error *error)
{
	char what[160];
	int err = -errno;

	if (link) {
		l->group[l->n] = group_of(site->probe);
		l->link[l->n++] = link;
		return 0;
	}
	if (err == -ESRCH)
		return error__set(error, err, "process %d ended while probes were being attached",
				  l->opts->pid);
	snprintf(what, sizeof(what), "cannot attach a probe to %s", site->func);
	return l->multi ? probes__explain(err, error, what) :
			  probes__explain_perf_uprobes(err, error, what);
}

/*
 * Attaches sites of a program and a group with one link: from *from on, at most SITES_MAX. Moves *from
 * behind them; without a site left, to NULL.
 */
static int attach_some(struct site_links *l, struct bpf_program *program, enum group group,
		       const struct site **from, struct error *error)
{
	unsigned long offsets[SITES_MAX];
	__u64 cookies[SITES_MAX];
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offsets, .cookies = cookies);
	const struct site *site, *end = l->opts->sites->site + l->opts->sites->n, *last = NULL;

	for (site = *from; site < end; site++) {
		if (!probes__wants(l->opts, site->probe) || group_of(site->probe) != group ||
		    probes__program_of(l->skel, site->probe) != program)
			continue;
		if (opts.cnt == SITES_MAX && site->probe == GT_PROBE_FUNC_CALL)
			break; /* only functions of the program are so many */
		if (opts.cnt == SITES_MAX)
			return error__set(error, -E2BIG, "more than %d sites for one probe at %s",
					  SITES_MAX, site->func);
		offsets[opts.cnt] = site->offset;
		cookies[opts.cnt++] = GT_COOKIE(site->probe, site->cookie);
		last = site;
	}
	*from = site < end ? site : NULL;
	if (!opts.cnt)
		return 0;
	return keep(
		l,
		bpf_program__attach_uprobe_multi(program, l->opts->pid, l->opts->path, NULL, &opts),
		last, error);
}

static int attach_multi(struct site_links *l, struct bpf_program *program, enum group group,
			struct error *error)
{
	const struct site *from = l->opts->sites->n ? l->opts->sites->site : NULL;
	int err = 0;

	while (!err && from)
		err = attach_some(l, program, group, &from, error);
	return err;
}

static int attach_perf(struct site_links *l, const struct site *site, struct error *error)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = GT_COOKIE(site->probe, site->cookie));
	struct bpf_program *program = probes__program_of(l->skel, site->probe);

	return keep(l,
		    bpf_program__attach_uprobe_opts(program, l->opts->pid, l->opts->path,
						    site->offset, &opts),
		    site, error);
}

size_t site_links__count(const struct site_links *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->opts->sites->n; i++)
		n += probes__wants(l->opts, l->opts->sites->site[i].probe);
	return n;
}

static int attach_group(struct site_links *l, enum group group, struct error *error)
{
	const struct site *site = l->opts->sites->site, *end = site + l->opts->sites->n;
	struct bpf_program *program;
	int err = 0;

	if (l->multi) {
		bpf_object__for_each_program (program, l->skel->obj) {
			if (!err)
				err = attach_multi(l, program, group, error);
		}
		return err;
	}
	for (; site < end && !err; site++)
		if (probes__wants(l->opts, site->probe) && group_of(site->probe) == group)
			err = attach_perf(l, site, error);
	return err;
}

static unsigned int groups_of(unsigned int sets)
{
	return GROUP(MOST) | (sets & SITE_SET(HEAP) ? GROUP(HEAP) : 0) |
	       (sets & SITE_SET(SWEEP) ? GROUP(SWEEP) : 0);
}

int site_links__attach(struct site_links *l, unsigned int sets, struct error *error)
{
	unsigned int missing = groups_of(sets) & ~l->attached;
	int err = 0;

	for (enum group group = 0; group < GROUP_END && !err; group++) {
		if (!(missing >> group & 1))
			continue;
		l->attached |= 1u << group;
		err = attach_group(l, group, error);
	}
	return err;
}

static void detach(struct site_links *l, unsigned int groups)
{
	unsigned int kept = 0, n = 0;

	if (!(l->attached & groups))
		return;
	for (unsigned int i = 0; i < l->n; i++) {
		if (groups >> l->group[i] & 1) {
			l->leaving[n++] = l->link[i];
			continue;
		}
		l->group[kept] = l->group[i];
		l->link[kept++] = l->link[i];
	}
	l->n = kept;
	l->attached &= ~groups;
	detach__links(l->leaving, n);
}

void site_links__keep(struct site_links *l, unsigned int sets)
{
	detach(l, ~groups_of(sets));
}

void site_links__detach(struct site_links *l)
{
	detach(l, ~0u);
}

bool site_links__has_heap(const struct site_links *l)
{
	unsigned int i = 0;

	while (i < l->n && l->group[i] != GROUP_HEAP)
		i++;
	return i < l->n;
}

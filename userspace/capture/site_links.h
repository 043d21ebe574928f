/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The links between the BPF programs of probes and the sites in the target, in groups that are
 * detached at different times: changes of the heap's size, sweeping, and all others.
 *
 * With uprobe_multi, one link per program and group holds all its sites. Otherwise each site is a perf
 * uprobe of its own, with the same programs.
 *
 * Upstream: probes.c, which loads the programs. Links are file descriptors: the kernel removes the
 * probes when this process ends in any way.
 */
#ifndef CAPTURE_SITE_LINKS_H
#define CAPTURE_SITE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

struct gotrace_bpf;
struct probes_opts;
struct site_links;

/* Nothing is attached. `opts` and the loaded `skel` are borrowed. NULL: no memory. */
struct site_links *site_links__create(const struct probes_opts *opts,
				      const struct gotrace_bpf *skel, bool multi);
/* Detaches all. NULL is allowed. */
void site_links__destroy(struct site_links *l);

/* How many sites have probes while all sets of opts.sets are attached. */
size_t site_links__count(const struct site_links *l);
/*
 * Attaches the groups of `sets` (bits, by enum site_set) that are not attached. -ESRCH: the process
 * has ended. On failure a group may be attached in part: detach it.
 */
int site_links__attach(struct site_links *l, unsigned int sets, struct error *error);
/* Detaches the groups that `sets` does not need. */
void site_links__keep(struct site_links *l, unsigned int sets);
void site_links__detach(struct site_links *l); /* all */
/* Whether probes of the heap's size are attached. */
bool site_links__has_heap(const struct site_links *l);

#endif

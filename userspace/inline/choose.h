/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sites of a program can be inline, and whether a process allows it.
 *
 * Upstream: target/probe/site.c. Downstream: probes.c; the `doctor` and `probes` commands.
 */
#ifndef INLINE_CHOOSE_H
#define INLINE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/inline.h"
#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/layout/layout.h"
#include "target/probe/site.h"
#include "target/process/process.h"

/* Whether there is an inline form of the site, whose probe is one of those that can be inline. */
bool inline_site__fits(const struct site *site, const struct elf_image *elf,
		       struct gt_inline_site *ret);

/*
 * Fills `site` and `nsites` of *ret with link-time addresses, and *ret_probes with a bit for each
 * probe all of whose sites are there. -ENOTSUP with a reason: another Go release, or one of the
 * probes that must be inline together has a site that cannot be.
 */
int inline_sites__choose(const struct site_list *sites, const struct elf_image *elf,
			 const struct layout *layout, struct gt_inline *ret, uint64_t *ret_probes,
			 struct error *error);

/*
 * Whether the process may be changed; `in` has the sites, with link-time addresses. Changes nothing. A
 * negative errno with the reason and the remedy.
 */
int inline_process__check(const struct process *proc, const struct elf_image *elf,
			  const struct gt_inline *in, struct error *error);

#endif

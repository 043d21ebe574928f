// SPDX-License-Identifier: GPL-2.0
/* The sites that can be inline: see choose.h. site_x86.c examines the instructions. */
#include "inline/choose.h"

#include <errno.h>

/* Parks and ends are derived from uprobes at execute(): if one of these is inline, all must be. */
static const enum gt_probe together[] = { GT_PROBE_EXECUTE, GT_PROBE_PARK, GT_PROBE_DESTROY };

#define PROBES                                                                                     \
	(1ull << GT_PROBE_EXECUTE | 1ull << GT_PROBE_PARK | 1ull << GT_PROBE_READY |               \
	 1ull << GT_PROBE_CAS_RUNNABLE | 1ull << GT_PROBE_CREATE | 1ull << GT_PROBE_DESTROY)
_Static_assert(GT_PROBE_COUNT <= 64, "a bit for each probe");

#define MINOR_FIRST 22
#define MINOR_LAST  27

static bool is_needed(enum gt_probe probe)
{
	for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++)
		if (together[i] == probe)
			return true;
	return false;
}

static int refuse_site(const struct site *site, struct error *error)
{
	return error__set(
		error, -ENOTSUP,
		"%s cannot have an inline probe in this program: it does not begin with a "
		"stack check that has a long jump; record with --probes=uprobe",
		site->func);
}

int inline_sites__choose(const struct site_list *sites, const struct elf_image *elf,
			 const struct layout *layout, struct gt_inline *ret, uint64_t *ret_probes,
			 struct error *error)
{
	const struct go_version *v = &layout->version;
	uint64_t without = 0;

	*ret_probes = 0;
	ret->nsites = 0;
	if (v->minor < MINOR_FIRST || v->minor > MINOR_LAST)
		return error__set(
			error, -ENOTSUP,
			"inline probes are for Go 1.%d to 1.%d, and the program is of %s; "
			"record with --probes=uprobe",
			MINOR_FIRST, MINOR_LAST, v->text);
	for (size_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->site[i];

		if (!(PROBES >> site->probe & 1))
			continue;
		if (ret->nsites < GT_INLINE_SITES &&
		    inline_site__fits(site, elf, &ret->site[ret->nsites])) {
			*ret_probes |= 1ull << site->probe;
			ret->nsites++;
		} else if (is_needed(site->probe)) {
			return refuse_site(site, error);
		} else {
			without |= 1ull << site->probe;
		}
	}
	*ret_probes &= ~without;
	for (size_t i = 0; i < ret->nsites;) {
		if (*ret_probes >> ret->site[i].probe & 1)
			i++;
		else
			ret->site[i] = ret->site[--ret->nsites];
	}
	for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++)
		if (!(*ret_probes >> together[i] & 1))
			return error__set(error, -ENOTSUP,
					  "the program has no place for an inline probe of %s; "
					  "record with --probes=uprobe",
					  site__probe_name(together[i]));
	return 0;
}

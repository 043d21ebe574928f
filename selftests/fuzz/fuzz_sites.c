// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with changed machine code, as from an unknown compiler: each site found must be an
 * instruction of the function that is reported.
 */
#include "call_sites.h"
#include "patched.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_PROBED);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct patched *p = patched__apply(data, size);
	struct error err = {};
	struct site_list sites;

	if (!p)
		return -1;
	if (site_list__find(&sites, p->elf, p->pt, &p->layout, &err) && !err.text[0])
		abort();
	check_sites(p->elf, p->pt, &sites);
	site_list__deinit(&sites);
	check_calls(p->elf, p->pt);
	patched__undo();
	return 0;
}

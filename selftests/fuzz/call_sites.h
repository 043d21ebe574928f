/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of any program as regions: each of their sites is harmless. */
#ifndef SELFTESTS_FUZZ_CALL_SITES_H
#define SELFTESTS_FUZZ_CALL_SITES_H

#include "target/probe/calls.h"
#include "sites.h"

/* Some of those that patched.c changes, with many ways, jumps and returns. */
static inline void check_calls(const struct elf_image *elf, const struct pclntab *pt)
{
	static const char *const patterns[] = { "runtime.findRunnable", "runtime.newproc1",
						"runtime.gopanic" };
	struct calls calls = {};
	struct site_list list, none = {};
	struct error err;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		err = (struct error){};
		if (calls__add(&calls, elf, pt, &(struct call_pattern){ .funcs = patterns[i] },
			       &err) &&
		    !err.text[0])
			abort();
	}
	calls__add_recovery(&calls, elf, pt, &err);
	if (calls__join(&calls, &none, &list))
		abort();
	check_sites(elf, pt, &list);
	free(list.site);
	calls__deinit(&calls);
}

#endif

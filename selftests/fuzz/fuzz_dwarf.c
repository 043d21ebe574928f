// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with changed DWARF: its abbreviations, and the types whose members are sought.
 */
#include <stdlib.h>

#include "patched.h"
#include "target/elf.h"
#include "target/layout_dwarf.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_DWARF);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct member members[] = {
		{ "runtime.g", "goid" }, { "runtime.g", "sched" }, { "runtime.m", "curg" },
		{ "runtime.p", "status" }, { "runtime.gobuf", "bp" }, { "runtime.none", "x" },
	};
	const struct patched *p = patched__apply(data, size);
	struct error err = {};

	if (!p)
		return -1;
	if (layout_dwarf__members(p->elf, members, sizeof(members) / sizeof(members[0]), &err) &&
	    !err.text[0])
		abort();
	patched__undo();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with changed DWARF: its abbreviations, and the types whose members are sought.
 */
#include <stdlib.h>

#include "target/elf/elf.h"
#include "target/layout/layout_dwarf.h"
#include "patched.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_DWARF);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct patched *p = patched__apply(data, size);
	struct error err = {};
	struct offsets offsets;

	if (!p)
		return -1;
	if (layout_dwarf__read_here(p->elf, &p->version, &offsets, &err) && !err.text[0])
		abort();
	patched__undo();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets from a program's DWARF, for target/layout.c alone.
 */
#ifndef TARGET_LAYOUT_DWARF_H
#define TARGET_LAYOUT_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "target/elf.h"

struct member {
	const char *type;	/* "runtime.g" */
	const char *name;	/* "goid" */
	bool found;
	uint32_t offset;	/* filled in */
};

/*
 * Finds as many members as the program has: those of a struct it lacks, and members of other
 * releases, stay !found. -ENODATA with reason and remedy: no DWARF.
 */
int layout_dwarf__members(const struct elf_image *elf, struct member *members, size_t n,
			  struct error *err);

#endif

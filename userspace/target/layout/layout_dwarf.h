/* SPDX-License-Identifier: GPL-2.0 */
/* Struct offsets from a program's DWARF. Upstream: target/elf/elf.c. Downstream: layout.c only. */
#ifndef TARGET_LAYOUT_DWARF_H
#define TARGET_LAYOUT_DWARF_H

#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/elf/go_version.h"
#include "target/infer/offsets.h"

/*
 * Reads them in a child process, since libdw may crash on a hostile file. OFFSET_ABSENT: the struct
 * has no such member; OFFSET_UNKNOWN: there is no such struct. Globals remain 0.
 *
 * Returns 0, -ENODATA (no DWARF) with reason and remedy, or another negative errno with a reason.
 */
int layout_dwarf__read(const struct elf_image *elf, const struct go_version *version,
		       struct offsets *ret, struct error *error);
/* The same in this process, for fuzzing. */
int layout_dwarf__read_here(const struct elf_image *elf, const struct go_version *version,
			    struct offsets *ret, struct error *error);

#endif

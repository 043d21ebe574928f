/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets from a program's DWARF, for target/layout.c alone.
 */
#ifndef TARGET_LAYOUT_DWARF_H
#define TARGET_LAYOUT_DWARF_H

#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/offsets.h"

/*
 * Reads it in a child process, as libdw may not survive what a hostile file says. OFFSET_ABSENT: the
 * struct has no such member; OFFSET_UNKNOWN: there is no such struct. Globals stay 0.
 *
 * -ENODATA with reason and remedy: no DWARF. Any other code: it cannot be read, and why.
 */
int layout_dwarf__read(const struct elf_image *elf, const struct go_version *version,
		       struct offsets *ret, struct error *err);
/* The same in this process, for the fuzzer. */
int layout_dwarf__read_here(const struct elf_image *elf, const struct go_version *version,
			    struct offsets *ret, struct error *err);

#endif

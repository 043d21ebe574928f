/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets from a program's DWARF. Upstream: target/elf/elf.c. Downstream: layout.c,
 * probe/presets_offsets.c.
 */
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
#define DWARF_MEMBERS_MAX 64

struct dwarf_member {
	const char *type, *name; /* "net/http.Request", "URL" */
};

/*
 * The offsets of members of any structs of Go, likewise: ret[i] is that of member[i], or OFFSET_ABSENT
 * or OFFSET_UNKNOWN. Not more than DWARF_MEMBERS_MAX.
 */
int layout_dwarf__members(const struct elf_image *elf, const struct dwarf_member *member, size_t n,
			  uint32_t *ret, struct error *error);
/* As layout_dwarf__read(), in this process, for fuzzing. */
int layout_dwarf__read_here(const struct elf_image *elf, const struct go_version *version,
			    struct offsets *ret, struct error *error);

#endif

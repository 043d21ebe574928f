/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cache of analyses, for the next recording of the same program.
 *
 * Upstream: target/layout/layout.c, target/probe/site.c. Downstream: gotrace-bpf/analysis.c.
 * Entries are files in a directory that only this user can access: $XDG_CACHE_HOME/gotrace-bpf, or
 * /var/cache/gotrace-bpf for root and ~/.cache/gotrace-bpf for others. The CACHE_ENTRIES used last
 * are kept. On any problem with the directory or an entry the program is analyzed as if there were
 * none; --verbose reports the reason.
 *
 * An entry belongs to one unchanged file (cache_key.c): no other file can obtain or replace it,
 * whatever its content. It also contains the code of each probed function up to its last site, and
 * is used only if the program has the same code there. Offsets are compared with the process each
 * time (target/process/live.c); only analyses that passed this and found all sites are stored.
 */
#ifndef TARGET_CACHE_H
#define TARGET_CACHE_H

#include "target/layout/layout.h"
#include "target/probe/site.h"

#define CACHE_ENTRIES	64
#define CACHE_ENTRY_MAX (1u << 20) /* bytes of an entry; usual: 10,000 to 20,000 */

/* Reads an analysis. False: none, the outputs are unchanged. The caller deinits *ret_sites. */
bool cache__load(const struct elf_image *elf, const struct go_version *version,
		 struct layout *ret_layout, struct site_list *ret_sites);
/* Stores an analysis, unless sites are missing: such a program is analyzed each time. */
void cache__store(const struct elf_image *elf, const struct layout *layout,
		  const struct site_list *sites);

#endif

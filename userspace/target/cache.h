/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an analysis found, kept for the next time that the same program is looked at.
 *
 * Used by gotrace-bpf/analysis.c instead of target/layout.c and target/site.c. Entries are files of
 * a folder that only this user can read or write: $XDG_CACHE_HOME/gotrace-bpf, or
 * /var/cache/gotrace-bpf for root and ~/.cache/gotrace-bpf for others. At most CACHE_ENTRIES are
 * kept, those used last. Whatever is wrong with the folder or an entry, the program is analysed as
 * if there were none; --verbose says why.
 *
 * An entry belongs to one file, unchanged since (cache_key.c): no other file, whatever it says of
 * itself, gets or replaces it. It also has the code of each probed function up to its last site, and
 * counts only if the program has the same there. Offsets are compared with the process each time
 * (target/live.c); an analysis is kept only after such a comparison, and only if it missed nothing.
 */
#ifndef TARGET_CACHE_H
#define TARGET_CACHE_H

#include "target/layout.h"
#include "target/site.h"

#define CACHE_ENTRIES	64
#define CACHE_ENTRY_MAX (1u << 20) /* bytes of an entry; most have 10,000 to 20,000 */

/* False, and the outputs are untouched: analyse it. The sites are the caller's to deinit. */
bool cache__load(const struct elf_image *elf, const struct go_version *version,
		 struct layout *ret_layout, struct site_list *ret_sites);
/* Does nothing for a program in which sites are missing: it is analysed each time. */
void cache__store(const struct elf_image *elf, const struct layout *layout,
		  const struct site_list *sites);

#endif

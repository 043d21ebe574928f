// SPDX-License-Identifier: GPL-2.0
/*
 * Which program an entry of the cache is of: see cache.h.
 *
 * Build ids, size and modification time are what a program says of itself, and a copy can say the
 * same. So an entry belongs to one file, as the kernel tells files apart, and to its last change: the
 * time of that (ctime) is the kernel's clock, which no owner of a file can set. It covers each byte
 * that an analysis reads, where a checksum would cost as much as the analysis. The price is that a
 * copy is analysed once more. On FUSE, where a process makes up all these numbers, nothing is kept.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "target/cache_impl.h"

bool cache_key__make(const struct elf_image *elf, const struct go_version *version,
		     char ret[CACHE_KEY_MAX])
{
	const char *gnu = elf_image__build_id(elf), *go = elf_image__go_build_id(elf);
	const struct stat *st = elf_image__stat(elf);

	if (elf_image__is_on_fuse(elf))
		return false;
	snprintf(ret, CACHE_KEY_MAX, "%llx %llx %lld %lld.%09ld %lld.%09ld %s %s %s",
		 (unsigned long long)st->st_dev, (unsigned long long)st->st_ino,
		 (long long)st->st_size, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		 (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec, version->text, gnu ? gnu : "-",
		 go ? go : "-");
	return true;
}

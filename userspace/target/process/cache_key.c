// SPDX-License-Identifier: GPL-2.0
/*
 * The key of a cache entry: the program that it belongs to. See cache.h.
 *
 * Upstream: elf/elf.c. Downstream: cache.c. Build ids, size and modification time are under the
 * control of a file's owner, and a copy can have the same. So an entry belongs to one file, by
 * device and inode, at the time of its last change (ctime), which the kernel sets and no owner can.
 * It covers all bytes that an analysis reads, where a checksum would cost as much as the analysis.
 * As a drawback, a copy is analyzed again. On FUSE, where a process chooses these numbers, nothing
 * is cached.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "target/process/cache_impl.h"

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

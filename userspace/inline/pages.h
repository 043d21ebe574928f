/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes instructions of a running program by replacing the pages that contain them.
 *
 * Upstream: install.c. Downstream: inject.c.
 */
#ifndef INLINE_PAGES_H
#define INLINE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inline/inject.h"
#include "lib/error.h"
#include "target/elf/elf.h"

#define PATCH_MAX 6

/* One instruction, or its first bytes. */
struct page_patch {
	uint64_t addr; /* in the process */
	unsigned char was[PATCH_MAX], now[PATCH_MAX];
	unsigned int len;
};

struct pages_target {
	pid_t pid;
	int mem_fd;
	const struct elf_image *elf; /* of the process's executable */
	uint64_t bias;
};

/*
 * Replaces each page that a patch touches by a copy of the file's: with all patches, or (`patched`
 * false) without any. Before anything is changed, compares the memory there with the file:
 * -EBUSY: it differs (false: in other bytes than the patches, of which each may be in place or not)
 * -ENOTSUP: the executable is not mapped there, or /proc/self/exe is another file
 * -EPROTO: it cannot be compared; -E2BIG: too many pages
 * Otherwise the errno of a system call in the process. On these failures the pages that were
 * replaced have the file's contents again. Not after -ETIMEDOUT: the last page may yet be replaced.
 */
int pages__swap(struct injection *inj, const struct pages_target *target,
		const struct page_patch *patch, size_t n, bool patched, struct error *error);

#endif

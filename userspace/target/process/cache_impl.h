/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by cache.c (entries), cache_key.c (keys), cache_folder.c (files) and tests. */
#ifndef TARGET_CACHE_IMPL_H
#define TARGET_CACHE_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "target/elf/elf.h"
#include "target/elf/go_version.h"

#define CACHE_KEY_MAX 1024

/* cache_key.c: identifies the program; false: it cannot be cached. */
bool cache_key__make(const struct elf_image *elf, const struct go_version *version,
		     char ret[CACHE_KEY_MAX]);

/* Reads a file of the cache into memory that the caller frees; NULL: none that can be trusted. */
unsigned char *cache_folder__read(const char *name, size_t *ret_len);
/* Creates or replaces a file; removes the files used longest ago if there are too many. */
void cache_folder__write(const char *name, const void *data, size_t len);

#endif

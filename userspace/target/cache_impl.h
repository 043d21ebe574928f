/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by target/cache.c (an entry's bytes), cache_key.c (whose it is), cache_folder.c (where they are
 * kept) and their tests.
 */
#ifndef TARGET_CACHE_IMPL_H
#define TARGET_CACHE_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "target/buildinfo.h"
#include "target/elf.h"

#define CACHE_KEY_MAX 1024

/* cache_key.c: names the program; false: nothing is kept of it. */
bool cache_key__make(const struct elf_image *elf, const struct go_version *version,
		     char ret[CACHE_KEY_MAX]);

/* The bytes of a file of the folder, which the caller frees; NULL: there is none to trust. */
unsigned char *cache_folder__read(const char *name, size_t *ret_len);
/* Replaces a file, or makes one; drops those that were used longest ago when there are too many. */
void cache_folder__write(const char *name, const void *data, size_t len);

#endif

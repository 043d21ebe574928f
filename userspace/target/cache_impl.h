/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by target/cache.c (an entry's bytes), target/cache_folder.c (where they are kept) and their
 * unit test.
 */
#ifndef TARGET_CACHE_IMPL_H
#define TARGET_CACHE_IMPL_H

#include <stddef.h>

/* The bytes of a file of the folder, which the caller frees; NULL: there is none to trust. */
unsigned char *cache_folder__read(const char *name, size_t *ret_len);
/* Replaces a file, or makes one; drops those that were used longest ago when there are too many. */
void cache_folder__write(const char *name, const void *data, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where an output file goes: its directory and name once all symbolic links are followed, and
 * whether what is there already may be replaced.
 */
#ifndef TRACE_FILE_PLACE_H
#define TRACE_FILE_PLACE_H

#include <limits.h>
#include <sys/types.h>

#include "trace/file.h"

struct file_place {
	int dir; /* O_PATH; the caller closes it */
	char name[NAME_MAX + 1];
	bool exists;
	mode_t mode; /* of what exists */
	bool magic;  /* a link of /proc to no regular file: only the kernel can follow it */
};

/*
 * 0 or a negative errno: those of open(2), -ENOLINK (see trace_file__open()), and -EISDIR for a path
 * that ends with a slash, "." or "..".
 */
int file_place__find(struct file_place *ret, const char *path);

/* Whether the regular file is empty or begins as one of this kind does. */
bool file_kind__fits(enum file_kind kind, int dir, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The place of an output file: directory and name after all symbolic links, and whether an existing
 * file may be replaced.
 *
 * Used by writer/output_file.c.
 */
#ifndef WRITER_OUTPUT_PLACE_H
#define WRITER_OUTPUT_PLACE_H

#include <limits.h>
#include <sys/types.h>

#include "writer/output_file.h"

struct file_place {
	int dir; /* O_PATH; the caller closes it */
	char name[NAME_MAX + 1];
	bool exists;
	mode_t mode; /* of the existing file */
	bool magic;  /* a link of /proc, not to a regular file: only the kernel can follow it */
};

/*
 * Returns 0 or a negative errno: those of open(2), -ENOLINK (see trace_file__open()), and
 * -EISDIR for a path that ends with a slash, "." or "..".
 */
int file_place__find(struct file_place *ret, const char *path);

/* Whether the regular file is empty or begins like a file of this kind. */
bool file_kind__fits(enum file_kind kind, int dir, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Separate debug files. Upstream: target/elf/elf.c. Downstream: target/layout/layout.c. */
#ifndef TARGET_DEBUG_FILE_H
#define TARGET_DEBUG_FILE_H

#include "target/elf/elf.h"

/*
 * Where the program is. If `exe` is NULL only the build id is used; if `root`, only our own root.
 */
struct debug_places {
	const char *exe;  /* path, as its own processes see it */
	const char *root; /* their root, "/proc/PID/root"; searched before ours */
};

struct debug_file {
	int fd;
	struct elf_image *elf;
	char path[512]; /* for messages */
};

/*
 * Finds the file by build id (/usr/lib/debug/.build-id/xx/yyyy.debug) or .gnu_debuglink (in the
 * program's directory, in .debug there, below /usr/lib/debug), as gdb does. It must have the
 * program's build id or the link's checksum. False: none, and *ret is unchanged. The caller deinits *ret.
 */
bool debug_file__open(struct debug_file *ret, const struct elf_image *elf,
		      const struct debug_places *places);
void debug_file__deinit(struct debug_file *file);

#endif

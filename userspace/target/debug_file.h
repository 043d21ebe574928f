/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The separate file that holds a program's debug info and symbols, when it was split off.
 *
 * Asked by target/layout.c for a program without DWARF or without symbols.
 */
#ifndef TARGET_DEBUG_FILE_H
#define TARGET_DEBUG_FILE_H

#include "target/elf.h"

/* Where the program is. Both may be NULL: then only by build id, and in our own file system. */
struct debug_places {
	const char *exe;  /* its path, as its own processes see it */
	const char *root; /* their root folder, "/proc/PID/root"; looked at before ours */
};

struct debug_file {
	int fd;
	struct elf_image *elf;
	char path[512]; /* for messages */
};

/*
 * Finds the file by the program's build id (/usr/lib/debug/.build-id/xx/yyyy.debug) or by its
 * section .gnu_debuglink (beside the program, in .debug beside it, below /usr/lib/debug), the way
 * gdb does. Only a file with the same build id, or the link's checksum, is taken. False: none.
 */
bool debug_file__open(struct debug_file *ret, const struct elf_image *elf,
		      const struct debug_places *places);
void debug_file__deinit(struct debug_file *file);

#endif

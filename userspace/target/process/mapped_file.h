/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The executable mappings of a process, and the files behind them. The names are untrusted, and a file may
 * have been deleted or replaced since it was mapped.
 */
#ifndef TARGET_PROCESS_MAPPED_FILE_H
#define TARGET_PROCESS_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct process;

struct mapped_file {
	uint64_t start, end, offset; /* mapped addresses, and offset in the file */
	uint64_t inode;
	const char *name; /* "/lib/libc.so.6", "[vdso]"; part of the line */
};

/* Reads a line of /proc/PID/maps, whose end is replaced. False: not executable, or without a name. */
bool mapped_file__parse(char *line, struct mapped_file *ret);
/* Opens the file; its name begins with "/". -1: that is not possible. */
int mapped_file__open(const struct process *proc, const struct mapped_file *m);

#endif

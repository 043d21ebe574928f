/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shared libraries with a Go runtime of their own (-buildmode=c-shared) that a process has loaded. One
 * runtime of a process is recorded: that of the program or of one library.
 *
 * The process decides which files it maps: each is opened once, at most LIBRARIES_EXAMINED in all.
 */
#ifndef TARGET_LIBRARIES_H
#define TARGET_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/modules/modules.h"
#include "target/process/process.h"

#define LIBRARIES_EXAMINED 1000
#define LIBRARIES_MAX	   8 /* paths that are kept */

struct go_libraries {
	uint64_t examined[LIBRARIES_EXAMINED]; /* hashes of names, inodes and offsets of mappings */
	size_t nexamined;
	char *other[LIBRARIES_MAX]; /* paths of files whose Go runtime is not recorded */
	size_t nothers;		    /* also those whose paths are not kept */
};

/*
 * Adds to `other` what was mapped since the last call and has a Go runtime, except the file that is recorded
 * (proc->exe_fd) and the plugins, which have none.
 */
void libraries__read(struct go_libraries *l, const struct process *proc,
		     const struct go_modules *plugins);
/*
 * Switches exe, exe_fd and attach_path of the process to the first file with a Go runtime and the path or
 * file name `which` (NULL: any), and adds the others. False: there is none.
 */
bool libraries__choose(struct go_libraries *l, struct process *proc, const char *which);
/* The paths from number `first` on, separated by commas, or how many they are; what does not fit is cut. */
const char *libraries__format(const struct go_libraries *l, size_t first, char *buf, size_t size);
void libraries__deinit(struct go_libraries *l);

#endif

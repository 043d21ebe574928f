/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the traces that a continuous recording writes: HOST-PROGRAM-PID-TIME-CAUSE.trace, so that
 * the files of several machines can be put into one directory and sort by time for each process.
 *
 * Used by folder.c, which removes only files that have such a name, and by rotate.c.
 */
#ifndef FLIGHT_FILE_NAME_H
#define FLIGHT_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_NAME_SIZE 256

struct file_target {
	const char *program; /* path or name of the executable */
	int pid;
};

/*
 * Writes the name of a window that starts at `wall_ns` (CLOCK_REALTIME). Bytes of the host's, the
 * program's and the cause's name other than letters, digits, dot and underscore become _, and each
 * is cut at 60 bytes. An empty cause is left out.
 */
void file_name__make(char ret[FILE_NAME_SIZE], const struct file_target *target, uint64_t wall_ns,
		     const char *cause);

/* Whether the function above can have made the name: it names no other directory. */
bool file_name__is_ours(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files whose names come from an untrusted source, such as the traced program.
 *
 * To open a device can already do harm (a watchdog starts, a tape rewinds), and a FIFO can block. So
 * a file is opened with O_PATH first, which does nothing to it, and for reading only once it is known
 * to be a regular file of a file system that holds files: those of procfs, sysfs and the like run
 * kernel code when they are read. target/debug_file.c, csymbols.c, process.c and the verbs open
 * every file by these functions that a traced program names or can replace.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

#include "lib/error.h"

/*
 * A descriptor for reading, close-on-exec and non-blocking; a negative errno and the reason, with
 * -ENOEXEC for what is not a regular file. Follows symbolic links: for links of the kernel's
 * (/proc/PID/exe) and for names that the user gives.
 */
int regular__open(const char *path, struct error *err);

/*
 * As regular__open(), for a path that begins with `/` and is looked up in `root` (NULL: in our own):
 * nothing leads out of that. Only symbolic links of root's and of our own user are followed, so that
 * a user who may write to a folder can't lead us to files of others.
 */
int regular__open_below(const char *root, const char *path, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files whose names come from an untrusted source, such as the traced program, and reads
 * parts of files.
 *
 * Merely opening a device can do harm (a watchdog starts, a tape rewinds), and a FIFO can block. A
 * file is therefore opened with O_PATH first, which has no effect on it, and for reading only if
 * it is a regular file of a file system that stores files: reading those of procfs, sysfs and the
 * like runs kernel code. Every file that a traced program names or can replace is opened by these
 * functions.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/*
 * A descriptor for reading, close-on-exec and non-blocking; or a negative errno and the reason,
 * -ENOEXEC if it is not a regular file. Follows symbolic links: for links of the kernel
 * (/proc/PID/exe) and for names given by the user.
 */
int regular__open(const char *path, struct error *error);

/*
 * As regular__open(), for a path that begins with `/` and is resolved in `root` (NULL: our own),
 * which it cannot leave. Follows only symbolic links of root and of our own user, so that no other
 * user can redirect the path.
 */
int regular__open_below(const char *root, const char *path, struct error *error);

struct stat;

/*
 * Does what fstat(2) does for an open file, or fstatat(2) for a link of the kernel such as /proc/PID/exe
 * (`path` is not NULL, `fd` is the directory): without a request to the server of a network file system or of FUSE, which may not answer.
 * Device, inode and type are always right, the rest is what the kernel has. 0 or a negative errno.
 */
int regular__stat(int fd, const char *path, struct stat *ret);

/*
 * Reads exactly `len` bytes at `offset` of a regular file, which may become shorter meanwhile. 0,
 * -EBADMSG if it ends before, or another negative errno.
 */
int regular__read_at(int fd, uint64_t offset, void *to, size_t len);

#endif

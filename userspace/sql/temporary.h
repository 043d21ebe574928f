/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directories of temporary files, which do not stay when a signal ends the process: unfinished
 * Parquet files, and what the SQL engine needs beyond memory.
 *
 * Downstream: sql/engine.c, sql/parquet_place.c. One directory at a time.
 */
#ifndef SQL_TEMPORARY_H
#define SQL_TEMPORARY_H

#include <limits.h>

/*
 * Creates the directory PATH/PREFIXnnnnnn, which others cannot enter. It is locked as long as the
 * process lives: those of this user whose processes were killed are removed here. SIGHUP, SIGINT,
 * SIGPIPE and SIGTERM remove it first, unless they are ignored. 0 or a negative errno, with *ret "".
 *
 * *ret is a path of the directory by its descriptor, /proc/self/fd/N: it names the same directory even
 * if the owner of PATH renames it or puts another one or a link in its place.
 */
int temporary__create(const char *path, const char *prefix, char ret[PATH_MAX], int *ret_fd);
/* Removes it, with the files in it, and closes its descriptor. */
void temporary__end(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directories of temporary files, which do not stay when a signal ends the process: unfinished
 * Parquet files, and what the SQL engine needs beyond memory.
 *
 * Downstream: sql/engine.c, sql/parquet_place.c. One directory at a time.
 */
#ifndef SQL_TEMPORARY_H
#define SQL_TEMPORARY_H

/* From now on, SIGHUP, SIGINT, SIGPIPE and SIGTERM remove it first, unless they are ignored. */
void temporary__remove_on_signal(const char *path);
/*
 * Removes the directory, of files only, to which other threads may still add some. Async-signal-safe.
 */
void temporary__remove(const char *path);
/* Removes it, and lets signals be. */
void temporary__end(const char *path);

#endif

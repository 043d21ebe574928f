/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The directory of a continuous recording: its index of the traces in it, and the limit of the bytes
 * that they take.
 *
 * Several recorders may use one directory: each change of the index is made under a lock of
 * .index.lock, which only this user and the owner of the directory can open, by replacing the file.
 * CONTINUOUS RECORDING in gotrace-bpf(1) describes the index.
 */
#ifndef FLIGHT_FOLDER_H
#define FLIGHT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "flight/file_name.h"
#include "lib/error.h"

#define FOLDER_INDEX "index.tsv"

struct folder;
struct trace_file;

/* A line of the index. */
struct folder_file {
	char name[FILE_NAME_SIZE];
	uint64_t bytes;	   /* of the file */
	uint64_t events;   /* in it, as struct writer_stats counts them */
	uint64_t from, to; /* the window: CLOCK_MONOTONIC, ns */
	uint64_t wall_ns;  /* CLOCK_REALTIME at `from` */
};

/*
 * Opens the directory, and creates it with mode 0700 if it does not exist. Its index must be a
 * regular file of this user, or of the directory's owner, that others cannot write. `keep`: the
 * limit, in bytes; 0: none. 0, or a negative errno and the reason.
 */
int folder__open(struct folder **ret, const char *path, uint64_t keep, struct error *error);
void folder__close(struct folder *f); /* NULL allowed */

/*
 * Whether the directory was removed. folder__create() then creates it again, as folder__open() does,
 * if its parent exists.
 */
bool folder__is_removed(const struct folder *f);
const char *folder__path(const struct folder *f);
/* See trace_file__in_folder_of_other(). */
bool folder__is_of_other(const struct folder *f);

/*
 * Creates a file for a window that starts at file->wall_ns, and sets file->name, by file_name.c; if
 * that exists, as of a window that starts 1 ms later. 0 or a negative errno. Any thread.
 */
int folder__create(const struct folder *f, const struct file_target *target, const char *cause,
		   struct folder_file *file, struct trace_file **ret);

/*
 * Adds a line for a complete file, and removes the oldest files that the index lists until all take
 * at most three quarters of the limit: the rest is for those that are being written. Only regular
 * files with names of file_name.c are removed. 0, or a negative errno and the reason; the line is
 * then added with the next one. Any thread, as the next one.
 */
int folder__add(struct folder *f, const struct folder_file *file, struct error *error);
/*
 * The disk is full: removes the oldest files that the index lists until `bytes` are freed, at least
 * one. 0, -ENOENT: there is none, -EBUSY: the index is being changed, or another negative errno.
 */
int folder__make_room(struct folder *f, uint64_t bytes);

#endif

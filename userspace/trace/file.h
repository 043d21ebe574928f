/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output file: written beside, synced, renamed.
 *
 * A regular or absent target is written as PATH.partial and renamed by trace_file__commit(); a
 * device, a FIFO or "-" (stdout) is written directly. Last in an event's way.
 *
 * The process must ignore SIGPIPE and SIGXFSZ: both then arrive here as an errno.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct trace_file;

/* What is written, and so the only kind of file at PATH that is replaced. */
enum file_kind {
	FILE_ANY, /* replaces whatever it is */
	FILE_TRACE,
	FILE_RAW,	  /* record --raw */
	FILE_INDEX,	  /* FILE.idx */
	FILE_TEXT,	  /* gotrace text */
	FILE_STATS,	  /* record --stats */
	FILE_DESCRIPTION, /* gotrace describe */
};

/*
 * Creates PATH's .partial, with O_EXCL and mode 0600; so the new PATH has mode 0600, whatever the
 * one had that it replaces. A .partial that a killed recorder left is renamed: see
 * trace_file__kept(). A symbolic link is followed: the file that it leads to is replaced, not the
 * link. Returns 0 or a negative errno: -ENOENT (missing directory), -EISDIR, -EBUSY (another
 * recorder is writing this PATH), -EEXIST (PATH.partial is no regular file), -EMEDIUMTYPE (PATH is a
 * file of another kind), -ENOLINK (a link on the way is one that fs.protected_symlinks refuses:
 * another user's, in a sticky directory that all can write) and those of open(2). Most callers use
 * output__open(), which has the messages.
 */
int trace_file__open_as(struct trace_file **ret, const char *path, enum file_kind kind);
/* The same with FILE_ANY. */
int trace_file__open(struct trace_file **ret, const char *path);

/*
 * The name, in PATH's directory, that a killed recorder's PATH.partial has now: PATH.partial.1 to
 * .9, the first one that is free. *ret_replaced: none was, and the oldest was replaced. NULL: there
 * was no .partial, or it was empty.
 */
const char *trace_file__kept(const struct trace_file *f, bool *ret_replaced);

/*
 * Its folder is another user's, or not writable, so that it may be impossible to rename
 * or remove the file there without CAP_DAC_OVERRIDE and CAP_FOWNER.
 */
bool trace_file__in_folder_of_other(const struct trace_file *f);

/*
 * Appends all of `len` bytes or fails with a negative errno (-ENOSPC, -EPIPE …); on failure of a
 * regular file it is cut back to the end of the last good append, so a full disk keeps whole
 * generations.
 */
int trace_file__append(struct trace_file *f, const void *data, size_t len);
int trace_file__appendv(struct trace_file *f, const struct iovec *iov, size_t n);
uint64_t trace_file__size(const struct trace_file *f);

/*
 * A reader of a FIFO or of stdout may stall for ever: while `stop_fd` is readable (a signalfd), no
 * write waits longer than a second for it; it then fails with -EINTR.
 */
void trace_file__interrupt(struct trace_file *f, int stop_fd);

/*
 * Syncs and renames onto PATH. Returns 0 or a negative errno; after a failure PATH.partial stays,
 * since it may be all there is. Frees nothing.
 */
int trace_file__commit(struct trace_file *f);

/* Closes; a .partial that no commit was asked for is removed. f may be NULL. */
void trace_file__destroy(struct trace_file *f);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output file: written under a temporary name, synced and renamed.
 *
 * A regular or new target is written as PATH.partial and renamed by trace_file__commit(); a device,
 * a FIFO or "-" (stdout) is written directly. Upstream: writer/writer.c, rawfile/ and the commands,
 * most of them through writer/output.h.
 *
 * The process must ignore SIGPIPE and SIGXFSZ, so that the errors are returned as an errno.
 */
#ifndef WRITER_OUTPUT_FILE_H
#define WRITER_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct trace_file;

/* The kind of the output, and the only kind of file at PATH that it replaces. */
enum file_kind {
	FILE_ANY, /* replaces any file */
	FILE_TRACE,
	FILE_RAW,	  /* record --save-input */
	FILE_INDEX,	  /* FILE.idx */
	FILE_TEXT,	  /* gotrace text */
	FILE_STATS,	  /* record --stats */
	FILE_DESCRIPTION, /* gotrace describe */
	FILE_PROFILE,	  /* gotrace profile, and those of other programs for pprof */
	FILE_EXPORT,	  /* gotrace export */
	FILE_REPORT,	  /* gotrace report */
	FILE_PACKED,	  /* gotrace pack */
};

/*
 * Creates PATH.partial with O_EXCL and mode 0600; PATH will have that mode, whatever the replaced
 * file had. It may belong to the user of sudo: see output_owner.h. A .partial of a killed
 * recorder is renamed: see trace_file__kept(). Symbolic links are followed, so the file is
 * replaced, not the link. Returns 0 or a negative errno: -ENOENT (missing directory), -EISDIR,
 * -EBUSY (another recorder is writing PATH), -EEXIST (PATH.partial is not a regular file),
 * -EMEDIUMTYPE (PATH is a file of another kind), -ENOLINK (fs.protected_symlinks forbids a link
 * in the path: another user's, in a sticky world-writable directory), and those of open(2).
 */
int trace_file__open(struct trace_file **ret, const char *path, enum file_kind kind);

/*
 * The same for the file `name` in the directory that `dir` is a descriptor of, in which nothing is
 * followed: an existing file or link of that name is replaced, of whatever kind.
 */
int trace_file__open_in(struct trace_file **ret, int dir, const char *name);

/*
 * New name of a killed recorder's PATH.partial, in PATH's directory: the first free one of
 * PATH.partial.1 to .9. If none was free, the oldest was replaced and *ret_replaced is true. NULL:
 * there was no .partial, or it was empty.
 */
const char *trace_file__kept(const struct trace_file *f, bool *ret_replaced);

/*
 * Whether the directory is another user's or not writable, so that renaming or removing the file
 * may require CAP_DAC_OVERRIDE and CAP_FOWNER.
 */
bool trace_file__in_folder_of_other(const struct trace_file *f);

/*
 * Appends all bytes. Returns 0 or a negative errno (-ENOSPC, -EPIPE, ...). On failure a regular
 * file is truncated to the last successful append, so a full disk leaves whole generations.
 */
int trace_file__append(struct trace_file *f, const void *data, size_t len);
int trace_file__appendv(struct trace_file *f, const struct iovec *iov, size_t n);
uint64_t trace_file__size(const struct trace_file *f);

/*
 * While `stop_fd` (a signalfd) is readable, a write to a FIFO or to stdout waits for its reader at
 * most a second, and then fails with -EINTR. Otherwise it waits without limit.
 */
void trace_file__interrupt(struct trace_file *f, int stop_fd);

/*
 * Syncs and renames to PATH. Returns 0 or a negative errno. After a failure PATH.partial remains,
 * since it may be the only copy of the data. The caller still destroys f.
 */
int trace_file__commit(struct trace_file *f);

/* After a failure of trace_file__commit(): PATH.partial is removed by the next function after all. */
void trace_file__discard(struct trace_file *f);

/* Closes the file. Removes .partial if trace_file__commit() was not called. NULL is allowed. */
void trace_file__destroy(struct trace_file *f);

#endif

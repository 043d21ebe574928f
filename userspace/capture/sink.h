/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where records go: the sequencer with its writer and file, and the raw file beside it.
 *
 * The recorder feeds it live, the `sequence` command from a raw file; so both make a trace in the
 * same way.
 */
#ifndef CAPTURE_SINK_H
#define CAPTURE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/rawfile.h"
#include "lib/error.h"
#include "sequence/sequencer.h"
#include "trace/generation.h"
#include "trace/private.h"

struct sink;

struct sink_opts {
	const char *path;
	const char *raw_path;	       /* NULL: none */
	unsigned int version, tick_ns; /* of the trace: 22, 23, 25, 26; 1 or 64 */
	bool stacks, no_syscalls;
	int stop_fd; /* 0: none; see trace_file__interrupt() */
};

/* Opens the files, so that a bad path is known before anything else is done. */
int sink__open(struct sink **ret, const struct sink_opts *opts, struct error *err);
/* Closes; files without a commit are removed. NULL allowed. */
void sink__destroy(struct sink *s);

/* One of its files is in a folder of another user, see trace/file.h. */
bool sink__in_folder_of_other(const struct sink *s);

/* The sequencer, once layout and symbolizer are known; both are borrowed, as is `meta`. */
int sink__create_sequencer(struct sink *s, const struct layout *layout,
			   const struct symbolizer *symbolizer, const struct private_meta *meta);
struct sequencer *sink__sequencer(struct sink *s);
const struct writer_stats *sink__written(const struct sink *s);

/* As the sequencer's functions of the same names; each to the raw file first. It takes snapshots over. */
int sink__start(struct sink *s, const struct raw_header *facts);
int sink__record(struct sink *s, unsigned int ring, const struct gt_record *rec, size_t size);
int sink__watermark(struct sink *s, uint64_t time);
int sink__snapshot(struct sink *s, struct snapshot *first, struct snapshot *second);
int sink__resnapshot(struct sink *s, struct snapshot *first, struct snapshot *second);
int sink__lost(struct sink *s, unsigned int kind, uint64_t count);
int sink__finish(struct sink *s, uint64_t t1);

/*
 * Ends with what happened so far, `code`: 0, or what a function above returned. Whole generations
 * that were written are kept in any case. Returns the first failure, with its text.
 */
int sink__commit(struct sink *s, int code, struct error *err);

#endif

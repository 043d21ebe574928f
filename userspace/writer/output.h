/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens and completes the output file of a command: writer/output_file.h with error messages and
 * --force.
 */
#ifndef WRITER_OUTPUT_H
#define WRITER_OUTPUT_H

#include "lib/error.h"
#include "lib/outbuf.h"
#include "writer/output_file.h"

/*
 * Like trace_file__open(), with a message in `error`. Logs a line if the file of a killed recorder
 * was renamed. With --force (command__forced()), files of any kind are replaced.
 */
int output__open(struct trace_file **ret, const char *path, enum file_kind kind,
		 struct error *error);

/*
 * Makes `o` a buffer in front of `file`. Both pointers are borrowed; `name` is for messages, in which
 * "-" is standard output.
 */
void output__buffer(struct outbuf *o, struct trace_file *file, const char *name);

/* Writes what the buffer in front of `file` holds, and commits the file. Returns as the flush does. */
int output__commit(struct outbuf *o, struct trace_file *file, struct error *error);

/* On a terminal, suggests commands that read the trace `path`, unless it is "-". */
void output__suggest(const char *path);
/* On a terminal, suggests what to do with another file: the text `before`, its path, and `after`. */
void output__suggest_use(const char *path, const char *before, const char *after);

#endif

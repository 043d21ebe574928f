/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How every command opens its output: trace/file.h with the messages, and --force.
 */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include "lib/error.h"
#include "trace/file.h"

/*
 * As trace_file__open_as(), with the reason in `err`; a line on stderr says so when a killed
 * recorder's file was renamed. With --force (command__forced()) files of all kinds are replaced.
 */
int output__open(struct trace_file **ret, const char *path, enum file_kind kind, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for the person: to stderr, the program's name in front, one line each.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>

/* What the command line says; debug lines and the log of libbpf are shown only when verbose. */
void log__set_verbose(bool verbose);
bool log__verbose(void);

/* From now on there is no terminal: messages go to the system's log, under this process's ID. */
void log__to_syslog(void);

void log__msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line on the terminal that the next one overwrites; nothing when stderr is no terminal. */
void log__progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__progress_end(void);

#endif

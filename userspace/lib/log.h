/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for the user: one line each on stderr, after the name of the program.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>

/* Debug messages and the log of libbpf are shown only if verbose. */
void log__set_verbose(bool verbose);
bool log__verbose(void);

/* For a process that cannot open the socket later, when it calls log__to_syslog(). */
void log__connect_syslog(void);
/* There is no terminal any more: send messages to the system log, with the ID of this process. */
void log__to_syslog(void);

/*
 * A message waits at most `ms` milliseconds for a reader of stderr (a pipe, a terminal); otherwise it is
 * left out, and the next one that can be written is preceded by the number of those left out. -1 (the
 * default): without limit. For recorders, whose buffers would overflow meanwhile.
 */
void log__limit_wait(int ms);

void log__msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Show a line that the next message overwrites, cut at the width of the terminal; no effect unless
 * stderr is a terminal that can redraw a line (lib/terminal.h). The text must be printable.
 */
void log__progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__progress_end(void);

#endif

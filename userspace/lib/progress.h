/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shows how much of its input a command has read, with the rate and the time that is left.
 *
 * lib/input.c reports what it reads. After one second a line is shown, and redrawn five times per
 * second (lib/ticker.h), if stderr is a terminal and the size of the input is known: that of a
 * file, not that of a pipe. It is cleared before messages (lib/log.h), before the command prints
 * something (print/print.c, lib/json.c), and at its end. There is one line at a time.
 */
#ifndef LIB_PROGRESS_H
#define LIB_PROGRESS_H

#include <stdint.h>

/* To be called by main(); without it nothing is shown. */
void progress__enable(void);
/*
 * For commands that print while they read, or have a screen of their own: nothing is shown from now
 * on.
 */
void progress__forbid(void);

/* A file of `size` bytes is read from now on. Ends the line of the file before. */
void progress__begin(const char *name, uint64_t size);
/*
 * `n` bytes were read, up to `position`, both in bytes of the file, also of a compressed one. Any
 * thread.
 */
void progress__read(uint64_t position, uint64_t n);
/* Clears the line, until a file is opened. For the thread that begins. */
void progress__end(void);

#endif

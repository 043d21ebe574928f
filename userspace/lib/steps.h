/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a command is doing while the person at a terminal waits for it: "analysing server ...".
 *
 * The steps of an attach take a tenth of a second in all, and some seconds where a program is large
 * or the machine is busy. Once half a second has passed, the current step is shown on a line that the
 * next one overwrites (log__progress()), and nothing at all when stderr is no terminal. Begun by the
 * commands of gotrace-bpf; the steps are named by analysis.c and capture/session.c.
 */
#ifndef LIB_STEPS_H
#define LIB_STEPS_H

/* From now on time counts; watched by a thread, since a step may be one long call. */
void steps__begin(void);
/* The step that begins now; ignored outside of begin and end. The text is escaped, and cut. */
void steps__say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Clears the line, and ends the thread. May be called without a begin. */
void steps__end(void);

#endif

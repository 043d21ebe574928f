/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shows what a command is doing, such as "analysing server ...", to a user who waits at a
 * terminal.
 *
 * All steps of an attach take a tenth of a second, or some seconds for a large program or on a
 * busy machine. After half a second the current step is shown on a line that the next step
 * overwrites (log__progress()), if stderr is a terminal. The commands of
 * gotrace-bpf begin; analysis.c and capture/probes.c name the steps.
 */
#ifndef LIB_STEPS_H
#define LIB_STEPS_H

/* Start the time. A thread watches it, because a step may be one long call. */
void steps__begin(void);
/*
 * Name the step that begins; no effect outside of begin and end. The text is escaped and truncated.
 */
void steps__say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Clear the line and end the thread. May be called without begin. */
void steps__end(void);

#endif

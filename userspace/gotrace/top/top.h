/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace top`: top.c reads the trace window by window (metrics/windows.h),
 * top_print.c and top_json.c print a window, top_terminal.c is the view on a terminal, and
 * top_recorder.c runs gotrace-bpf for -p.
 */
#ifndef GOTRACE_TOP_H
#define GOTRACE_TOP_H

#include <sys/types.h>

#include "gotrace/command.h"
#include "gotrace/latency.h"
#include "metrics/windows.h"

/* How windows are shown. */
struct top_view {
	unsigned int sort; /* enum latency_part, BY_TOTAL, BY_COUNT */
	size_t top;	   /* lines of each table */
	size_t functions;  /* lines of the table of functions */
	bool hints;	   /* which keys there are */
	bool paused;
	int64_t start; /* of the trace: times are relative to it */
};

/* Columns depend on the terminal, if stdout is one. Sorts the window's rows. */
void top__print(struct trace_window *w, const struct top_view *view);
/* Lines that top__print() prints besides the rows of functions. */
size_t top__lines(const struct trace_window *w, const struct top_view *view);
/* One line: a JSON object. */
void top__print_json(const struct trace_window *w);

/* gotrace-bpf, as a child whose trace is this process's standard input from then on. */
struct top_recorder {
	pid_t pid;    /* 0: there is none */
	int messages; /* its stderr; -1: that of this process */
	bool stopped; /* by top_recorder__stop() */
};

/*
 * Starts it for `process`, a PID or a name. `requests`: the argument of --requests, or NULL; `quiet`:
 * its messages can be read from ret->messages. 0 or a negative errno with the reason.
 */
int top_recorder__start(struct top_recorder *ret, const char *process, const char *requests,
			bool quiet, struct error *error);
/* Asks it to end the recording. The trace ends soon after. */
void top_recorder__stop(struct top_recorder *r);
/*
 * To be called after the end of the trace. 0, or a negative errno with the reason: it failed, and not since
 * it was asked to end, when it may find no room in the pipe for the rest of the trace.
 */
int top_recorder__wait(struct top_recorder *r, struct error *error);

/* What top.c reads. */
struct top_reading {
	struct trace_args in;
	int64_t least; /* of windows, ns; INT64_MAX: one window */
	bool replay;   /* a file, to be shown as it was recorded */
	/* Called with each window, which it owns. 0, or a negative errno to stop silently. */
	int (*show)(void *context, struct trace_window *w);
	void *context;
};

/* 0, or a negative errno with the reason; that of show() without one. */
int top__read(struct top_reading *reading, struct error *error);

/* Whether this process has a terminal to show windows on, and to read keys from. */
bool top_terminal__exists(void);
/* Reads and shows the trace until it ends and the user quits. 0 or a negative errno, as top__read(). */
int top_terminal__run(struct top_reading *reading, struct top_view *view, struct top_recorder *r,
		      struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One process, or one command, from its analysis to its files: what `record` does once, and
 * `record --follow` in a process of its own for each program that is followed.
 *
 * Before it: record.c (options), follow.c. After it: capture/recorder.c.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/launch.h"
#include "capture/recorder.h"
#include "lib/error.h"

/* Of each ring, in bytes: what --ring-size takes. */
#define RING_SIZE_MIN (16u << 10)
#define RING_SIZE_MAX (256u << 20)

/* The command line. */
struct record_args {
	int pid;	/* 0: none */
	char **command; /* NULL: none */
	const char *output, *raw, *stats;
	const char *blackbox; /* its name; NULL: none */
	uint64_t duration_ns, stack_depth, ring_size;
	uint64_t sample_hz;  /* with set cpu */
	uint64_t timeout_ns; /* of the black box */
	int ready_fd;	     /* of the parent of a daemon, which waits for a byte; 0: none */
	unsigned int version, tick;
	unsigned int sets; /* bits, by enum site_set */
	bool sets_given;   /* by --events */
	bool no_stacks, force_perf, follow, cpu_profile, daemonize;
	bool format_given; /* by --tick or --format-version */
	bool timeout_given;
};

/* Between a followed recording and the process that started it: shared memory. */
struct recording_report {
	struct recorder_stats stats;
	bool replaced; /* of RECORDING_NOTHING: it executed another program, and did not end */
};

struct recording_family {
	bool first_taken; /* the names of the command line are for the first that takes them */
	pid_t launched;	  /* the command's; 0: not yet, or none */
	/* of the recorder that launched it */
	bool failed;
	int status; /* what recording__run() gave */
};

struct recording {
	const struct record_args *args;
	const struct launch_signals *signals;
	uint64_t started; /* CLOCK_MONOTONIC, ns: for attach_ms */
	/* of a followed one; all zero without --follow */
	struct recording_family *family;
	struct recording_report *report;
	int pid;	     /* which to record, instead of what the command line says */
	uint64_t exec_time;  /* when it began its program, ns */
	unsigned int serial; /* of its programs, from 1 on; 0: the command line's */
};

enum recording_end {
	RECORDING_DONE,
	RECORDING_FAILED, /* and the reason */
	RECORDING_NOTHING, /* only with a family: no Go program, or over before it could be recorded */
};

/*
 * Signals must be prepared as record.c does. Reports what it did in log lines. *ret_status is the
 * exit status: that of the command if one was recorded (its end is awaited), 126 or 127 if it
 * cannot be executed, else EXIT_DONE or EXIT_FAILED.
 */
enum recording_end recording__run(const struct recording *r, int *ret_status, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recording of one process or command, from its analysis to its files: 'record' does it once,
 * and follow.c and targets.c in a child process for each program (recorders.c).
 *
 * Upstream: record.c (options), recorders.c. Downstream: capture/recorder.c.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/launch.h"
#include "capture/recorder.h"
#include "lib/error.h"
#include "selection/selection.h"

/* Limits of --ring-size, in bytes. */
#define RING_SIZE_MIN (16u << 10)
#define RING_SIZE_MAX (256u << 20)

/* The command line. */
#define REQUESTS_ALL  (1ull << 63)

struct record_args {
	int pid;	/* 0: none */
	char **command; /* NULL: none */
	const char *output, *raw, *stats;
	const char *blackbox; /* name of the flight recorder buffer; NULL: none */
	uint64_t duration_ns, stack_depth, ring_size;
	uint64_t sample_hz;  /* with set cpu */
	uint64_t timeout_ns; /* of the flight recorder buffer */
	int ready_fd;	     /* daemon: pipe to the parent, which waits for a byte; 0: none */
	unsigned int version, tick; /* version 0: by the release of the program */
	unsigned int sets;	    /* bits, by enum site_set */
	bool sets_given;	    /* by --events */
	bool no_stacks, no_labels, force_perf, is_inline, follow, cpu_profile, daemonize;
	bool format_given; /* by --tick or --format-version */
	bool timeout_given;
	struct call_option {
		const char *text; /* FUNC[=NAME] */
		bool is_task;
	} *call; /* each --region and --task, in their order */
	size_t ncalls, calls_cap;
	bool inherit;	    /* goroutines created in a task of --task or --requests belong to it */
	uint64_t requests;  /* bits, by enum gt_preset; REQUESTS_ALL: those in the program */
	uint64_t max_names; /* of requests */
	uint64_t rotate_ns, keep; /* --rotate; 0: one file */
	bool keep_given;
	struct cycle_opts sample;  /* --sample, --align-start */
	struct budget_opts budget; /* --max-overhead; share 0: none */
	uint64_t min_call_ns;	   /* --min-duration=syscall:TIME; 0: none */
	struct flight_opts flight; /* of the verb flight; its dir NULL: none */
	struct trigger_opts triggers;
	struct condition condition[CONDITIONS_MAX]; /* of `triggers` */
	struct selection_opts selection;	    /* `pid`, too */
	bool serves; /* the verb serve: without files, if `flight` has no dir */
};

struct supervisor;

/* Results of one of several recordings, in memory that it shares with the process of recorders.c. */
struct recording_report {
	struct recorder_stats stats;
	bool replaced;	 /* with RECORDING_NOTHING: it did not end, but executed another program */
	uint64_t not_go; /* with RECORDING_NOTHING: inode of its file, which is not a Go program */
	char reason[sizeof(((struct error *)0)->text)]; /* with recording.reason_in_report */
};

/* State of all such recordings, in the same shared memory. */
struct recording_family {
	bool first_taken;     /* a recording has taken the file names of the command line */
	pid_t launched;	      /* PID of the command; 0: not yet, or none */
	unsigned int running; /* recorders */
	/* of the recorder that launched the command */
	bool failed;
	int status; /* exit status of recording__run() */
};

struct recording {
	const struct record_args *args;
	const struct launch_signals *signals;
	uint64_t started; /* CLOCK_MONOTONIC, ns: for attach_ms */
	/* zero for a single recording: */
	struct recording_family *family;
	struct recording_report *report;
	int pid;		       /* to record, instead of the process of the command line */
	uint64_t exec_time;	       /* when it executed its program, ns; 0: its runtime is up */
	bool reason_in_report;	       /* the reason of a failure, instead of a message */
	bool only_if_go;	       /* a program that is not a Go program is not a failure */
	struct supervisor *supervisor; /* of serve, in the process of targets.c; NULL: none */
	int channel;		       /* to it, in a recorder; 0: none */
	unsigned int serial;	       /* counts its programs from 1; 0: that of the command line */
};

enum recording_end {
	RECORDING_DONE,
	RECORDING_FAILED,  /* the reason is set */
	RECORDING_NOTHING, /* one of several: no Go program, or it ended too early */
};

/*
 * Records and reports the result in log messages. Signals must be set up as in record.c.
 * *ret_status is the exit status: that of the command, whose end is awaited, or 126 or 127 if it
 * cannot be executed; without a command, EXIT_DONE or EXIT_FAILED.
 */
enum recording_end recording__run(const struct recording *r, int *ret_status, struct error *error);

#endif

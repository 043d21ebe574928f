/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings that run at the same time, each in a child process, which drops its privileges like any
 * recorder and ends when this process ends.
 *
 * Upstream: follow.c and targets.c, which decide what is recorded. Downstream: recording.c.
 */
#ifndef RECORDERS_H
#define RECORDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "recording.h"

#define RECORDERS_MAX 64 /* each has rings of 16 MiB */

struct tracker;

/* A recorder. `program` is what it records; PID 0: that of the command line. */
struct recorder_slot {
	pid_t recorder; /* 0: free */
	struct executed {
		int pid;
		char name[16]; /* that of struct gt_followed_exec */
	} program;
	uint64_t started; /* CLOCK_MONOTONIC, ns */
	uint64_t mark;	  /* recorders__program_mark(), if the caller sets it */
};

/*
 * A recorder has ended. `end` is an enum recording_end, or another number if it was killed or never
 * started.
 */
typedef void (*recorders_fn)(void *ctx, const struct recorder_slot *slot,
			     const struct recording_report *report, int end);

struct recorders {
	struct recording_family *family; /* shared with the recorders, as the next one */
	struct recording_report *report; /* [RECORDERS_MAX] */
	struct recorder_slot slot[RECORDERS_MAX];
	struct tracker *tracker; /* the caller's: recorders close it */
	int sigfd;		 /* signals, and the end of a recorder */
	recorders_fn ended;
	void *ctx;
	void (*forked)(void *ctx); /* in each recorder: closes what it must not have; NULL: none */
	/* sums over those that have recorded */
	unsigned int recorded;
	unsigned long long events, bytes, lost;
};

/* Also catches SIGUSR1 with `snapshots`. 0, or a negative errno and the reason. */
int recorders__init(struct recorders *r, recorders_fn ended, void *ctx, bool snapshots,
		    struct error *error);
void recorders__deinit(struct recorders *r); /* also after a failure */

/* NULL: as many as possible are running. */
struct recorder_slot *recorders__free_slot(struct recorders *r);
/*
 * Starts a recorder in a free slot, which it fills. If it will launch the command, it starts once it is
 * itself followed. `name` is that of the program, or empty. 0, or a negative errno and the reason.
 */
int recorders__start(struct recorders *r, struct recorder_slot *slot, struct recording *recording,
		     const char *name, struct error *error);
/* Reaps recorders that have ended. Returns the number of those that still run. */
unsigned int recorders__reap(struct recorders *r);
void recorders__signal(const struct recorders *r, int sig); /* to all */
void recorders__report(const struct recorders *r);	    /* prints the sums, of several */
/*
 * Reads signals, and forwards those that were sent to this process alone; those of the terminal reach
 * all processes. Returns whether one of them ends the recording.
 */
bool recorders__take_signals(const struct recorders *r);

/*
 * A hash that distinguishes the programs that a process executes: the auxiliary vector
 * contains addresses that the kernel randomizes at each exec. 0: not readable, or in the middle of an
 * exec, which is going to be reported.
 */
uint64_t recorders__program_mark(int pid);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by targets.c, which starts recorders, and target_candidates.c, which finds the processes for
 * them.
 */
#ifndef TARGETS_IMPL_H
#define TARGETS_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "selection/program_files.h"
#include "record.h"
#include "recorders.h"
#include "recording.h"

struct gt_followed_exec;
struct selection;
struct tracker;

#define SECOND	  1000000000ull
#define PAUSE_MS  200 /* between two looks */
#define PAUSE_NS  (PAUSE_MS * 1000000ull)
#define QUEUE_MAX 256
#define TRIED_MAX 4096

/* Of `most` actions, one becomes possible again every `every_ns`. */
struct rate {
	uint64_t every_ns, time;
	unsigned int most, left;
};

struct candidate {
	int pid;
	uint64_t exec_time; /* 0: it was running when the recording began */
	bool first;	    /* of -p, and the program that it ran at the start */
	bool is_found;	    /* by a search: exec_time is only a guess */
	uint64_t next_look; /* it is not looked at before */
};

/* A program that was passed to a recorder. */
struct tried {
	int pid;
	uint64_t mark, started;
};

struct targets {
	const struct recording *how;
	struct record_args args; /* of each recorder: without a duration */
	struct error *error;
	struct selection *selection;
	struct tracker *tracker;
	struct recorders recorders;
	struct program_file file[RECORDERS_MAX]; /* of each slot of the recorders */
	struct program_files *files;
	struct candidate queue[QUEUE_MAX];
	unsigned int n;
	struct tried tried[TRIED_MAX]; /* by PID; a later PID replaces an earlier one */
	struct rate looks, starts;
	uint64_t deadline, next_look, next_search, overflows;
	bool is_open, searched, search_again, full, stopping, failed;
	unsigned int refused, early;
};

/* Whether one of the actions is possible now; counts it. */
bool rate__take(struct rate *r);

/* Whether the process is one of -p. */
bool targets__is_given(const struct targets *t, int pid);
/* Whether a process may be recorded, now or later. On success, *mark and *e are those of its program. */
bool targets__is_candidate(struct targets *t, const struct candidate *c, uint64_t *mark,
			   struct program_entry **e);
/* Adds it to the queue, unless it is there. Without room, all processes are searched again later. */
void targets__enqueue(struct targets *t, const struct candidate *c);
/* Called by capture/tracker.c. */
void targets__handle_exec(void *ctx, const struct gt_followed_exec *exec);
/*
 * Searches all processes: at the start, when the cgroup was replaced, or when some may have been
 * missed. A process that was moved into the cgroup after its exec is found only in this way.
 */
void targets__search(struct targets *t);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows the tasks and regions of a trace (runtime/trace.NewTask, WithRegion) from their begin to
 * their end, and calls a client for each begin, end and log.
 *
 * Upstream: reader/reader.c or reader/timeline.c, whose events it interprets by reader/semantics.h.
 * Downstream: the clients annotations.c, requests.c and profile/profile_annotations.c. The reader
 * has checked that a task ID begins once at a time, and that the regions of a goroutine end in
 * reverse order.
 *
 * Memory is proportional to the tasks and regions that are open; IDs of tasks that have ended need a
 * bit each, up to a limit (reader/id_set.h).
 */
#ifndef ANALYSIS_ANNOTATION_TRACKER_H
#define ANALYSIS_ANNOTATION_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/name_table.h"
#include "reader/id_set.h"
#include "lib/map.h"
#include "reader/semantics.h"

#define ANNOTATION_NEVER INT64_MIN /* the begin is not in the trace */

/* An open task. A client's record begins with this. Times in ns of the trace. */
struct tracked_task {
	uint64_t id, g;	 /* g: the goroutine that created it */
	uint64_t parent; /* TRACE_NO_TASK: it has none */
	int64_t begin;
	uint32_t name; /* index in the tracker's table */
	bool foreseen; /* its begin has not come yet: annotation_tracker__foresee() */
};

struct tracked_region {
	uint64_t task; /* 0: of no task */
	int64_t begin; /* or ANNOTATION_NEVER */
	uint32_t name;
};

/*
 * Callbacks get the client's context. Each returns 0 or a negative errno, which ends the event.
 * NULL: ignored.
 */
struct annotation_client {
	size_t task_size;  /* of a task's record; a new one is 0 behind its head. 0: no tasks */
	bool regions;	   /* follow regions */
	bool region_names; /* their names are put into the table */
	int (*task_begin)(void *context, struct tracked_task *task);
	/* It ends at `time`, on goroutine g; or (false) it is still open at the end of the trace. */
	int (*task_end)(void *context, struct tracked_task *task, uint64_t g, int64_t time,
			bool ended);
	/* A task whose begin is not in the trace ends, for the first time in it. */
	int (*task_unbegun)(void *context, int64_t time);
	void (*task_deinit)(void *context, struct tracked_task *task);
	int (*region_begin)(void *context, uint64_t g, const struct tracked_region *region);
	/* It ends at `time`, by itself or with its goroutine; or (false) the trace ends before. */
	int (*region_end)(void *context, uint64_t g, const struct tracked_region *region,
			  int64_t time, bool ended);
	int (*log)(void *context, struct tracked_task *task, const struct semantics *m);
};

struct annotation_tracker {
	const struct annotation_client *client;
	void *context;
	struct name_table names;
	struct map tasks;      /* by ID, to the client's records */
	struct map goroutines; /* by ID, to struct open_regions */
	struct id_set ended;   /* IDs of tasks, which a program may end more than once */
	int64_t now;	       /* time of the last event */
};

/* Allocates nothing. `client` and `context` must outlive the tracker. */
void annotation_tracker__init(struct annotation_tracker *t, const struct annotation_client *client,
			      void *context);
void annotation_tracker__deinit(struct annotation_tracker *t);

/* Applies the next event. 0, -ENOMEM, or the error of a callback. */
int annotation_tracker__event(struct annotation_tracker *t, const struct trace_event *ev);

/*
 * The trace has ended, or the window of the client, not before its begin `least`: reports what is open,
 * by ID. Errors as above.
 */
int annotation_tracker__finish(struct annotation_tracker *t, int64_t least);

/*
 * A task that will begin on goroutine g counts from `time` on: before its begin it has neither a name
 * nor a parent. Returns the client's record, 0 behind its head; NULL: no memory, or (*ret_err is 0)
 * there is one of this ID. Another goroutine's begin is that of another task.
 */
void *annotation_tracker__foresee(struct annotation_tracker *t, uint64_t id, uint64_t g,
				  int64_t time, int *ret_err);
/* Forgets such a task if it has not begun. */
void annotation_tracker__drop_foreseen(struct annotation_tracker *t, uint64_t id);

/* The client's record of an open task; NULL: there is none. */
void *annotation_tracker__task(const struct annotation_tracker *t, uint64_t id);

#endif

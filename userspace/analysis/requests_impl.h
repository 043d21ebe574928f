/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of requests share: requests.c (what annotations mean), requests_work.c (who works
 * for which request), requests_path.c (critical paths) and requests_sum.c (sums of requests that
 * have ended).
 */
#ifndef ANALYSIS_REQUESTS_IMPL_H
#define ANALYSIS_REQUESTS_IMPL_H

#include "analysis/annotation_tracker.h"
#include "analysis/requests.h"

#define REQUEST_ANCESTORS 16	       /* the nearest ones, for which a subtask counts */
#define PATH_STEPS_MAX	  (1ull << 25) /* for the critical paths of all requests: some seconds */

struct trail; /* what a goroutine did since it began to work for a request */

/* What a goroutine works for. */
struct worker {
	uint64_t g;
	struct work *first;
	struct trail *trail; /* NULL: no paths, or there was no room */
};

/* A goroutine worked for a request in [from, to). */
struct member {
	struct trail *trail;
	int64_t from, to; /* to: INT64_MAX while it does */
};

/* A goroutine works for a request: in two lists, that of the request and that of the goroutine. */
struct work {
	struct request *request;
	struct worker *worker;
	struct work *request_prev, *request_next, *worker_prev, *worker_next;
	uint64_t key;		     /* in the map of all */
	size_t member;		     /* index in request->members, if that has any */
	uint32_t holds;		     /* number of reasons: see requests_work.c */
	uint32_t regions;	     /* of these, open regions of the task itself */
	struct latency_stats before; /* the goroutine's times at the begin */
};

/* A task; unlike its ID, the serial number is never used again. */
struct request_id {
	uint64_t task, serial;
};

/* An open task. */
struct request {
	struct tracked_task task;
	uint64_t serial;
	struct request_id *ancestors; /* the nearest first; some may have ended */
	uint8_t nancestors;
	bool failed;
	uint8_t source;	      /* enum request_source, of its arrival */
	int64_t handled_from; /* when its task began */
	int64_t handled_to;   /* when its task ended, if its answer was written later; else 0 */
	struct work *first, *last; /* in the order in which they began */
	struct member *members;
	size_t nmembers, members_cap;
	bool pathless;		   /* a part of its critical path is not kept */
	struct latency_stats time; /* of goroutines that no longer work for it */
};

/* A task that has ended, whose request ends later. */
struct late_end {
	uint64_t task, g;
	int64_t time;
};

#define LATE_ENDS_MAX 4096 /* further ones end with their task */

/* Times of requests beside their tasks: requests__pass(). */
struct request_schedule {
	uint32_t generations; /* as of the times in the timeline */
	size_t next;	      /* the first arrival that has not come */
	uint64_t *task;	      /* those that have come, in this generation */
	size_t n, cap;
	struct map unborn;     /* by goroutine that does not exist yet, to its task */
	struct late_end *late; /* by time, the earliest last */
	size_t nlate, late_cap;
};

struct requests {
	struct annotation_tracker tracker;
	struct request_schedule schedule;
	struct latency *latency;
	bool shared;  /* `latency` is the caller's */
	bool endless; /* requests__create_endless(), with `done` and its context */
	bool paths;   /* critical paths are wanted */
	int (*done)(void *context, const struct latency_goroutine *g);
	int (*ended)(void *context, const struct request_single *single); /* or NULL */
	void *done_context;						  /* of both */
	struct map workers; /* by goroutine, to struct worker: those that work for a task */
	struct map work;    /* by task and goroutine, to struct work */
	struct annotation_filter filter;
	int64_t from, to;
	uint64_t unbegun, left_out, pathless;
	size_t trails;		      /* bytes that are used for critical paths */
	uint64_t path_budget;	      /* steps that are left for them */
	uint64_t serials;	      /* of requests, so far */
	struct request_single *worst; /* in descending order */
	size_t nworst, most_worst;
	struct request_name *by_name[NAME_TABLE_MAX + 1]; /* NULL: nothing counted yet */
};

/* requests_work.c; 0 or -ENOMEM */

/* At its begin, when its parent is open: notes its ancestors and its serial number. */
int request__find_ancestors(struct requests *r, struct request *request);
/* The goroutine works for it and its ancestors: it began a region, or (false) it created it. */
int request__hold(struct requests *r, struct request *request, uint64_t g, bool region);
/* Lets goroutine `g` work for the ancestors of the request only, for which it did not work so far. */
int request__hold_ancestors(struct requests *r, struct request *request, uint64_t g);
/* The region ends. */
int request__release_region(struct requests *r, struct request *request, uint64_t g);
/* It ends: none of its goroutines works for its ancestors because of it any longer. */
int request__release_all(struct requests *r, struct request *request);
/*
 * The goroutine does not work for the request any longer; `now`: its times, of which the list of
 * reasons only grows. Frees the work.
 */
int work__stop_at(struct requests *r, struct work *w, struct latency_stats *now);
int work__stop(struct requests *r, struct work *w);
void work__drop(struct requests *r, struct work *w); /* without counting it */

/* requests_path.c; 0 or -ENOMEM */

/* A slice of a goroutine's time: the next one. */
int trails__slice(struct requests *r, const struct latency_slice *slice);
/* The work has begun or ends. */
int work__begin_member(struct requests *r, struct work *w);
void work__end_member(struct requests *r, struct work *w);
void worker__free(struct requests *r, struct worker *worker);
/* After all its work has stopped: determines single->path, and changes the order of the members. */
int request__find_path(struct requests *r, struct request *request, struct request_single *single);
void request__free_members(struct requests *r, struct request *request);

/* requests_sum.c; 0 or -ENOMEM */

/* Takes over the time of `single`, also on failure. */
int requests__count(struct requests *r, struct request_single *single);
int requests__count_unfinished(struct requests *r, uint32_t name);
void requests__free_sums(struct requests *r);

#endif

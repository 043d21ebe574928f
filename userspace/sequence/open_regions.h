/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The regions that a goroutine has open, innermost last: those of the program's own and those that
 * are calls or requests. A call may also be a task, and a request is one; the task begins before its
 * region and ends after it.
 *
 * Readers reject a region that ends while it is not the goroutine's innermost. Upstream:
 * state_user.c, state_calls.c, state_request.c. Downstream: boundary__emit().
 */
#ifndef SEQUENCE_OPEN_REGIONS_H
#define SEQUENCE_OPEN_REGIONS_H

#include "sequence/state_impl.h"

/* Ids of the program's own tasks are not greater; those of calls and requests are. */
#define TASK_ID_MAX    (1ull << 48)
#define CALL_DEPTH_MAX (1ull << 40) /* bytes; a stack of Go has at most 1 GB by default */

/* A call or request that is a task. `refs` counts the regions that refer to it. */
struct call_task {
	uint64_t id;
	uint32_t refs;
	bool inherits; /* goroutines that are created in it belong to it: members.c */
	bool ended;
};

struct open_region {
	uint64_t task;	   /* 0: none */
	uint64_t nearest;  /* its task, or that of the innermost region around it that has one */
	uint64_t text;	   /* its name, as records name it */
	uint64_t depth;	   /* of a call's frame, bytes; 0: a region of the program's own */
	bool is_task;	   /* `task` began with the region, and ends with it */
	bool inherits;	   /* goroutines that are created in the task belong to it */
	bool is_member;	   /* the goroutine was created in `task`: members.c */
	uint32_t string;   /* id of a member's name, which is not a text; 0: `text` is the name */
	struct text *name; /* held; NULL: empty or missing */
	struct request *request; /* has its name (open_requests.h); NULL: this is no request */
	struct call_task
		*within; /* the innermost task of a call around it, or its own; NULL: none */
};

struct regions {
	uint32_t n, cap;
	uint32_t deeper; /* of the program's own: open, but not written */
	struct call_task
		*joins; /* the task of which the goroutine, which has not run, is a member */
	struct open_region open[];
};

/* String id of a name with a permanent number. */
uint32_t step__name(const struct step *st, uint64_t text);

/*
 * Begins a region of the step's goroutine; with is_task, `task` is ignored, and a task of a new id
 * begins first, as a subtask of open_regions__task(); `nearest`, `name` and `within` are ignored.
 * False: not written, because too many are open, or out of memory (s->error is set).
 */
bool open_regions__begin(struct step *st, const struct open_region *region, uint32_t stack);
/*
 * Makes room for one more region of the goroutine, unless it has as many as it may have. NULL: no
 * memory (s->error is set).
 */
struct regions *open_regions__room(struct sequencer *s, struct goroutine *g);
/* Adds a region, for which there is room, and which owns what it refers to; sets its `nearest`. */
void open_regions__push(struct sequencer *s, struct goroutine *g, const struct open_region *region);
/* Ends the innermost one, of which there must be one. */
void open_regions__end(struct step *st, struct regions *r, uint32_t stack);
/*
 * state_calls.c: ends the calls whose frames are not below `depth`, with all regions inside of them.
 * Such a frame has returned, or a panic has unwound it; `by_panic`: it is known to be the latter.
 */
void calls__end(struct step *st, struct regions *r, uint64_t depth, bool by_panic);
/* state_request.c: ends the innermost region, which is a request whose handler has not returned. */
void open_requests__end_innermost(struct step *st);
/* state_request.c: ends the goroutine's requests, whose handlers have not returned. */
void open_requests__leave(struct step *st);
/* The task for which the goroutine works: that of its innermost region that has one; 0: none. */
uint64_t open_regions__task(const struct goroutine *g);
/* The innermost task of a call for which it works; NULL: none. Borrowed. */
struct call_task *open_regions__call_task(const struct goroutine *g);

struct call_task *call_task__get(struct call_task *task); /* NULL is allowed */
void call_task__put(struct call_task *task);		  /* NULL is allowed */

#endif

// SPDX-License-Identifier: GPL-2.0
/* The regions that a goroutine has open: see open_regions.h. */
#include "sequence/open_regions.h"

#include <errno.h>
#include <stdlib.h>

#include "sequence/boundary.h"
#include "sequence/members.h"

#define REGIONS_MAX 1024	/* open regions of a goroutine; deeper ones are not written */
#define OPEN_MAX    (32u << 20) /* bytes of open regions and names; others are not written */

uint32_t step__name(const struct step *st, uint64_t text)
{
	return texts__name(st->s->texts, text, st->time, &st->s->stats.text_misses);
}

struct call_task *call_task__get(struct call_task *task)
{
	if (task)
		task->refs++;
	return task;
}

void call_task__put(struct call_task *task)
{
	if (task && !--task->refs)
		free(task);
}

static struct call_task *call_task__create(struct sequencer *s, bool inherits)
{
	struct call_task *task = calloc(1, sizeof(*task));

	if (!task) {
		s->error = -ENOMEM;
		return NULL;
	}
	task->id = TASK_ID_MAX + ++s->user.call_tasks;
	task->refs = 1;
	task->inherits = inherits;
	return task;
}

struct regions *open_regions__room(struct sequencer *s, struct goroutine *g)
{
	struct regions *r = g->regions;
	uint32_t cap = r ? r->cap * 2 : 1; /* few goroutines have more than that of a member */

	if (r && (r->n < r->cap || r->n == REGIONS_MAX))
		return r;
	r = realloc(r, sizeof(*r) + cap * sizeof(*r->open));
	if (!r) {
		s->error = -ENOMEM;
		return NULL;
	}
	if (!g->regions)
		*r = (struct regions){};
	r->cap = cap;
	g->regions = r;
	return r;
}

static size_t open_bytes(const struct open_region *open)
{
	return sizeof(*open) + texts__size(open->name) + open_requests__size(open->request);
}

/* Removes a region from the list of open ones. */
static void forget(struct sequencer *s, struct open_region *open)
{
	s->user.open_bytes -= open_bytes(open);
	texts__release(open->name);
	if (open->is_task)
		open->within->ended = true;
	s->user.members -= open->is_member;
	call_task__put(open->within);
	open_requests__remove(s, open->request);
}

void open_regions__free(struct sequencer *s, struct goroutine *g)
{
	struct regions *r = g->regions;

	for (uint32_t i = 0; r && i < r->n; i++)
		forget(s, &r->open[i]);
	if (r && r->joins)
		members__forget(s, r);
	free(r);
	g->regions = NULL;
}

static const struct open_region *innermost(const struct regions *r)
{
	return r && r->n ? &r->open[r->n - 1] : NULL;
}

uint64_t open_regions__task(const struct goroutine *g)
{
	const struct open_region *open = innermost(g->regions);

	return open ? open->nearest : 0;
}

struct call_task *open_regions__call_task(const struct goroutine *g)
{
	const struct open_region *open = innermost(g->regions);

	return open ? open->within : NULL;
}

void open_regions__push(struct sequencer *s, struct goroutine *g, const struct open_region *region)
{
	uint64_t around = open_regions__task(g);
	struct open_region *open = &g->regions->open[g->regions->n++];

	*open = *region;
	open->nearest = open->task ? open->task : around;
	s->user.open_bytes += open_bytes(open);
}

bool open_regions__begin(struct step *st, const struct open_region *region, uint32_t stack)
{
	struct open_region open = *region;
	struct goroutine *g = st->t->g;
	struct sequencer *s = st->s;
	struct regions *r;
	uint32_t id;

	members__leave(s, st->t, st->time);
	r = open_regions__room(s, g);
	if (!r)
		return false;
	if (r->deeper || r->n == REGIONS_MAX || s->user.open_bytes > OPEN_MAX) {
		r->deeper += !region->depth; /* the ends of calls are found without counting */
		return false;
	}
	open.within = open.is_task ? call_task__create(s, open.inherits) :
				     call_task__get(open_regions__call_task(g));
	if (open.is_task && !open.within)
		return false;
	id = open.request ? open_requests__id(open.request) : step__name(st, open.text);
	open.name = open.request ? NULL : texts__hold(s->texts, open.text, st->time);
	if (open.is_task) {
		open.task = open.within->id;
		STEP_EMIT(st, EV_USER_TASK_BEGIN, open.task, open_regions__task(g), id, stack);
	}
	STEP_EMIT(st, EV_USER_REGION_BEGIN, open.task, id, stack);
	open_regions__push(s, g, &open);
	return true;
}

void open_regions__end(struct step *st, struct regions *r, uint32_t stack)
{
	struct open_region *open = &r->open[--r->n];

	STEP_EMIT(st, EV_USER_REGION_END, open->task,
		  open->request ? open_requests__id(open->request) :
		  open->string	? open->string :
				  texts__held_name(st->s->texts, open->text, open->name),
		  stack);
	if (open->is_task)
		STEP_EMIT(st, EV_USER_TASK_END, open->task, stack);
	forget(st->s, open);
}

/*
 * A region that is open when its goroutine ends needs no end: readers end it there. A task needs one,
 * and the regions inside of it end before. The region of a member ends, too.
 */
void open_regions__leave(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct step st = { .s = s, .t = t, .time = time };
	struct regions *r = t->g->regions;
	uint32_t keep = 0;

	open_requests__leave(&st);
	while (r && keep < r->n && !r->open[keep].is_task && !r->open[keep].is_member)
		keep++;
	while (r && r->n > keep)
		open_regions__end(&st, r, 0);
}

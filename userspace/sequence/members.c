// SPDX-License-Identifier: GPL-2.0
/* Members of tasks: see members.h. */
#include "sequence/members.h"
#include "sequence/open_regions.h"

#define MEMBERS_MAX  (1u << 17) /* goroutines at a time; further ones do not belong to their task */
#define MEMBER_DEPTH 1 /* bytes: less than that of any call, so that none ends the region */

void members__created(struct sequencer *s, const struct thread *t, struct goroutine *g)
{
	struct call_task *task = t->g ? open_regions__call_task(t->g) : NULL;
	struct regions *r;

	if (!task || !task->inherits || task->ended ||
	    stacks__start_is_runtime(s->stacks, g->start))
		return;
	if (s->user.members == MEMBERS_MAX) {
		s->stats.dropped++;
		return;
	}
	r = open_regions__room(s, g);
	if (!r)
		return;
	r->joins = call_task__get(task);
	s->user.members++;
}

void members__forget(struct sequencer *s, struct regions *r)
{
	call_task__put(r->joins);
	r->joins = NULL;
	s->user.members--;
}

/* Its first execution, before which it cannot have had a region. */
static void join(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct regions *r = t->g->regions;
	struct open_region region = {
		.task = r->joins->id,
		.depth = MEMBER_DEPTH,
		.is_member = true,
		.string = stacks__start_name(s->stacks, t->g->start),
		.within = r->joins,
	};

	if (!region.string)
		region.string = intern__cstring(s->opts.intern, "goroutine");
	EMIT(s, t, time, EV_USER_REGION_BEGIN, region.task, region.string, 0);
	r->joins = NULL;
	open_regions__push(s, t->g, &region);
}

void members__run(struct sequencer *s, struct thread *t, uint64_t time)
{
	const struct regions *r = t->g->regions;

	if (!r)
		return;
	if (!r->joins)
		members__leave(s, t, time);
	else if (r->joins->ended)
		open_regions__free(s, t->g);
	else
		join(s, t, time);
}

void members__leave(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct step st = { .s = s, .t = t, .time = time };
	struct regions *r = t->g->regions;

	if (!r || r->n != 1 || !r->open[0].is_member || !r->open[0].within->ended)
		return;
	open_regions__end(&st, r, 0);
	if (!r->deeper)
		open_regions__free(s, t->g);
}

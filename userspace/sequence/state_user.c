// SPDX-License-Identifier: GPL-2.0
/*
 * Records of what the program says of itself: tasks, regions, logs.
 *
 * Readers refuse a task that begins while it is open, and a region that ends while it is not the
 * goroutine's innermost: what was open before the window, or was lost, is never ended here. Before:
 * state.c; the texts are texts.c's. After: checkpoint__emit().
 */
#include "sequence/state_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASK_WINDOW (1u << 20) /* ids; the runtime hands them out one by one, for ever new */
#define TASK_ID_MAX (1ull << 48)
#define REGIONS_MAX 1024	/* open ones of a goroutine; deeper ones are not written */
#define OPEN_MAX    (32u << 20) /* bytes of all open regions and their names: nor are those beyond */

struct open_region {
	uint64_t task, text; /* as records name it */
	struct text *name;   /* held; NULL: it is the empty one, or was not there */
};

struct regions {
	uint32_t n, cap;
	uint32_t deeper; /* open, but not written */
	struct open_region open[];
};

/* Of a number that is settled. */
static uint32_t name(const struct step *st, uint64_t text)
{
	return texts__name(st->s->texts, text, st->time, &st->s->stats.text_misses);
}

/* ---- tasks ---- */

static void forget_ids(struct sequencer *s, uint64_t from, uint64_t to)
{
	if (to - from >= TASK_WINDOW) {
		memset(s->task_named, 0, TASK_WINDOW / 8);
		return;
	}
	for (; from != to; from++)
		s->task_named[from % TASK_WINDOW / 64] &= ~(1ull << from % 64);
}

/*
 * Notes that the file names the task. False if it did so before, or may have: then it can't begin
 * any more. Ids that lie far behind the latest are not remembered.
 */
static bool task__name(struct sequencer *s, uint64_t id)
{
	uint64_t *word, bit = 1ull << id % 64;
	bool fresh;

	if (!id || id > TASK_ID_MAX)
		return false;
	if (!s->task_named)
		s->task_named = calloc(TASK_WINDOW / 64, sizeof(*s->task_named));
	if (!s->task_named) {
		s->error = -ENOMEM;
		return false;
	}
	if (id > s->task_max) {
		forget_ids(s, s->task_max + 1, id + 1);
		s->task_max = id;
	} else if (s->task_max - id >= TASK_WINDOW) {
		return false;
	}
	word = &s->task_named[id % TASK_WINDOW / 64];
	fresh = !(*word & bit);
	*word |= bit;
	return fresh;
}

/* Who names a task comes after its begin, if that is in the window at all. */
static bool task__may_come(const struct step *st, uint64_t id)
{
	return !st->force && st->s->task_begun && id > st->s->task_max && id <= TASK_ID_MAX;
}

enum verdict apply_task_begin(struct step *st)
{
	const struct gt_task *task = st->payload;
	struct sequencer *s = st->s;
	uint64_t args[4];
	enum verdict v;

	if (task__may_come(st, task->parent))
		return WAIT;
	if (!step__need_running(st, &v))
		return v;
	if (task->parent)
		task__name(s, task->parent);
	if (!task__name(s, task->id))
		return step__drop(st);
	s->task_begun = true;
	args[0] = task->id;
	args[1] = task->parent;
	args[2] = name(st, texts__settle(s->texts, task->type, st->time));
	args[3] = step__stack(st, s->opts.layout->skips.task_begin);
	checkpoint__emit(s, st->t, st->time, EV_USER_TASK_BEGIN, 4, args);
	return DONE;
}

enum verdict apply_task_end(struct step *st)
{
	const struct gt_value *task = st->payload;
	struct sequencer *s = st->s;
	uint64_t args[2] = { task->value };
	enum verdict v;

	if (task__may_come(st, task->value))
		return WAIT;
	if (!step__need_running(st, &v))
		return v;
	task__name(s, task->value);
	args[1] = step__stack(st, s->opts.layout->skips.task_end);
	checkpoint__emit(s, st->t, st->time, EV_USER_TASK_END, 2, args);
	return DONE;
}

/* ---- regions ---- */

static struct regions *regions__room(struct sequencer *s, struct goroutine *g)
{
	struct regions *r = g->regions;
	uint32_t cap = r ? r->cap * 2 : 4;

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
	return sizeof(*open) + texts__size(open->name);
}

/* It is not open any more. */
static void forget_region(struct sequencer *s, struct open_region *open)
{
	s->open_bytes -= open_bytes(open);
	texts__release(s->texts, open->name);
}

void regions__free(struct sequencer *s, struct goroutine *g)
{
	struct regions *r = g->regions;

	for (uint32_t i = 0; r && i < r->n; i++)
		forget_region(s, &r->open[i]);
	free(r);
	g->regions = NULL;
}

static enum verdict region_begins(struct step *st, const struct gt_region *region)
{
	struct sequencer *s = st->s;
	struct regions *r = regions__room(s, st->t->g);
	struct open_region *open;
	uint32_t stack, id;

	if (!r)
		return DONE;
	if (r->deeper || r->n == REGIONS_MAX || s->open_bytes > OPEN_MAX) {
		r->deeper++;
		return step__drop(st);
	}
	id = name(st, region->name);
	open = &r->open[r->n++];
	*open = (struct open_region){ region->task, region->name,
				      texts__hold(s->texts, region->name) };
	s->open_bytes += open_bytes(open);
	stack = step__stack(st, s->opts.layout->skips.region);
	checkpoint__emit(s, st->t, st->time, EV_USER_REGION_BEGIN, 3,
			 (const uint64_t[]){ open->task, id, stack });
	return DONE;
}

/* The index of the innermost region of this task and name that is open, + 1; 0: none. */
static uint32_t find_open(const struct regions *r, const struct gt_region *region)
{
	uint32_t i = r ? r->n : 0;

	while (i && (r->open[i - 1].task != region->task || r->open[i - 1].text != region->name))
		i--;
	return i;
}

static void end_innermost(struct step *st, struct regions *r, uint32_t stack)
{
	struct open_region *open = &r->open[--r->n];
	uint32_t id = texts__held_name(st->s->texts, open->text, open->name);

	checkpoint__emit(st->s, st->t, st->time, EV_USER_REGION_END, 3,
			 (const uint64_t[]){ open->task, id, stack });
	forget_region(st->s, open);
}

/* Regions nest, so one that stands in the way has ended: its end was lost. */
static enum verdict region_ends(struct step *st, const struct gt_region *region)
{
	struct regions *r = st->t->g->regions;
	uint32_t found;

	if (r && r->deeper) {
		r->deeper--;
		return step__drop(st);
	}
	found = find_open(r, region);
	if (!found)
		return DONE; /* begun before the window, or the begin was lost */
	while (r->n > found) {
		st->s->stats.repairs++;
		end_innermost(st, r, 0);
	}
	end_innermost(st, r, step__stack(st, st->s->opts.layout->skips.region));
	return DONE;
}

enum verdict apply_region(struct step *st)
{
	struct gt_region region = *(const struct gt_region *)st->payload;
	enum verdict v;

	if (task__may_come(st, region.task))
		return WAIT;
	if (!step__need_running(st, &v))
		return v;
	if (region.ends > 1) /* no other mode is known: the runtime passes over it, too */
		return step__drop(st);
	if (region.task)
		task__name(st->s, region.task);
	region.name = texts__settle(st->s->texts, region.name, st->time);
	return region.ends ? region_ends(st, &region) : region_begins(st, &region);
}

/* ---- logs ---- */

enum verdict apply_log(struct step *st)
{
	const struct gt_log *log = st->payload;
	struct sequencer *s = st->s;
	uint64_t args[4] = { log->task };
	enum verdict v;

	if (task__may_come(st, log->task))
		return WAIT;
	if (!step__need_running(st, &v))
		return v;
	if (log->task)
		task__name(s, log->task);
	args[1] = name(st, texts__settle(s->texts, log->category, st->time));
	args[2] = texts__message(s->texts, log->message, &s->stats.text_misses);
	args[3] = step__stack(st, s->opts.layout->skips.log);
	checkpoint__emit(s, st->t, st->time, EV_USER_LOG, 4, args);
	return DONE;
}

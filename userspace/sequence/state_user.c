// SPDX-License-Identifier: GPL-2.0
/*
 * Records of package runtime/trace: tasks, regions and logs; and calls of functions that are
 * recorded as regions.
 *
 * Readers reject a task that begins while it is open, and a region that ends while it is not the
 * goroutine's innermost. What was open before the window, or whose begin was lost, is therefore
 * never ended here. Upstream: state.c and texts.c. Downstream: boundary__emit().
 */
#include "sequence/boundary.h"
#include "sequence/state_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASK_WINDOW    (1u << 20) /* ids; the runtime assigns them one by one */
#define TASK_ID_MAX    (1ull << 48)
#define REGIONS_MAX    1024	    /* open regions of a goroutine; deeper ones are not written */
#define CALL_DEPTH_MAX (1ull << 40) /* bytes; a stack of Go has at most 1 GB by default */
#define OPEN_MAX       (32u << 20)  /* bytes of open regions and names; others are not written */

struct open_region {
	uint64_t task, text; /* as records name it */
	uint64_t depth;	     /* of a call's frame; 0: a region of the program's own */
	struct text *name;   /* held; NULL: empty or missing */
};

struct regions {
	uint32_t n, cap;
	uint32_t deeper; /* open, but not written */
	struct open_region open[];
};

/* String id of a name with a permanent number. */
static uint32_t name_id(const struct step *st, uint64_t text)
{
	return texts__name(st->s->texts, text, st->time, &st->s->stats.text_misses);
}

/* ---- tasks ---- */

static void forget_ids(struct sequencer *s, uint64_t from, uint64_t to)
{
	if (to - from >= TASK_WINDOW) {
		memset(s->user.task_named, 0, TASK_WINDOW / 8);
		return;
	}
	for (; from != to; from++)
		s->user.task_named[from % TASK_WINDOW / 64] &= ~(1ull << from % 64);
}

/*
 * Notes that the trace names the task. False if it does already, or may do: then the task cannot
 * begin any more. Ids far behind the latest one are not remembered.
 */
static bool task__name(struct sequencer *s, uint64_t id)
{
	uint64_t *word, bit = 1ull << id % 64;
	bool fresh;

	if (!id || id > TASK_ID_MAX)
		return false;
	if (!s->user.task_named)
		s->user.task_named = calloc(TASK_WINDOW / 64, sizeof(*s->user.task_named));
	if (!s->user.task_named) {
		s->error = -ENOMEM;
		return false;
	}
	if (id > s->user.task_max) {
		forget_ids(s, s->user.task_max + 1, id + 1);
		s->user.task_max = id;
	} else if (s->user.task_max - id >= TASK_WINDOW) {
		return false;
	}
	word = &s->user.task_named[id % TASK_WINDOW / 64];
	fresh = !(*word & bit);
	*word |= bit;
	return fresh;
}

/* Whether the task's begin may still follow: a record that names the task must not precede it. */
static bool task__may_begin_later(const struct step *st, uint64_t id)
{
	return !st->force && st->s->user.task_begun && id > st->s->user.task_max &&
	       id <= TASK_ID_MAX;
}

enum apply_result apply_task_begin(struct step *st)
{
	const struct gt_task *task = st->payload;
	struct sequencer *s = st->s;
	uint32_t type;

	if (task__may_begin_later(st, task->parent))
		return WAIT;
	if (task->parent)
		task__name(s, task->parent);
	if (!task__name(s, task->id))
		return step__drop(st);
	s->user.task_begun = true;
	type = name_id(st, texts__settle(s->texts, task->type, st->time));
	STEP_EMIT(st, EV_USER_TASK_BEGIN, task->id, task->parent, type,
		  step__stack(st, s->opts.layout->skips.task_begin));
	return DONE;
}

enum apply_result apply_task_end(struct step *st)
{
	const struct gt_value *task = st->payload;

	if (task__may_begin_later(st, task->value))
		return WAIT;
	task__name(st->s, task->value);
	STEP_EMIT(st, EV_USER_TASK_END, task->value,
		  step__stack(st, st->s->opts.layout->skips.task_end));
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

/* Removes a region from the list of open ones. */
static void forget_region(struct sequencer *s, struct open_region *open)
{
	s->user.open_bytes -= open_bytes(open);
	texts__release(open->name);
}

void regions__free(struct sequencer *s, struct goroutine *g)
{
	struct regions *r = g->regions;

	for (uint32_t i = 0; r && i < r->n; i++)
		forget_region(s, &r->open[i]);
	free(r);
	g->regions = NULL;
}

/* `skip`: frames to omit from the stack; `depth`: of a call, else 0. */
static enum apply_result region_begins(struct step *st, const struct gt_region *region,
				       uint64_t depth, uint32_t skip)
{
	struct sequencer *s = st->s;
	struct regions *r = regions__room(s, st->t->g);
	struct open_region *open;
	uint32_t id;

	if (!r)
		return DONE;
	if (r->deeper || r->n == REGIONS_MAX || s->user.open_bytes > OPEN_MAX) {
		r->deeper += !depth; /* of the program's own: their ends are not matched */
		return step__drop(st);
	}
	id = name_id(st, region->name);
	open = &r->open[r->n++];
	*open = (struct open_region){ region->task, region->name, depth,
				      texts__hold(s->texts, region->name) };
	s->user.open_bytes += open_bytes(open);
	STEP_EMIT(st, EV_USER_REGION_BEGIN, open->task, id, step__stack(st, skip));
	return DONE;
}

/* Index of the innermost open region of this task and name, plus 1; 0: none. */
static uint32_t find_open(const struct regions *r, const struct gt_region *region)
{
	uint32_t i = r ? r->n : 0;

	while (i && (r->open[i - 1].depth || r->open[i - 1].task != region->task ||
		     r->open[i - 1].text != region->name))
		i--;
	return i;
}

static void end_innermost(struct step *st, struct regions *r, uint32_t stack)
{
	struct open_region *open = &r->open[--r->n];

	STEP_EMIT(st, EV_USER_REGION_END, open->task,
		  texts__held_name(st->s->texts, open->text, open->name), stack);
	forget_region(st->s, open);
}

/* Regions nest: one inside of the ended region has ended too, and that record was lost. */
static enum apply_result region_ends(struct step *st, const struct gt_region *region)
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

enum apply_result apply_region(struct step *st)
{
	struct gt_region region = *(const struct gt_region *)st->payload;

	if (task__may_begin_later(st, region.task))
		return WAIT;
	if (region.ends > 1) /* the runtime ignores unknown modes, too */
		return step__drop(st);
	if (region.task)
		task__name(st->s, region.task);
	region.name = texts__settle(st->s->texts, region.name, st->time);
	return region.ends ? region_ends(st, &region) :
			     region_begins(st, &region, 0, st->s->opts.layout->skips.region);
}

/* ---- calls ---- */

/*
 * Ends the calls whose frames are not below `depth`, with all regions inside of them. Such a frame
 * has returned, or a panic has unwound it.
 */
static void end_calls(struct step *st, struct regions *r, uint64_t depth)
{
	uint32_t keep = r->n;

	for (uint32_t i = r->n; i > 0; i--) {
		const struct open_region *open = &r->open[i - 1];

		if (open->depth && open->depth < depth)
			break;
		if (open->depth)
			keep = i - 1;
	}
	while (r->n > keep)
		end_innermost(st, r, 0);
}

/*
 * An exit ends the call whose frame is at its depth; that of a call that began before the window
 * ends none. Calls are not counted, so that a lost record leaves nothing wrong for long.
 */
enum apply_result apply_func_call(struct step *st)
{
	const struct gt_func_call *call = st->payload;
	struct gt_region region = { .name = call->name };

	if (!call->depth || call->depth > CALL_DEPTH_MAX || call->ends > 1)
		return step__drop(st);
	if (st->t->g->regions)
		end_calls(st, st->t->g->regions, call->depth);
	return call->ends ? DONE : region_begins(st, &region, call->depth, 0);
}

/* ---- logs ---- */

enum apply_result apply_log(struct step *st)
{
	const struct gt_log *log = st->payload;
	struct sequencer *s = st->s;
	uint32_t category, message;

	if (task__may_begin_later(st, log->task))
		return WAIT;
	if (log->task)
		task__name(s, log->task);
	category = name_id(st, texts__settle(s->texts, log->category, st->time));
	message = texts__message(s->texts, log->message, &s->stats.text_misses);
	STEP_EMIT(st, EV_USER_LOG, log->task, category, message,
		  step__stack(st, s->opts.layout->skips.log));
	return DONE;
}

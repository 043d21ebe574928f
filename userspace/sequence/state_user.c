// SPDX-License-Identifier: GPL-2.0
/*
 * Records of package runtime/trace: tasks, regions and logs.
 *
 * Readers reject a task that begins while it is open, and a region that ends while it is not the
 * goroutine's innermost. What was open before the window, or whose begin was lost, is therefore
 * never ended here. Upstream: state.c and texts.c. Downstream: boundary__emit().
 */
#include "sequence/boundary.h"
#include "sequence/open_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASK_WINDOW (1u << 20) /* ids; the runtime assigns them one by one */

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
	type = step__name(st, texts__settle(s->texts, task->type, st->time));
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

static enum apply_result region_begins(struct step *st, const struct gt_region *region)
{
	const struct open_region open = { .task = region->task, .text = region->name };

	return open_regions__begin(st, &open, step__stack(st, st->s->opts.layout->skips.region)) ?
		       DONE :
		       step__drop(st);
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
		open_regions__end(st, r, 0);
	}
	open_regions__end(st, r, step__stack(st, st->s->opts.layout->skips.region));
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
	return region.ends ? region_ends(st, &region) : region_begins(st, &region);
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
	category = step__name(st, texts__settle(s->texts, log->category, st->time));
	message = texts__message(s->texts, log->message, &s->stats.text_misses);
	STEP_EMIT(st, EV_USER_LOG, log->task, category, message,
		  step__stack(st, s->opts.layout->skips.log));
	return DONE;
}

// SPDX-License-Identifier: GPL-2.0
/* Leaves out short system calls: see short_calls.h. */
#include "sequence/short_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kernel.h"
#include "sequence/boundary.h"
#include "sequence/sequencer_impl.h"
#include "writer/private_write.h"

#define QUEUE_MIN 256u
#define QUEUE_MAX 65536u /* items; then the oldest call is written, whatever its length */

/* ---- calls of goroutines ---- */

void short_calls__begin(struct sequencer *s, struct thread *t, uint64_t time, uint32_t stack)
{
	if (!s->shorts.sum.min_ns) {
		EMIT(s, t, time, EV_GO_SYSCALL_BEGIN, boundary__p_seq(s, t->p), stack);
		return;
	}
	short_calls__show(s, t);
	t->begin = (struct held_begin){
		.time = boundary__stamp(s, t, time, EV_GO_SYSCALL_BEGIN),
		.stack = stack,
		.held = true,
	};
	boundary__watch(s, t, t->begin.time, EV_GO_SYSCALL_BEGIN, (const uint64_t[]){ 0, stack });
}

static void decide_kernel_call(struct short_calls *c, uint32_t tid);

/* The sequence number of the P is taken only here: a call that is left out must leave no gap. */
void short_calls__show(struct sequencer *s, struct thread *t)
{
	uint64_t args[2];

	if (!t->begin.held)
		return;
	t->begin.held = false;
	args[0] = boundary__p_seq(s, t->p);
	args[1] = t->begin.stack;
	boundary__put(s, t, t->begin.time, EV_GO_SYSCALL_BEGIN, 2, args);
	decide_kernel_call(&s->shorts, t->tid);
}

bool short_calls__end(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct private_short *sum = &s->shorts.sum;
	uint64_t ns = time > t->begin.time ? time - t->begin.time : 0;

	if (!t->begin.held || ns >= sum->min_ns)
		return false;
	t->begin.held = false;
	s->stats.short_calls++;
	sum->calls++;
	sum->calls_ns += ns;
	boundary__watch(s, t, time, EV_GO_SYSCALL_END, NULL);
	return true;
}

/* ---- kernel events ---- */

enum fate { WRITTEN, LEFT_OUT, UNDECIDED };

struct queued_item {
	struct kernel_item item;
	char name
		[KERNEL_NAME_MAX]; /* the bytes of its name, which live only as long as the record */
	enum fate fate;		   /* UNDECIDED: the begin of a call that has not ended */
};

static struct queued_item *at(const struct short_calls *c, uint64_t position)
{
	return &c->queue[position & (c->cap - 1)];
}

/* The begin of the thread's call, if it is undecided; the caller decides. */
static struct queued_item *take_undecided(struct short_calls *c, uint32_t tid)
{
	uintptr_t position = (uintptr_t)map__remove(&c->undecided, tid);

	return position ? at(c, position - 1) : NULL;
}

static void decide_kernel_call(struct short_calls *c, uint32_t tid)
{
	struct queued_item *begin = take_undecided(c, tid);

	if (begin)
		begin->fate = WRITTEN;
}

/* Passes on the items before the oldest undecided one that may still be short at `time`. */
static int release(struct sequencer *s, uint64_t time, bool all)
{
	struct short_calls *c = &s->shorts;
	int err = 0;

	while (!err && c->head < c->tail) {
		struct queued_item *q = at(c, c->head);

		if (q->fate == UNDECIDED && !all && time < q->item.time + c->sum.min_ns)
			break;
		if (q->fate == UNDECIDED)
			decide_kernel_call(c, q->item.tid);
		c->head++;
		if (q->fate == WRITTEN)
			err = kernel_writer__add(s->kernel.writer, &q->item);
	}
	return err;
}

/* Room for one more item: a larger ring, or the oldest one is passed on. */
static int make_room(struct sequencer *s)
{
	struct short_calls *c = &s->shorts;
	size_t cap = c->cap ? 2 * c->cap : QUEUE_MIN;
	struct queued_item *queue;

	if (c->tail - c->head < c->cap)
		return 0;
	if (cap > QUEUE_MAX) {
		decide_kernel_call(c, at(c, c->head)->item.tid);
		return release(s, 0, false);
	}
	queue = malloc(cap * sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	for (uint64_t i = c->head; i < c->tail; i++) {
		queue[i & (cap - 1)] = *at(c, i);
		queue[i & (cap - 1)].item.name.data = queue[i & (cap - 1)].name;
	}
	free(c->queue);
	c->queue = queue;
	c->cap = cap;
	return 0;
}

static int push(struct sequencer *s, const struct kernel_item *item)
{
	struct short_calls *c = &s->shorts;
	int err = make_room(s);
	struct queued_item *q;

	if (err)
		return err;
	q = at(c, c->tail++);
	q->item = *item;
	q->fate = WRITTEN;
	if (q->item.name.len > sizeof(q->name))
		q->item.name.len = sizeof(q->name);
	if (q->item.name.len)
		memcpy(q->name, item->name.data, q->item.name.len);
	q->item.name.data = q->name;
	if (item->kind != KERNEL_SYS_ENTER)
		return 0;
	q->fate = UNDECIDED;
	return map__put(&c->undecided, item->tid, (void *)(uintptr_t)c->tail);
}

/* Whether the end of a call and its begin are left out. */
static bool is_short(struct short_calls *c, const struct kernel_item *end)
{
	struct queued_item *begin = take_undecided(c, end->tid);
	uint64_t ns;

	if (!begin)
		return false;
	ns = end->time > begin->item.time ? end->time - begin->item.time : 0;
	begin->fate = begin->item.number == end->number && ns < c->sum.min_ns ? LEFT_OUT : WRITTEN;
	if (begin->fate == WRITTEN)
		return false;
	c->sum.kernel++;
	c->sum.kernel_ns += ns;
	return true;
}

int short_calls__item(struct sequencer *s, const struct kernel_item *item)
{
	struct short_calls *c = &s->shorts;
	bool begins = item->kind == KERNEL_SYS_ENTER;
	int err = 0;

	if (!c->sum.min_ns)
		return kernel_writer__add(s->kernel.writer, item);
	if (begins) /* the end of the call before was lost */
		decide_kernel_call(c, item->tid);
	if (item->kind == KERNEL_SYS_EXIT && is_short(c, item))
		return release(s, item->time, false);
	if (begins || c->head < c->tail)
		err = push(s, item);
	else
		return kernel_writer__add(s->kernel.writer, item);
	return err ? err : release(s, item->time, false);
}

/* ---- generations ---- */

int short_calls__end_generation(struct sequencer *s)
{
	struct short_calls *c = &s->shorts;
	void *value;
	int err;

	if (!c->sum.min_ns)
		return 0;
	for (size_t i = 0; map__next(&s->model.threads, &i, &value);)
		short_calls__show(s, value);
	err = release(s, 0, true);
	if (!err)
		err = private__short(s->opts.writer, &c->sum);
	c->sum = (struct private_short){ .min_ns = c->sum.min_ns };
	return err;
}

void short_calls__deinit(struct sequencer *s)
{
	free(s->shorts.queue);
	map__deinit(&s->shorts.undecided);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The statuses at the start of a generation: see prologue.h.
 *
 * Upstream: writer/writer.c, which passes on the status of each goroutine and P. Downstream: the
 * same, which writes these batches before all events.
 *
 * The status of what is not on a thread (idle Ps; runnable and waiting goroutines, which are almost
 * all) is encoded at once. Other statuses are sorted first, since the status of a thread's P must
 * precede that of its goroutine, and both precede the thread's events.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "writer/prologue.h"

void prologue__init(struct prologue *p, struct chunk_pool *pool)
{
	*p = (struct prologue){ 0 };
	stream__init(&p->threadless, pool, TRACE_NO_M, 0);
	stream__init(&p->threads, pool, TRACE_NO_M, 0);
}

void prologue__deinit(struct prologue *p)
{
	stream__deinit(&p->threadless);
	stream__deinit(&p->threads);
	free(p->list);
	p->list = NULL;
	p->count = p->cap = 0;
}

void prologue__open(struct prologue *p, uint32_t gen, uint64_t time)
{
	stream__deinit(&p->threadless);
	stream__deinit(&p->threads);
	p->threadless.gen = p->threads.gen = gen;
	p->threadless.time = p->threads.time = time;
	p->count = 0;
}

static int put_status(struct stream *s, const struct prologue_status *st)
{
	uint64_t m = st->m == TRACE_NO_M ? 0 : st->m; /* ignored in this case, and shorter */
	uint64_t go[] = { st->id, m, st->status, st->stack };
	uint64_t proc[] = { st->id, st->status };
	int err = stream__room(s, EVENT_MAX);

	if (err)
		return err;
	if (!st->goroutine)
		stream__put_event(s, EV_PROC_STATUS, 0, proc, 2);
	else if (st->stack)
		stream__put_event(s, EV_GO_STATUS_STACK, 0, go, 4);
	else
		stream__put_event(s, EV_GO_STATUS, 0, go, 3);
	return 0;
}

static int add_status(struct prologue *p, struct prologue_status st, bool on_thread)
{
	if (!on_thread) {
		st.m = TRACE_NO_M;
		return put_status(&p->threadless, &st);
	}
	if (st.m == TRACE_NO_M)
		return -EINVAL;
	if (array__grow(&p->list, p->count, &p->cap, sizeof(*p->list)))
		return -ENOMEM;
	p->list[p->count++] = st;
	return 0;
}

int prologue__add_proc(struct prologue *p, uint64_t m, uint64_t id, enum trace_proc_status status)
{
	struct prologue_status st = { .m = m, .id = id, .status = status };

	return add_status(p, st, status != PROC_IDLE && status != PROC_ABANDONED);
}

int prologue__add_go(struct prologue *p, uint64_t m, uint64_t id, enum trace_go_status status,
		     uint32_t stack)
{
	struct prologue_status st = {
		.m = m, .id = id, .status = status, .stack = stack, .goroutine = true
	};

	return add_status(p, st, status != GO_RUNNABLE && status != GO_WAITING);
}

static int compare_statuses(const void *a, const void *b)
{
	const struct prologue_status *x = a, *y = b;

	if (x->m != y->m)
		return x->m < y->m ? -1 : 1;
	if (x->goroutine != y->goroutine)
		return x->goroutine ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int prologue__write(struct prologue *p)
{
	struct stream *s = &p->threads;
	size_t i;
	int err;

	array__sort(p->list, p->count, sizeof(*p->list), compare_statuses);
	for (i = 0; i < p->count; i++) {
		if (!i || p->list[i].m != s->m) {
			s->m = p->list[i].m;
			err = stream__begin(s, EVENT_MAX);
			if (err)
				return err;
		}
		err = put_status(s, &p->list[i]);
		if (err)
			return err;
	}
	stream__end(s);
	stream__end(&p->threadless);
	return 0;
}

void tracked_p__open(struct tracked_p *w)
{
	w->missed = false;
}

void tracked_p__status(struct tracked_p *w, uint64_t m, uint64_t p, enum trace_proc_status status)
{
	/* A status applies to the start of the generation, so an event, if any, is more recent. */
	if (w->known || w->missed)
		return;
	w->known = true;
	w->p = p;
	w->m = m;
	w->status = status;
}

static void tracked_p__set(struct tracked_p *w, uint64_t m, enum trace_proc_status status)
{
	w->m = m;
	w->status = status;
}

bool tracked_p__needs(enum ev type)
{
	return type == EV_PROC_START || type == EV_PROC_STOP || type == EV_PROC_STEAL ||
	       type == EV_PROC_STATUS || type == EV_GO_SYSCALL_BEGIN || type == EV_GO_SYSCALL_END ||
	       type == EV_GO_DESTROY_SYSCALL;
}

void tracked_p__event(struct tracked_p *w, uint64_t m, enum ev type, const uint64_t *args)
{
	bool on_thread = w->known && w->m == m;

	if (!w->known && type == EV_PROC_START) {
		w->known = true;
		w->p = args[0];
	}
	if (!w->known && type == EV_PROC_STATUS)
		tracked_p__status(w, m, args[0], args[1]);
	if (!w->known) {
		w->missed = true;
		return;
	}
	if (type == EV_PROC_START && args[0] == w->p)
		tracked_p__set(w, m, PROC_RUNNING);
	else if (type == EV_PROC_STATUS && args[0] == w->p)
		tracked_p__set(w, m, (enum trace_proc_status)args[1]);
	else if (type == EV_PROC_STEAL && args[0] == w->p)
		tracked_p__set(w, TRACE_NO_M, PROC_IDLE);
	else if (type == EV_PROC_STOP && on_thread)
		tracked_p__set(w, TRACE_NO_M, PROC_IDLE);
	else if (type == EV_GO_SYSCALL_BEGIN && on_thread)
		tracked_p__set(w, m, PROC_SYSCALL);
	else if (type == EV_GO_SYSCALL_END && on_thread)
		tracked_p__set(w, m, PROC_RUNNING);
	else if (type == EV_GO_DESTROY_SYSCALL && on_thread)
		tracked_p__set(w, TRACE_NO_M, PROC_ABANDONED);
}

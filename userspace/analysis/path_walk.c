// SPDX-License-Identifier: GPL-2.0
/*
 * The critical path: follows a history backward, from a wait to what ended it.
 *
 * One position, a goroutine (or a thread without one) and a moment, moves toward the past. What it
 * did just before that moment becomes a segment; a wait that a goroutine or thread ended does not:
 * the position jumps to that one, and comes back at the moment where the wait began. So each moment
 * of the window is in exactly one segment. Waits within waits are kept on a stack, each of which
 * begins later than the one below it: it is never deeper than the history is long. A chain of jumps
 * that comes no nearer to the past, which only a contradictory history has, is ended after
 * HOPS_MAX.
 *
 * Between path_history.c and gotrace/path_print.c. path_causes.c finds the occupants of CPUs and
 * Ps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path_impl.h"
#include "format/event.h"
#include "lib/array.h"

#define HOPS_MAX  100
#define STEP_COST 32 /* of a step of the walk, in looks at one item of a list */

void path__deinit(struct path *p)
{
	free(p->segments);
	*p = (struct path){};
}

static bool same_place(const struct path_segment *a, const struct path_segment *b)
{
	return a->kind == b->kind && a->cause == b->cause && a->notes == b->notes &&
	       a->why == b->why && a->sleep == b->sleep && a->fault == b->fault &&
	       a->got_first == b->got_first && a->depth == b->depth &&
	       a->goroutine == b->goroutine && a->thread == b->thread && a->reason == b->reason &&
	       a->call == b->call && a->by == b->by && a->other == b->other &&
	       a->other_pid == b->other_pid && a->other_name == b->other_name &&
	       !memcmp(a->holders, b->holders, sizeof(a->holders));
}

static bool world_stops(const struct path_history *h, int64_t from, int64_t to)
{
	const struct path_stop *stop = h->stops.at;
	uint32_t n = path_list__before(&h->stops, sizeof(*stop), to);

	return n && (stop[n - 1].stopped || stop[n - 1].time > from);
}

/* What is between `since` and the position becomes a segment, and the position moves there. */
static int emit (struct walk *w, int64_t since, const struct path_segment *what)
{
	struct path_segment seg = *what, *last;
	struct path *p = w->path;

	seg.from = since > w->lo ? since : w->lo;
	seg.to = w->time;
	seg.depth = w->at.depth;
	if (world_stops(w->h, seg.from, seg.to))
		seg.notes |= PATH_NOTE_STOPPED;
	w->time = seg.from;
	w->hops = 0;
	last = p->n ? &p->segments[p->n - 1] : NULL;
	if (last && same_place(last, &seg)) {
		last->from = seg.from;
		return 0;
	}
	if ((p->n + 1) * sizeof(seg) > w->h->limit)
		return -E2BIG;
	if (array__grow(&p->segments, p->n, &p->cap, sizeof(seg)))
		return -ENOMEM;
	p->segments[p->n++] = seg;
	return 0;
}

static struct path_segment segment__of(const struct walk *w, enum path_kind kind)
{
	struct path_segment seg = {
		.kind = (uint8_t)kind,
		.goroutine = w->at.goroutine,
		.thread = PATH_NONE,
		.call = KERNEL_NO_CALL,
		.by = PATH_NONE,
	};

	for (unsigned int i = 0; i < PATH_HOLDERS; i++)
		seg.holders[i] = PATH_NONE;
	return seg;
}

static bool may_jump(const struct walk *w)
{
	return w->hops < HOPS_MAX;
}

/* The wait since then was ended by another one: continues there, until the wait began. */
static int jump(struct walk *w, int64_t since, uint32_t goroutine, uint32_t thread)
{
	uint32_t depth = w->at.depth + 1;

	w->hops++;
	if (since > w->lo) {
		if (array__grow(&w->frames, w->n, &w->cap, sizeof(*w->frames)))
			return -ENOMEM;
		w->frames[w->n++] = (struct frame){ .at = w->at, .lo = w->lo };
		w->lo = since;
	}
	w->at = (struct position){ .goroutine = goroutine, .thread = thread, .depth = depth };
	return 0;
}

/* The thread slept in the n-th of its runs; what it did belongs together from `since` on. */
static int thread_asleep(struct walk *w, uint32_t thread, uint32_t n, int64_t since,
			 struct path_segment *seg)
{
	const struct path_list *runs = &path_thread(w->h, thread)->runs;
	const struct path_run *run = (const struct path_run *)runs->at + n, *end;
	int64_t begin = run->time;
	uint32_t waker, by;

	seg->why = run->why;
	seg->sleep = run->sleep;
	seg->fault = run->fault;
	if (run->call != KERNEL_NO_CALL)
		seg->call = run->call;
	if (!run->over) {
		seg->cause = n + 1 == runs->n ? PATH_CAUSE_PENDING : PATH_CAUSE_NONE;
		return emit (w, begin > since ? begin : since, seg);
	}
	since = path_walk__sleep_begin(w, runs, n, since);
	end = path_walk__sleep_end(w, runs, n);
	waker = path_history__find_thread(w->h, end->other);
	if (end->interrupt) {
		seg->cause = PATH_CAUSE_INTERRUPT;
	} else if (waker == PATH_NONE) {
		seg->cause = PATH_CAUSE_PROCESS;
		path_walk__process(w->h, end->other, end->other_pid, end->name, seg);
	} else if (waker != thread) {
		by = path_walk__waker(w->h, runs, end);
		/* What the scheduler's own threads did before a signal explains nothing; C's do. */
		if (may_jump(w) && (by != PATH_NONE || seg->kind == PATH_SYSCALL_BLOCKED ||
				    seg->goroutine == PATH_NONE))
			return jump(w, since, by, waker);
		seg->cause = by == PATH_NONE ? PATH_CAUSE_THREAD : PATH_CAUSE_GOROUTINE;
		seg->by = by;
		seg->other = end->other;
	}
	return emit (w, since, seg);
}

/* The thread has had the position's goroutine, or none, since then. */
static int thread_step(struct walk *w, uint32_t thread, int64_t since, const struct path_state *st)
{
	bool in_syscall = st && st->state == GO_STATE_SYSCALL;
	struct path_segment seg = segment__of(w, in_syscall ? PATH_SYSCALL : PATH_RUNNING);
	int64_t entered = INT64_MIN;
	const struct path_list *runs;
	const struct path_run *run;
	uint32_t n;

	seg.thread = thread;
	seg.notes = st && st->assist ? PATH_NOTE_ASSIST : 0;
	if (thread == PATH_NONE)
		return emit (w, since, &seg);
	if (in_syscall)
		entered = path_walk__call(w, thread, st->time, &seg.call);
	runs = &path_thread(w->h, thread)->runs;
	n = path_list__before(runs, sizeof(*run), w->time);
	run = n ? (const struct path_run *)runs->at + n - 1 : NULL;
	if (run && path_run__is_asleep(run->run)) {
		seg.kind = in_syscall ? PATH_SYSCALL_BLOCKED : PATH_KERNEL_BLOCKED;
		return thread_asleep(w, thread, n - 1, since, &seg);
	}
	if (entered > since)
		since = entered;
	if (!run)
		return emit (w, since, &seg);
	if (run->time > since)
		since = run->time;
	/* Go has not announced this one; while the thread runs, it may be over. */
	if (!in_syscall && run->run == KERNEL_RUNNABLE)
		seg.call = run->call;
	if (run->run == KERNEL_RUNNING) {
		seg.kind = PATH_ON_CPU;
	} else if (run->run == KERNEL_RUNNABLE) {
		seg.kind = PATH_KERNEL_RUNNABLE;
		since = path_walk__cpu(w, path_thread(w->h, thread), run,
				       n < runs->n ? run + 1 : NULL, since, &seg);
	} else if (run->run == KERNEL_THROTTLED) {
		seg.kind = PATH_THROTTLED;
		seg.cause = PATH_CAUSE_CGROUP;
	}
	return emit (w, since, &seg);
}

/*
 * No goroutine ended the wait: a thread did, for the scheduler. Why that thread was awake explains
 * nothing, unless a process woke it: this one may have sent what came by the network.
 */
static int go_blocked_by_scheduler(struct walk *w, const struct path_state *st, int64_t end,
				   struct path_segment *seg)
{
	const struct path_run *sleep;
	int64_t woken = INT64_MIN;

	seg->thread = st->by_thread;
	seg->cause = path_cause__without_goroutine(intern__text_at(w->h->texts, st->reason));
	sleep = path_walk__last_sleep(w->h, st->by_thread, end, &woken);
	if (sleep && woken > st->time && !sleep->interrupt &&
	    path_history__find_thread(w->h, sleep->other) == PATH_NONE)
		path_walk__process(w->h, sleep->other, sleep->other_pid, sleep->name, seg);
	return emit (w, st->time, seg);
}

static int go_blocked(struct walk *w, const struct path_state *st, int64_t end)
{
	struct path_segment seg = segment__of(w, PATH_GO_BLOCKED);

	seg.reason = st->reason;
	if (!st->over) {
		seg.cause = PATH_CAUSE_PENDING;
	} else if (st->by == PATH_NONE || st->by == w->at.goroutine) {
		return go_blocked_by_scheduler(w, st, end, &seg);
	} else if (may_jump(w)) {
		return jump(w, st->time, st->by, st->by_thread);
	} else {
		seg.cause = PATH_CAUSE_GOROUTINE;
		seg.by = st->by;
	}
	return emit (w, st->time, &seg);
}

/* A wait for a P is a segment per holder of the P. */
static int go_runnable(struct walk *w, const struct path_state *st, const struct path_state *next)
{
	struct path_segment seg = segment__of(w, PATH_GO_RUNNABLE);
	int64_t since = st->time > w->lo ? st->time : w->lo;
	struct runnable *r = &w->runnable;

	if (r->goroutine != w->at.goroutine || r->begin != since || r->left != w->time) {
		r->goroutine = w->at.goroutine;
		r->begin = since;
		path_walk__holders(w);
	}
	memcpy(seg.holders, r->holders, sizeof(seg.holders));
	seg.more_holders = r->more;
	w->taken++;
	r->left = path_walk__proc(w, st, next, since, &seg);
	return emit (w, r->left, &seg);
}

/*
 * Before its first state: what its creator did, if it was created in the trace, or a wait for the
 * timer that created it.
 */
static int before_creation(struct walk *w, const struct path_goroutine *g)
{
	struct path_segment seg = segment__of(w, PATH_UNKNOWN);

	if (g->created_in_trace && g->creator != PATH_NONE && may_jump(w))
		return jump(w, w->lo, g->creator, PATH_NONE);
	if (g->created_in_trace && g->before) {
		seg.kind = PATH_GO_BLOCKED;
		seg.reason = g->before;
		seg.cause = PATH_CAUSE_TIMER;
	}
	return emit (w, w->lo, &seg);
}

static int goroutine_step(struct walk *w)
{
	const struct path_goroutine *g = path_goroutine(w->h, w->at.goroutine);
	uint32_t n = path_list__before(&g->states, sizeof(struct path_state), w->time);
	const struct path_state *st;
	struct path_segment seg;
	int64_t end;

	if (!n)
		return before_creation(w, g);
	st = (const struct path_state *)g->states.at + n - 1;
	end = n < g->states.n ? st[1].time : w->time;
	switch (st->state) {
	case GO_STATE_RUNNING:
	case GO_STATE_SYSCALL:
		return thread_step(w, st->thread, st->time, st);
	case GO_STATE_RUNNABLE:
		return go_runnable(w, st, n < g->states.n ? st + 1 : NULL);
	case GO_STATE_WAITING:
		return go_blocked(w, st, end);
	default: /* it is not there any more */
		seg = segment__of(w, PATH_UNKNOWN);
		return emit (w, st->time, &seg);
	}
}

static int bare_thread_step(struct walk *w)
{
	const struct path_list *list = &path_thread(w->h, w->at.thread)->on;
	uint32_t n = path_list__before(list, sizeof(struct path_on), w->time);
	const struct path_on *on;

	if (!n)
		return thread_step(w, w->at.thread, w->lo, NULL);
	on = (const struct path_on *)list->at + n - 1;
	if (on->goroutine == PATH_NONE)
		return thread_step(w, w->at.thread, on->time, NULL);
	w->at.goroutine = on->goroutine;
	return 0;
}

static void reverse(struct path *p)
{
	struct path_segment swap;

	for (size_t i = 0, j = p->n; i + 1 < j; i++) {
		swap = p->segments[--j];
		p->segments[j] = p->segments[i];
		p->segments[i] = swap;
	}
}

static bool is_exhausted(const struct walk *w, uint64_t budget)
{
	return w->steps + w->taken > budget;
}

int path__walk_next(const struct path_history *h, uint64_t **held, uint32_t goroutine, int64_t from,
		    int64_t to, uint64_t *budget, struct path *ret)
{
	struct path path = { .from = from, .to = to };
	struct walk w = {
		.h = h,
		.path = &path,
		.at = { .goroutine = goroutine, .thread = PATH_NONE },
		.runnable = { .goroutine = PATH_NONE },
		.time = to,
		.lo = from,
	};
	int err;

	if (!*held) {
		*held = calloc(h->goroutines.n, sizeof(**held));
		w.taken = h->goroutines.n / 16;
	}
	w.held = *held;
	err = w.held ? 0 : -ENOMEM;
	for (; !err && w.time > from; w.taken += STEP_COST) {
		if (is_exhausted(&w, *budget)) {
			err = -E2BIG;
		} else if (w.time <= w.lo) {
			w.n--;
			w.at = w.frames[w.n].at;
			w.lo = w.frames[w.n].lo;
		} else if (w.at.goroutine != PATH_NONE) {
			err = goroutine_step(&w);
		} else {
			err = bare_thread_step(&w);
		}
	}
	free(w.frames);
	*budget -= is_exhausted(&w, *budget) ? *budget : w.steps + w.taken;
	if (err) {
		path__deinit(&path);
		return err;
	}
	reverse(&path);
	*ret = path;
	return 0;
}

int path__walk(const struct path_history *h, uint32_t goroutine, int64_t from, int64_t to,
	       struct path *ret)
{
	uint64_t *held = NULL, budget = UINT64_MAX;
	int err = path__walk_next(h, &held, goroutine, from, to, &budget, ret);

	free(held);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Can a v1 trace have happened as it says? What each goroutine and P does, event by event.
 *
 * Third step of v1__open(), between v1_order.c and v1_convert.c: a P runs one goroutine at a time,
 * a goroutine runs before it blocks and blocks before it is unblocked, what ends has begun. The
 * rules of each version are those of Go's readers, down to what they let pass. On the way it finds
 * what v1_convert.c needs to know of later or earlier events: whether a system call blocked, which
 * task an event ends.
 */
#include <stdio.h>

#include "trace/v1_impl.h"

struct verify {
	struct v1 *v;
	struct error *err;
	struct map tasks; /* those open, by id: event + 1 */
	bool gc, stw;	  /* a collection runs; the world is stopped */
	uint32_t at;	  /* the event's number in v1.events */
	struct v1_event *ev;
	struct v1_g *g; /* its goroutine and P */
	struct v1_p *p;
};

__attribute__((format(printf, 2, 3))) static int bad(const struct verify *s, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return v1__broken(s->err, s->ev->offset, s->ev->type, "%s (time %" PRIi64 ")", text,
			  s->ev->time);
}

/* The event is something that a goroutine does while it runs on its P. */
static int need_running(const struct verify *s)
{
	bool g0_may =
		s->ev->type == V1_GO_CREATE || (s->ev->type == V1_GO_SYS_CALL && !s->v->version);

	if (s->g->status != V1_RUNNING)
		return bad(s, "goroutine %" PRIu64 " is not running", s->g->id);
	if (s->p->g != s->ev->g)
		return bad(s, "P %" PRIi32 " runs goroutine %" PRIu64 ", not %" PRIu64, s->p->id,
			   s->v->gs[s->p->g].id, s->g->id);
	if (s->ev->g == V1_G_NONE && !g0_may)
		return bad(s, "goroutine 0 did it");
	return 0;
}

static int proc_starts(struct verify *s)
{
	if (s->p->running)
		return bad(s, "P %" PRIi32 " runs already", s->p->id);
	s->p->running = true;
	return 0;
}

static int proc_stops(struct verify *s)
{
	if (!s->p->running)
		return bad(s, "P %" PRIi32 " does not run", s->p->id);
	if (s->p->g)
		return bad(s, "P %" PRIi32 " still runs goroutine %" PRIu64, s->p->id,
			   s->v->gs[s->p->g].id);
	s->p->running = false;
	return 0;
}

/* Something that cannot happen twice at once begins or ends. */
static int range(struct verify *s, bool *open, bool begins)
{
	if (*open == begins)
		return bad(s, begins ? "the one before it has not ended" : "none has begun");
	*open = begins;
	return 0;
}

/* A P's own matter before 1.10, and collections in the first format. */
static int global_range(struct verify *s)
{
	bool begins = s->ev->type == V1_GC_START || s->ev->type == V1_STW_START;
	int err;

	if (s->ev->type == V1_STW_START || s->ev->type == V1_STW_DONE)
		return range(s, s->v->version < 10 ? &s->p->stw : &s->stw, begins);
	err = range(s, s->v->version ? &s->gc : &s->p->gc, begins);
	if (!err && begins)
		s->ev->p = V1_P_GC;
	return err;
}

static int mark_assists(struct verify *s)
{
	bool begins = s->ev->type == V1_MARK_ASSIST_START;

	if (begins && s->g->assists)
		return bad(s, "goroutine %" PRIu64 " assists already", s->g->id);
	/* One that was under way when the trace began may end. */
	s->g->assists = begins;
	return 0;
}

/* Goroutines that were there when the trace began are created first, and then told of. */
static int go_was_blocked(struct verify *s)
{
	if (s->ev->type == V1_GO_IN_SYSCALL && !s->v->version)
		return 0;
	if (s->g->status != V1_RUNNABLE)
		return bad(s, "goroutine %" PRIu64 " is not runnable", s->g->id);
	s->g->status = V1_WAITING;
	s->g->last = s->ev->type;
	return 0;
}

static int go_is_created(struct verify *s)
{
	struct v1_g *created = &s->v->gs[s->ev->other];
	int err = need_running(s);

	if (err)
		return err;
	if (created->exists)
		return bad(s, "goroutine %" PRIu64 " exists already", created->id);
	created->exists = true;
	created->status = V1_RUNNABLE;
	created->last = V1_GO_CREATE;
	return 0;
}

static int go_starts(struct verify *s)
{
	if (s->g->status != V1_RUNNABLE)
		return bad(s, "goroutine %" PRIu64 " is not runnable", s->g->id);
	if (s->p->g)
		return bad(s, "P %" PRIi32 " still runs goroutine %" PRIu64, s->p->id,
			   s->v->gs[s->p->g].id);
	s->g->status = V1_RUNNING;
	s->g->last = 0;
	s->p->g = s->ev->g;
	return 0;
}

static int go_leaves(struct verify *s, uint8_t status)
{
	int err = need_running(s);

	if (err)
		return err;
	s->g->status = status;
	s->p->g = V1_G_NONE;
	if (status != V1_DEAD && s->ev->type != V1_GO_SYS_BLOCK)
		s->g->last = s->ev->type;
	return 0;
}

/* Timers unblock on no P. */
static int go_is_unblocked(struct verify *s)
{
	struct v1_g *woken = &s->v->gs[s->ev->other];
	bool timer = s->ev->p == V1_P_TIMER;

	if (s->g->status != V1_RUNNING)
		return bad(s, "goroutine %" PRIu64 " is not running", s->g->id);
	if (!timer && s->p->g != s->ev->g)
		return bad(s, "P %" PRIi32 " runs goroutine %" PRIu64 ", not %" PRIu64, s->p->id,
			   s->v->gs[s->p->g].id, s->g->id);
	if (woken->status != V1_WAITING)
		return bad(s, "goroutine %" PRIu64 " is not waiting", woken->id);
	if (woken->last == V1_GO_BLOCK_NET && (!timer || s->v->version >= 11))
		s->ev->p = V1_P_NETPOLL;
	woken->status = V1_RUNNABLE;
	woken->last = s->ev->type;
	return 0;
}

static int go_calls(struct verify *s)
{
	int err = need_running(s);

	if (err)
		return err;
	s->g->last = s->ev->type;
	s->g->syscall = s->at + 1;
	return 0;
}

/* In the first format a goroutine in a system call counted as runnable. */
static uint8_t in_syscall(const struct v1 *v)
{
	return v->version ? V1_WAITING : V1_RUNNABLE;
}

static int go_exits_syscall(struct verify *s)
{
	if (s->g->status != in_syscall(s->v))
		return bad(s, "goroutine %" PRIu64 " is in no system call", s->g->id);
	s->g->status = V1_RUNNABLE;
	s->g->last = s->ev->type;
	return 0;
}

static int task_is_created(struct verify *s)
{
	if (map__get(&s->tasks, s->ev->arg))
		return bad(s, "task %" PRIu64 " exists already", s->ev->arg);
	return map__put(&s->tasks, s->ev->arg, (void *)((uintptr_t)s->at + 1));
}

/* A region's outer one takes the place of its mode: s->g->region begins a list. */
static int region_changes(struct verify *s)
{
	uint64_t *more = &s->v->more[s->ev->other], *inner_more;
	struct v1_event *inner;

	if (!s->ev->ended) {
		more[0] = s->g->region;
		s->g->region = s->at + 1;
		return 0;
	}
	if (!s->g->region)
		return 0;
	inner = &s->v->events[s->g->region - 1];
	inner_more = &s->v->more[inner->other];
	if (inner->arg != s->ev->arg || inner_more[1] != more[1])
		return bad(s,
			   "goroutine %" PRIu64 " ends a region of task %" PRIu64
			   ", but is in another one of task %" PRIu64,
			   s->g->id, s->ev->arg, inner->arg);
	s->g->region = (uint32_t)inner_more[0];
	return 0;
}

static int check(struct verify *s)
{
	switch (s->ev->type) {
	case V1_PROC_START:
		return proc_starts(s);
	case V1_PROC_STOP:
		return proc_stops(s);
	case V1_GC_START:
	case V1_GC_DONE:
	case V1_STW_START:
	case V1_STW_DONE:
		return global_range(s);
	case V1_SWEEP_START:
	case V1_SWEEP_DONE:
		return range(s, &s->p->sweeping, s->ev->type == V1_SWEEP_START);
	case V1_MARK_ASSIST_START:
	case V1_MARK_ASSIST_DONE:
		return mark_assists(s);
	case V1_GO_WAITING:
	case V1_GO_IN_SYSCALL:
		return go_was_blocked(s);
	case V1_GO_CREATE:
		return go_is_created(s);
	case V1_GO_START:
	case V1_GO_START_LABEL:
		return go_starts(s);
	case V1_GO_END:
	case V1_GO_STOP:
		return go_leaves(s, V1_DEAD);
	case V1_GO_SCHED:
	case V1_GO_PREEMPT:
		return go_leaves(s, V1_RUNNABLE);
	case V1_GO_SYS_BLOCK:
		return go_leaves(s, in_syscall(s->v));
	case V1_GO_SLEEP:
	case V1_GO_BLOCK:
	case V1_GO_BLOCK_SEND:
	case V1_GO_BLOCK_RECV:
	case V1_GO_BLOCK_SELECT:
	case V1_GO_BLOCK_SYNC:
	case V1_GO_BLOCK_COND:
	case V1_GO_BLOCK_NET:
	case V1_GO_BLOCK_GC:
		return go_leaves(s, V1_WAITING);
	case V1_GO_UNBLOCK:
		return go_is_unblocked(s);
	case V1_GO_SYS_CALL:
		return go_calls(s);
	case V1_GO_SYS_EXIT:
		return go_exits_syscall(s);
	case V1_TASK_CREATE:
		return task_is_created(s);
	case V1_TASK_END:
		s->ev->other = (uint32_t)(uintptr_t)map__remove(&s->tasks, s->ev->arg);
		return 0;
	case V1_REGION:
		return region_changes(s);
	}
	return 0;
}

/* A system call blocked if the goroutine's next event, whatever it is, says so. */
static void look_back(struct verify *s)
{
	if (s->g->syscall && s->ev->type == V1_GO_SYS_BLOCK)
		s->v->events[s->g->syscall - 1].blocked = true;
	s->g->syscall = 0;
}

struct wakeup {	       /* what a goroutine did since it was unblocked */
	uint32_t last; /* position in v1.order + 1 */
	bool futile;
};

/*
 * Versions 5 to 10: a goroutine that was unblocked, found that another one had been faster, and
 * blocked again. All of that is marked. `of`: by goroutine; `link`: by position, the one before in
 * its goroutine's wake-up, + 1.
 */
static void mark_futile(struct v1 *v, struct wakeup *of, uint32_t *link)
{
	struct v1_event *ev;
	struct wakeup *w;

	for (uint32_t i = 0; i < v->norder; i++) {
		ev = &v->events[v->order[i]];
		w = &of[ev->type == V1_GO_UNBLOCK ? ev->other : ev->g];
		switch (ev->type) {
		case V1_GO_UNBLOCK:
			w->last = 0;
			/* fallthrough */
		case V1_GO_START:
		case V1_GO_PREEMPT:
		case V1_FUTILE_WAKEUP:
			link[i] = w->last;
			w->last = i + 1;
			w->futile |= ev->type == V1_FUTILE_WAKEUP;
			break;
		case V1_GO_BLOCK:
		case V1_GO_BLOCK_SEND:
		case V1_GO_BLOCK_RECV:
		case V1_GO_BLOCK_SELECT:
		case V1_GO_BLOCK_SYNC:
		case V1_GO_BLOCK_COND:
			ev->futile = w->futile;
			for (uint32_t at = w->futile ? w->last : 0; at; at = link[at - 1])
				v->events[v->order[at - 1]].futile = true;
			*w = (struct wakeup){};
		}
	}
}

static int remove_futile(struct v1 *v)
{
	struct wakeup *of = calloc(v->ngs, sizeof(*of));
	uint32_t *link = calloc(v->norder, sizeof(*link));
	bool memory = of && link;
	size_t n = 0;

	if (memory)
		mark_futile(v, of, link);
	for (size_t i = 0; i < v->norder; i++)
		if (!v->events[v->order[i]].futile)
			v->order[n++] = v->order[i];
	v->norder = n;
	free(of);
	free(link);
	return memory ? 0 : -ENOMEM;
}

int v1__verify(struct v1 *v, struct error *err)
{
	struct verify s = { .v = v, .err = err };
	int e = v->version && v->version < 11 ? remove_futile(v) : 0;

	v->gs[V1_G_NONE].exists = true;
	v->gs[V1_G_NONE].status = V1_RUNNING;
	for (size_t i = 0; i < v->norder && !e; i++) {
		s.at = v->order[i];
		s.ev = &v->events[s.at];
		s.g = &v->gs[s.ev->g];
		s.p = &v->ps[s.ev->p];
		look_back(&s);
		e = check(&s);
	}
	map__deinit(&s.tasks);
	return e;
}

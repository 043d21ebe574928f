// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the events of a v1 trace against the state of each goroutine and P.
 *
 * Third step of v1__open(). Upstream: v1_order.c. Downstream: v1_convert.c. A P runs one goroutine
 * at a time; a goroutine runs before it blocks, and blocks before it is unblocked; what ends must
 * have begun. The rules of each version are exactly those of Go's readers, including what those do
 * not check. This step also collects data about other events for v1_convert.c: whether a system
 * call blocked, and which task an event ends.
 */
#include <stdio.h>

#include "v1/v1_impl.h"

struct verify {
	struct v1 *v;
	struct error *err;
	struct map tasks; /* open tasks by id: event + 1 */
	bool gc, stw;	  /* a GC cycle is in progress; the world is stopped */
	uint32_t at;	  /* index of the event in v1.events */
	struct v1_event *ev;
	struct v1_g *g; /* its goroutine and P */
	struct v1_p *p;
};

__attribute__((format(printf, 2, 3))) static int broken(const struct verify *s, const char *fmt,
							...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return v1__broken(s->err, s->ev->offset, s->ev->type, "%s (time %" PRIi64 ")", text,
			  s->ev->time);
}

/* Checks that the goroutine runs on the P of the event. A timer unblocks others without a P. */
static int need_running(const struct verify *s)
{
	bool unblocks = s->ev->type == V1_GO_UNBLOCK;
	bool g0_may = unblocks || s->ev->type == V1_GO_CREATE ||
		      (s->ev->type == V1_GO_SYS_CALL && !s->v->version);

	if (s->g->status != V1_RUNNING)
		return broken(s, "goroutine %" PRIu64 " is not running", s->g->id);
	if (s->p->g != s->ev->g && !(unblocks && s->ev->p == V1_P_TIMER))
		return broken(s, "P %" PRIi32 " runs goroutine %" PRIu64 ", not %" PRIu64, s->p->id,
			      s->v->gs[s->p->g].id, s->g->id);
	if (s->ev->g == V1_G_NONE && !g0_may)
		return broken(s, "goroutine 0 cannot have an event of this type");
	return 0;
}

static int proc_starts(struct verify *s)
{
	if (s->p->running)
		return broken(s, "P %" PRIi32 " is already running", s->p->id);
	s->p->running = true;
	return 0;
}

static int proc_stops(struct verify *s)
{
	if (!s->p->running)
		return broken(s, "P %" PRIi32 " is not running", s->p->id);
	if (s->p->g)
		return broken(s, "P %" PRIi32 " still runs goroutine %" PRIu64, s->p->id,
			      s->v->gs[s->p->g].id);
	s->p->running = false;
	return 0;
}

/* Begins or ends something that can be open only once. */
static int check_range(struct verify *s, bool *open, bool begins)
{
	if (*open == begins)
		return broken(s, begins ? "the range is already open" : "no such range is open");
	*open = begins;
	return 0;
}

/* Pauses belong to a P before 1.10, and GC cycles in version 0. */
static int global_range(struct verify *s)
{
	bool begins = s->ev->type == V1_GC_START || s->ev->type == V1_STW_START;
	int err;

	if (s->ev->type == V1_STW_START || s->ev->type == V1_STW_DONE)
		return check_range(s, s->v->version < 10 ? &s->p->stw : &s->stw, begins);
	err = check_range(s, s->v->version ? &s->gc : &s->p->gc, begins);
	if (!err && begins)
		s->ev->p = V1_P_GC;
	return err;
}

static int mark_assists(struct verify *s)
{
	bool begins = s->ev->type == V1_MARK_ASSIST_START;

	if (begins && s->g->assists)
		return broken(s, "goroutine %" PRIu64 " is already in a mark assist", s->g->id);
	/* A mark assist that was open when the trace began may end. */
	s->g->assists = begins;
	return 0;
}

/* A goroutine that existed before the trace is created first; this event then reports its state. */
static int go_initial_state(struct verify *s)
{
	if (s->ev->type == V1_GO_IN_SYSCALL && !s->v->version)
		return 0;
	if (s->g->status != V1_RUNNABLE)
		return broken(s, "goroutine %" PRIu64 " is not runnable", s->g->id);
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
		return broken(s, "goroutine %" PRIu64 " already exists", created->id);
	created->exists = true;
	created->status = V1_RUNNABLE;
	created->last = V1_GO_CREATE;
	return 0;
}

static int go_starts(struct verify *s)
{
	if (s->g->status != V1_RUNNABLE)
		return broken(s, "goroutine %" PRIu64 " is not runnable", s->g->id);
	if (s->p->g)
		return broken(s, "P %" PRIi32 " still runs goroutine %" PRIu64, s->p->id,
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

static int go_is_unblocked(struct verify *s)
{
	struct v1_g *woken = &s->v->gs[s->ev->other];
	bool timer = s->ev->p == V1_P_TIMER;
	int err = need_running(s);

	if (err)
		return err;
	if (woken->status != V1_WAITING)
		return broken(s, "goroutine %" PRIu64 " is not waiting", woken->id);
	if (woken->last == V1_GO_BLOCK_NET && (!timer || s->v->version >= 11))
		s->ev->p = V1_P_NETPOLL;
	woken->status = V1_RUNNABLE;
	woken->last = s->ev->type;
	return 0;
}

static int go_enters_syscall(struct verify *s)
{
	int err = need_running(s);

	if (err)
		return err;
	s->g->last = s->ev->type;
	s->g->syscall = s->at + 1;
	return 0;
}

/* In version 0 a goroutine in a system call counts as runnable. */
static uint8_t in_syscall(const struct v1 *v)
{
	return v->version ? V1_WAITING : V1_RUNNABLE;
}

static int go_exits_syscall(struct verify *s)
{
	if (s->g->status != in_syscall(s->v))
		return broken(s, "goroutine %" PRIu64 " is not in a system call", s->g->id);
	s->g->status = V1_RUNNABLE;
	s->g->last = s->ev->type;
	return 0;
}

static int task_is_created(struct verify *s)
{
	if (map__get(&s->tasks, s->ev->arg))
		return broken(s, "task %" PRIu64 " already exists", s->ev->arg);
	return map__put(&s->tasks, s->ev->arg, (void *)((uintptr_t)s->at + 1));
}

/* The mode of an open region is replaced by the outer region: s->g->region is a linked list. */
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
		return broken(s,
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
		return check_range(s, &s->p->sweeping, s->ev->type == V1_SWEEP_START);
	case V1_MARK_ASSIST_START:
	case V1_MARK_ASSIST_DONE:
		return mark_assists(s);
	case V1_GO_WAITING:
	case V1_GO_IN_SYSCALL:
		return go_initial_state(s);
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
	case V1_GO_BLOCK_SEND ... V1_GO_BLOCK_NET:
	case V1_GO_BLOCK_GC:
		return go_leaves(s, V1_WAITING);
	case V1_GO_UNBLOCK:
		return go_is_unblocked(s);
	case V1_GO_SYS_CALL:
		return go_enters_syscall(s);
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

/* Marks the last system call as blocked if the goroutine's next event is GoSysBlock. */
static void mark_blocked_syscall(struct verify *s)
{
	if (s->g->syscall && s->ev->type == V1_GO_SYS_BLOCK)
		s->v->events[s->g->syscall - 1].blocked = true;
	s->g->syscall = 0;
}

/* What a goroutine did since it was unblocked. */
struct wakeup {
	uint32_t last; /* position in v1.order + 1 */
	bool futile;
};

/*
 * Versions 5 to 10: marks futile wake-ups. A goroutine was unblocked, found that another one had
 * been faster, and blocked again. `of`: by goroutine; `link`: by position, the previous event of
 * the goroutine's wake-up + 1.
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
		case V1_GO_BLOCK_SEND ... V1_GO_BLOCK_COND:
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

int v1__verify(struct v1 *v, struct error *error)
{
	struct verify s = { .v = v, .err = error };
	int err = v->version && v->version < 11 ? remove_futile(v) : 0;

	v->gs[V1_G_NONE].exists = true;
	v->gs[V1_G_NONE].status = V1_RUNNING;
	for (size_t i = 0; i < v->norder && !err; i++) {
		s.at = v->order[i];
		s.ev = &v->events[s.at];
		s.g = &v->gs[s.ev->g];
		s.p = &v->ps[s.ev->p];
		mark_blocked_syscall(&s);
		err = check(&s);
	}
	map__deinit(&s.tasks);
	return err;
}

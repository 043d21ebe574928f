// SPDX-License-Identifier: GPL-2.0
/*
 * Converts the events of a v1 trace to v2 events, one by one.
 *
 * Last step for a v1 trace. Upstream: v1_state.c. Downstream: reader/reader.c, which returns the
 * events. The conversion is exactly that of golang.org/x/exp/trace: goroutines that existed before
 * the trace have a status instead of a creation; a system call that did not block takes 1 ns; GC
 * and timers are on Ps with ids from 1000001; times are made strictly increasing.
 */
#include <string.h>

#include "v1/v1_impl.h"

/* Strings that v2 events need and v1 traces lack. */
enum reason {
	REASON_FOREVER,
	REASON_PREEMPTED,
	REASON_GOSCHED,
	REASON_SLEEP,
	REASON_SEND,
	REASON_RECEIVE,
	REASON_NETWORK,
	REASON_SYNC,
	REASON_COND,
	REASON_SELECT,
	REASON_NONE,
	REASON_ASSIST,
	REASON_STW, /* the kinds of 1.21 begin here; the first is "unknown" */
	REASONS_STW = 17,
	REASONS = REASON_STW + REASONS_STW,
};

static const char *const reason_text[REASONS] = {
	[REASON_FOREVER] = "forever",
	[REASON_PREEMPTED] = "preempted",
	[REASON_GOSCHED] = "runtime.Gosched",
	[REASON_SLEEP] = "sleep",
	[REASON_SEND] = "chan send",
	[REASON_RECEIVE] = "chan receive",
	[REASON_NETWORK] = "network",
	[REASON_SYNC] = "sync",
	[REASON_COND] = "sync.(*Cond).Wait",
	[REASON_SELECT] = "select",
	[REASON_NONE] = "",
	[REASON_ASSIST] = "GC mark assist wait for work",
	[REASON_STW] = "",
	"GC mark termination",
	"GC sweep termination",
	"write heap dump",
	"goroutine profile",
	"goroutine profile cleanup",
	"all goroutine stack trace",
	"read mem stats",
	"AllThreadsSyscall",
	"GOMAXPROCS",
	"start trace",
	"stop trace",
	"CountPagesInUse (test)",
	"ReadMetricsSlow (test)",
	"ReadMemStatsSlow (test)",
	"PageCachePagesLeaked (test)",
	"ResetDebugLog (test)",
};

/* Event and reason for a goroutine that stops running. */
static const struct {
	uint8_t type, reason;
} stops[V1_COUNT] = {
	[V1_GO_STOP] = { EV_GO_BLOCK, REASON_FOREVER },
	[V1_GO_SCHED] = { EV_GO_STOP, REASON_GOSCHED },
	[V1_GO_PREEMPT] = { EV_GO_STOP, REASON_PREEMPTED },
	[V1_GO_SLEEP] = { EV_GO_BLOCK, REASON_SLEEP },
	[V1_GO_BLOCK] = { EV_GO_BLOCK, REASON_NONE },
	[V1_GO_BLOCK_SEND] = { EV_GO_BLOCK, REASON_SEND },
	[V1_GO_BLOCK_RECV] = { EV_GO_BLOCK, REASON_RECEIVE },
	[V1_GO_BLOCK_SELECT] = { EV_GO_BLOCK, REASON_SELECT },
	[V1_GO_BLOCK_SYNC] = { EV_GO_BLOCK, REASON_SYNC },
	[V1_GO_BLOCK_COND] = { EV_GO_BLOCK, REASON_COND },
	[V1_GO_BLOCK_NET] = { EV_GO_BLOCK, REASON_NETWORK },
	[V1_GO_BLOCK_GC] = { EV_GO_BLOCK, REASON_ASSIST },
};

/* A string id that the file does not use. */
static uint64_t free_string(struct v1 *v)
{
	do {
		v->max_string++;
	} while (dictionary__has_string(&v->dictionary,
					v->max_string)); /* the id may have wrapped around */
	return v->max_string;
}

static int add_string(struct v1 *v, const void *data, size_t len, uint64_t *ret)
{
	*ret = free_string(v);
	return dictionary__add_string(&v->dictionary, *ret, data, len);
}

/* Adds the reasons, and the messages that UserLog events contain in the file. */
int v1__add_strings(struct v1 *v)
{
	struct trace_string message;
	struct v1_event *ev;
	uint64_t n = 0;
	int err = 0;

	v->reasons = malloc(REASONS * sizeof(*v->reasons));
	if (!v->reasons)
		return -ENOMEM;
	for (int i = 0; i < REASONS && !err; i++)
		err = add_string(v, reason_text[i], strlen(reason_text[i]), &v->reasons[i]);
	for (size_t i = 0; n < dictionary__nstrings(&v->messages) && !err; i++) {
		ev = &v->events[i];
		if (ev->type != V1_LOG)
			continue;
		dictionary__string(&v->messages, ++n, &message);
		err = add_string(v, message.data, message.len, &v->more[ev->other + 1]);
	}
	dictionary__deinit(&v->messages);
	return err;
}

/* Adds with wrap-around, as Go does for crafted traces. */
static int64_t add_ns(int64_t time, int64_t ns)
{
	return (int64_t)((uint64_t)time + (uint64_t)ns);
}

static uint64_t p_id(const struct v1 *v, uint32_t p)
{
	return (uint64_t)(int64_t)v->ps[p].id; /* -1 is "none" in both formats */
}

/* The stack id if it is defined, else 0. */
static uint64_t stack_of(const struct v1 *v, const struct v1_event *ev)
{
	return dictionary__has_stack(&v->dictionary, ev->stack) ? ev->stack : 0;
}

/* Makes an event in the context of `ev`. */
static struct trace_event make_event(const struct v1 *v, const struct v1_event *ev,
				     unsigned int type)
{
	const struct v1_p *p = &v->ps[ev->p];

	return (struct trace_event){
		.raw = ev->time,
		.type = (uint8_t)type,
		.m = p->has_m && p->id != -1 ? p->m : TRACE_NO_M,
		.p = p_id(v, ev->p),
		.g = ev->g == V1_G_NONE ? TRACE_NO_G : v->gs[ev->g].id,
		.dictionary = &v->dictionary,
		.offset = ev->offset,
	};
}

static struct trace_event make_status(const struct v1 *v, const struct v1_event *ev, uint64_t id,
				      enum trace_go_status status)
{
	struct trace_event out = make_event(v, ev, EV_GO_STATUS);

	out.arg[0] = id;
	out.arg[1] = TRACE_NO_M;
	out.arg[2] = status;
	return out;
}

static int compare_g(const void *a, const void *b, void *ctx)
{
	const struct v1_g *g = ctx;
	uint64_t x = g[*(const uint32_t *)a].id, y = g[*(const uint32_t *)b].id;

	return (x > y) - (x < y);
}

/*
 * The first Gomaxprocs ends the initial statuses of goroutines. Those without a status are
 * runnable.
 */
static int end_initialization(struct v1 *v)
{
	size_t n = 0;

	v->initialized = true;
	for (size_t g = 0; g < v->ngs; g++)
		n += v->gs[g].unknown;
	v->unknown = malloc((n + 1) * sizeof(*v->unknown));
	if (!v->unknown)
		return -ENOMEM;
	for (uint32_t g = 0; g < v->ngs; g++)
		if (v->gs[g].unknown)
			v->unknown[v->nunknown++] = g;
	qsort_r(v->unknown, n, sizeof(*v->unknown), compare_g, v->gs);
	return 0;
}

static struct trace_event next_unknown(struct v1 *v)
{
	const struct v1_event *ev = &v->events[v->order[v->at - 1]]; /* the Gomaxprocs */
	const struct v1_g *g = &v->gs[v->unknown[v->unknown_at++]];
	struct trace_event out = make_status(v, ev, g->id, GO_RUNNABLE);

	out.m = TRACE_NO_M;
	out.p = TRACE_NO_P;
	out.g = TRACE_NO_G;
	return out;
}

/* The first event of a P becomes a status, since its state before is unknown. */
static void convert_proc(struct v1 *v, const struct v1_event *ev, struct trace_event *ret)
{
	struct v1_p *p = &v->ps[ev->p];
	bool starts = ev->type == V1_PROC_START;

	if (starts && v->version) {
		p->m = ev->arg;
		p->has_m = true;
	}
	*ret = make_event(v, ev, starts ? EV_PROC_START : EV_PROC_STOP);
	if (!starts)
		p->has_m = false;
	if (starts || !p->seen)
		ret->arg[0] = p_id(v, ev->p);
	if (!p->seen) {
		ret->type = EV_PROC_STATUS;
		ret->arg[1] = starts ? PROC_RUNNING : PROC_IDLE;
	}
	p->seen = true;
}

static uint64_t stw_kind(const struct v1 *v, uint64_t kind)
{
	if (v->version < 21) /* only the two pauses of a GC cycle have a kind */
		kind = kind < 2 ? kind + 1 : 0;
	else if (kind >= REASONS_STW)
		kind = 0;
	return v->reasons[REASON_STW + kind];
}

/* Prepares an event to be delivered after *first, in the same context. */
static struct trace_event *add_following(struct v1 *v, struct trace_event *first, unsigned int type)
{
	if (first->m == TRACE_NO_M && v->version)
		first->m = 0; /* here Go's reader does not distinguish "none" from thread 0 */
	v->has_next = true;
	v->next = *first;
	v->next.type = (uint8_t)type;
	memset(v->next.arg, 0, sizeof(v->next.arg));
	return &v->next;
}

static void convert_syscall(struct v1 *v, const struct v1_event *ev, struct trace_event *ret)
{
	*ret = make_event(v, ev, EV_GO_SYSCALL_BEGIN);
	ret->arg[1] = stack_of(v, ev);
	if (!ev->blocked)
		add_following(v, ret, EV_GO_SYSCALL_END)->raw = add_ns(ev->time, 1);
}

/* Returns whether there is an event to deliver. */
static bool convert_start(struct v1 *v, const struct v1_event *ev, struct trace_event *ret)
{
	struct v1_g *g = &v->gs[ev->type == V1_GO_CREATE ? ev->other : ev->g];

	if (ev->type == V1_GO_CREATE && !v->initialized) {
		g->unknown = true;
		return false;
	}
	if (ev->type == V1_GO_START && !v->initialized) {
		g->unknown = false;
		*ret = make_status(v, ev, g->id, GO_RUNNING);
		return true;
	}
	*ret = make_event(v, ev, ev->type == V1_GO_CREATE ? EV_GO_CREATE : EV_GO_START);
	ret->arg[0] = g->id;
	ret->arg[1] = ev->arg;
	if (ev->type == V1_GO_CREATE)
		ret->arg[2] = stack_of(v, ev);
	if (ev->type == V1_GO_START_LABEL)
		add_following(v, ret, EV_GO_LABEL)->arg[0] = v->more[ev->other];
	return true;
}

static void convert_task(struct v1 *v, const struct v1_event *ev, struct trace_event *ret)
{
	const uint64_t *more;

	*ret = make_event(v, ev,
			  ev->type == V1_TASK_CREATE ? EV_USER_TASK_BEGIN : EV_USER_TASK_END);
	ret->arg[0] = ev->arg;
	if (ev->type == V1_TASK_CREATE) {
		more = &v->more[ev->other];
		ret->arg[1] = more[0] ? more[0] : TRACE_NO_TASK;
		ret->arg[2] = more[1];
		ret->arg[3] = stack_of(v, ev);
		return;
	}
	ret->arg[1] = stack_of(v, ev);
	ret->parent = TRACE_NO_TASK;
	if (ev->other) {
		more = &v->more[v->events[ev->other - 1].other];
		ret->parent = more[0];
		dictionary__string(&v->dictionary, more[1], &ret->name);
	}
}

static void convert_sample(struct v1 *v, const struct v1_event *ev, struct trace_event *ret)
{
	*ret = make_event(v, ev, EV_CPU_SAMPLE);
	ret->m = TRACE_NO_M; /* the sample does not contain it */
	ret->arg[0] = stack_of(v, ev);
	ret->arg[1] = TRACE_NO_M;
	ret->arg[2] = ret->p;
	ret->arg[3] = ret->g;
}

/* Makes an event of the same meaning with other arguments. Returns 1. */
static int make(const struct v1 *v, const struct v1_event *ev, struct trace_event *ret,
		unsigned int type, const uint64_t arg[static EV_ARGS_MAX - 1])
{
	*ret = make_event(v, ev, type);
	memcpy(ret->arg, arg, sizeof(ret->arg));
	return 1;
}

#define ARGS(...) ((const uint64_t[EV_ARGS_MAX - 1]){ __VA_ARGS__ })

static int convert_other(struct v1 *v, const struct v1_event *ev, struct trace_event *ret,
			 struct error *error)
{
	const uint64_t *more = &v->more[ev->other];
	uint64_t stack = stack_of(v, ev);

	switch (ev->type) {
	case V1_GC_START:
		return make(v, ev, ret, EV_GC_BEGIN, ARGS(ev->arg, stack));
	case V1_GC_DONE:
		return make(v, ev, ret, EV_GC_END, ARGS(0));
	case V1_STW_START:
		v->stw = stw_kind(v, ev->arg);
		return make(v, ev, ret, EV_STW_BEGIN, ARGS(v->stw));
	case V1_STW_DONE:
		return make(v, ev, ret, EV_STW_END, ARGS(v->stw));
	case V1_SWEEP_START:
		return make(v, ev, ret, EV_GC_SWEEP_BEGIN, ARGS(stack));
	case V1_SWEEP_DONE:
		return make(v, ev, ret, EV_GC_SWEEP_END, ARGS(ev->arg, more[0]));
	case V1_MARK_ASSIST_START:
		return make(v, ev, ret, EV_GC_MARK_ASSIST_BEGIN, ARGS(stack));
	case V1_MARK_ASSIST_DONE:
		return make(v, ev, ret, EV_GC_MARK_ASSIST_END, ARGS(0));
	case V1_HEAP_ALLOC:
		return make(v, ev, ret, EV_HEAP_ALLOC, ARGS(ev->arg));
	case V1_HEAP_GOAL:
		return make(v, ev, ret, EV_HEAP_GOAL, ARGS(ev->arg));
	case V1_REGION:
		return make(v, ev, ret, ev->ended ? EV_USER_REGION_END : EV_USER_REGION_BEGIN,
			    ARGS(ev->arg, more[1], stack));
	case V1_LOG:
		return make(v, ev, ret, EV_USER_LOG, ARGS(ev->arg, more[0], more[1], stack));
	case V1_FUTILE_WAKEUP:
		if (v->version < 11) /* its wake-up has no end in the trace */
			return 0;
	}
	return v1__broken(error, ev->offset, ev->type,
			  "this trace version has no event of this type");
}

/* Returns 1 with an event in *ret, 0 if there is none, or a negative errno. */
static int convert(struct v1 *v, const struct v1_event *ev, struct trace_event *ret,
		   struct error *error)
{
	if (stops[ev->type].type) {
		return make(v, ev, ret, stops[ev->type].type,
			    ARGS(v->reasons[stops[ev->type].reason], stack_of(v, ev)));
	}
	switch (ev->type) {
	case V1_GOMAXPROCS:
		if (!v->initialized)
			return end_initialization(v);
		return make(v, ev, ret, EV_PROCS_CHANGE, ARGS(ev->arg, stack_of(v, ev)));
	case V1_PROC_START:
	case V1_PROC_STOP:
		convert_proc(v, ev, ret);
		return 1;
	case V1_GO_CREATE:
	case V1_GO_START:
	case V1_GO_START_LABEL:
		return convert_start(v, ev, ret);
	case V1_GO_END:
		return make(v, ev, ret, EV_GO_DESTROY, ARGS(0));
	case V1_GO_UNBLOCK:
		return make(v, ev, ret, EV_GO_UNBLOCK,
			    ARGS(v->gs[ev->other].id, ev->arg, stack_of(v, ev)));
	case V1_GO_SYS_CALL:
		convert_syscall(v, ev, ret);
		return 1;
	case V1_GO_SYS_BLOCK:
		return 0;
	case V1_GO_SYS_EXIT:
		return make(v, ev, ret, EV_GO_SYSCALL_END_BLOCKED, ARGS(0));
	case V1_GO_WAITING:
	case V1_GO_IN_SYSCALL:
		v->gs[ev->g].unknown = false;
		*ret = make_status(v, ev, v->gs[ev->g].id,
				   ev->type == V1_GO_WAITING ? GO_WAITING : GO_SYSCALL);
		return 1;
	case V1_TASK_CREATE:
	case V1_TASK_END:
		convert_task(v, ev, ret);
		return 1;
	case V1_CPU_SAMPLE:
		convert_sample(v, ev, ret);
		return 1;
	}
	return convert_other(v, ev, ret, error);
}

/* Makes times strictly increasing. */
static int deliver(struct v1 *v, struct trace_event *ev)
{
	ev->time = ev->raw > v->last_time ? ev->raw : add_ns(v->last_time, 1);
	v->last_time = ev->time;
	return 1;
}

static int deliver_sync(struct v1 *v, int64_t time, const struct dictionary *dictionary,
			struct trace_event *ret)
{
	v->sync.n++;
	*ret = trace_event__sync(time, &v->sync, dictionary);
	return 1;
}

int v1__next(struct v1 *v, struct trace_event *ret, struct error *error)
{
	struct trace_event ev;
	int err = 0;

	if (!v->at && !v->sync.n && v->norder)
		return deliver_sync(v, add_ns(v->events[v->order[0]].time, -1), &v->dictionary,
				    ret);
	if (v->has_next) {
		v->has_next = false;
		*ret = v->next;
		return deliver(v, ret);
	}
	while (!err && v->unknown_at == v->nunknown && v->at < v->norder)
		err = convert(v, &v->events[v->order[v->at++]], &ev, error);
	if (err < 0)
		return error__set(error, err, "%s", strerror(-err));
	if (!err && v->unknown_at < v->nunknown) {
		ev = next_unknown(v);
		err = 1;
	}
	if (err) {
		*ret = ev;
		return deliver(v, ret);
	}
	if (v->ended)
		return 0;
	v->ended = true;
	return deliver_sync(v, add_ns(v->last_time, 1), NULL, ret);
}

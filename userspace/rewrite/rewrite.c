// SPDX-License-Identifier: GPL-2.0
/*
 * Writes delivered events to a trace file: see rewrite.h.
 *
 * The output keeps the generations of the input, so that its statuses appear where they are needed.
 * All events of the input pass through here. Those before the part to write only update the model.
 */
#include "rewrite/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_impl.h"

#define NS_PER_SEC 1000000000
#define ROOM	   3	      /* ns between the prologue and the first event */
#define V1_SHIFT   2	      /* v1 times begin at 0 with a sync before; those of v2 at 1 */
#define SPARE_M	   (1u << 20) /* exceeds all thread ids of v1 traces */
#define TIME_MAX   (INT64_MAX / 2)

int rewrite__create(struct rewrite **ret, struct trace_file *file, const struct rewrite_opts *opts)
{
	const struct writer_opts writer = { .version = opts->version, .tick_ns = 1 };
	struct rewrite *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->opts = *opts;
	order__init(&r->model);
	rw__begin(r, true);
	r->name = (struct trace_string){ "", 0 };
	r->spare_m = SPARE_M;
	r->shift = opts->repair ? V1_SHIFT : 0;
	r->in = intern__create();
	if (r->in)
		r->writer = writer__create(file, r->in, &writer);
	if (!r->writer || start_functions__init(&r->functions)) {
		rewrite__destroy(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

void rewrite__destroy(struct rewrite *r)
{
	if (!r)
		return;
	order__deinit(&r->model);
	rw_tables__deinit(r);
	rw_private__deinit(r);
	rw_kernel__deinit(r);
	start_functions__deinit(&r->functions);
	writer__destroy(r->writer);
	intern__destroy(r->in);
	free(r);
}

int rewrite__begin_at(struct rewrite *r, const struct order *state,
		      const struct start_functions *functions)
{
	int err = rw__load(r, state);
	uint32_t stack;

	for (size_t i = 0; !err && i < functions->g.cap; i++) {
		if (!functions->g.slot[i].value)
			continue;
		stack = (uint32_t)(uintptr_t)functions->g.slot[i].value;
		stack = start_functions__copy_stack(r->functions.in, functions->in, stack);
		err = stack ? start_functions__set(&r->functions, functions->g.slot[i].key, stack) :
			      -ENOMEM;
	}
	r->any = state->first_gen != 0;
	return err;
}

const struct rewrite_stats *rewrite__stats(const struct rewrite *r)
{
	return &r->stats;
}

/* generations */

/*
 * Writes the clocks of the input, if it has any; a snapshot before `start` is moved to it.
 * Otherwise the trace's time is taken for CLOCK_MONOTONIC, which is correct on Linux since Go 1.22,
 * and the wall clock is set to 1970, which stands for unknown.
 */
static int write_clock(struct rewrite *r, int64_t start)
{
	struct trace_clock c = r->clock;
	uint64_t late, ns;

	if (!c.known || c.time > TIME_MAX)
		return writer__clock(r->writer, (uint64_t)start, (uint64_t)start, 0, 0);
	c.time += r->shift;
	if (c.time < start) {
		late = (uint64_t)start - (uint64_t)c.time;
		ns = c.nsec + late;
		c.time = start;
		c.mono += late;
		c.sec += ns / NS_PER_SEC;
		c.nsec = ns % NS_PER_SEC;
	}
	return writer__clock(r->writer, (uint64_t)c.time, c.mono, c.sec, c.nsec);
}

/* Opens a generation of the output, with its own string and stack tables. */
static int open_generation(struct rewrite *r, int64_t start)
{
	struct intern *in = intern__create();
	int err;

	if (!in)
		return -ENOMEM;
	writer__use(r->writer, in);
	intern__destroy(r->in);
	r->in = in;
	rw_tables__begin(r);
	r->filled = false;
	err = writer__open(r->writer, (uint64_t)start, 0);
	return err ?: write_clock(r, start);
}

/*
 * Opens the first generation of the output. If at_sync, `base` is the time of a sync of the input;
 * otherwise that of the first event to write. Prologue and sync are put so much earlier that no
 * event has to be moved; if times are too small for that, all are shifted.
 */
static int begin_writing(struct rewrite *r, int64_t base, bool at_sync)
{
	uint64_t n = rw__prologue_size(r);
	int64_t room = n || !at_sync ? (int64_t)n + ROOM : 0;
	int err;

	if (base < -1 || base > TIME_MAX)
		return -ERANGE;
	if (base + r->shift <= room)
		r->shift = room + 1 - base;
	rw__begin(r, true);
	r->writing = true;
	r->any = n;
	r->last = base + r->shift - room;
	err = open_generation(r, r->last);
	r->filled = n;
	err = err ?: rw_private__write_kept(r);
	return err ?: rw__prologue(r, r->last);
}

/* ---- where the output may begin ---- */

#define SEARCH_SHARE 16 /* a search of n goroutines and Ps is repeated after n / 16 events */

static bool has_ranges(const struct rewrite *r)
{
	void *value;

	if (r->model.gc == ORDER_GC_ON)
		return true;
	for (size_t i = 0; map__next(&r->model.p, &i, &value);)
		if (((const struct order_p *)value)->ranges.n)
			return true;
	for (size_t i = 0; map__next(&r->model.g, &i, &value);)
		if (((const struct order_g *)value)->ranges.n)
			return true;
	return false;
}

/*
 * Whether an event at `time` may be the first one. If not, the output begins after it at the earliest.
 * A trace with many goroutines must not take quadratic time, so not each event is followed by a search.
 */
static bool may_begin(struct rewrite *r, int64_t time)
{
	if (time < r->opts.from)
		return false;
	if (!r->opts.outside_gc)
		return true;
	if (r->unchecked)
		r->unchecked--;
	else if (!has_ranges(r))
		return true;
	else
		r->unchecked = (r->model.p.n + r->model.g.n) / SEARCH_SHARE;
	r->opts.from = time + 1;
	rw_kernel__move(r);
	return false;
}

static int begin_generation(struct rewrite *r, const struct trace_event *ev)
{
	int err;

	if (!ev->dictionary)
		return 0;
	r->clock = ev->sync->clock;
	r->inside = false;
	err = rw_private__use(r, ev->dictionary);
	err = err ?: rw_kernel__use(r, ev->dictionary, ev->time);
	if (!err && ev->sync->n == 1)
		err = rewrite__keep_private(r, ev->dictionary);
	rw__begin(r, !r->any);
	if (err || (!r->writing && !may_begin(r, ev->time)))
		return err;
	if (!r->writing) {
		err = begin_writing(r, ev->time, true);
		return err ?: rw_private__copy(r, false);
	}
	if (ev->raw < 0 || ev->raw > TIME_MAX)
		return -ERANGE;
	err = writer__close(r->writer);
	/* May be before the last event. Readers take 0 for an unknown time. */
	err = err ?: open_generation(r, ev->raw + r->shift > 0 ? ev->raw + r->shift : 1);
	return err ?: rw_private__copy(r, true);
}

/* events */

/* Passes the pending events to the writer, inserted ones just before the time of the event. */
static int flush(struct rewrite *r, int64_t time)
{
	const struct rw_event *ev;
	unsigned int i, n = r->npending;
	int64_t at;
	int err = 0;

	r->npending = 0;
	r->any |= n;
	if (!r->writing)
		return 0;
	r->filled |= n;
	for (i = 0; !err && i < n; i++) {
		ev = &r->pending[i];
		at = time + r->shift - (n - 1 - i);
		r->last = at > r->last ? at : r->last + 1;
		err = writer__event(r->writer, ev->m, (uint64_t)r->last, ev->type, ev->arg,
				    spec__event(ev->type)->nargs - 1);
	}
	return err;
}

static int write_sample(struct rewrite *r, const struct trace_event *ev)
{
	if (!r->writing)
		return 0;
	r->last = ev->time + r->shift > r->last ? ev->time + r->shift : r->last + 1;
	r->stats.events++;
	r->filled = true;
	return writer__sample(r->writer, (uint64_t)r->last, ev->m, ev->p,
			      ev->g == TRACE_NO_G ? 0 : ev->g, rw_tables__stack(r, ev->arg[0]));
}

/* The stack of a status, in the tables of the input; 0: none. */
static uint64_t start_of(const struct trace_event *ev)
{
	if (ev->type == EV_GO_STATUS)
		return dictionary__start(ev->dictionary, ev->arg[0]);
	return ev->type == EV_GO_STATUS_STACK ? ev->arg[3] : 0;
}

/*
 * The type of the event in the output. Version 1.22 has no switch events; the three events derived
 * from one replace it. In a trace of 1.22 the stacks of statuses are not in the events.
 */
static enum ev type_of(const struct rewrite *r, const struct trace_event *ev)
{
	if (r->opts.version > 22)
		return ev->type == EV_GO_STATUS && start_of(ev) ? EV_GO_STATUS_STACK : ev->type;
	switch (ev->type) {
	case EV_GO_SWITCH:
	case EV_GO_SWITCH_DESTROY:
		return EV_GO_UNBLOCK;
	case EV_GO_CREATE_BLOCKED:
		return EV_GO_CREATE;
	case EV_GO_STATUS_STACK:
		return EV_GO_STATUS;
	default:
		return ev->type;
	}
}

/*
 * Events that the output must not contain: the end of a stop-the-world pause whose begin is
 * missing, what the prologue has reported already, and in 1.22 the unblocking of a goroutine that
 * was created blocked, since 1.22 creates it runnable.
 */
static bool is_redundant(const struct rewrite *r, enum ev type, const struct trace_event *ev)
{
	const struct order_p *p;
	struct order_g *g;

	switch (type) {
	case EV_STW_END:
		g = rw__g(r, ev->g);
		return g && g->lost && g->lost--;
	case EV_GC_ACTIVE:
		return rw__is_first(r) && r->model.gc == ORDER_GC_ON;
	case EV_GC_MARK_ASSIST_ACTIVE:
		g = rw__g(r, ev->arg[0]);
		return rw__is_first(r) && g && g->ranges.other;
	case EV_GC_SWEEP_ACTIVE:
		p = rw__p(r, ev->arg[0]);
		return rw__is_first(r) && p && p->ranges.other;
	case EV_GO_UNBLOCK:
		g = r->opts.version == 22 ? rw__g(r, ev->arg[0]) : NULL;
		return g && g->status == GO_RUNNABLE;
	default:
		return false;
	}
}

/*
 * Converts the arguments to those of the output file: its string and stack ids, and numbers that
 * the reader has changed.
 */
static void convert_args(struct rewrite *r, enum ev type, const struct trace_event *ev,
			 uint64_t *ret)
{
	const struct order_g *g;

	memcpy(ret, ev->arg, sizeof(ev->arg));
	if (type != ev->type && type == EV_GO_UNBLOCK)
		ret[2] = 0; /* a switch has no stack */
	if (type == EV_GO_STATUS_STACK)
		ret[3] = start_of(ev);
	if (r->writing)
		rw_tables__args(r, type, ret);
	if (type == EV_USER_TASK_BEGIN && ret[1] == TRACE_NO_TASK)
		ret[1] = 0;
	if (type == EV_GO_STATUS && r->opts.version == 22) {
		g = rw__g(r, ret[0]); /* created blocked, see is_redundant() */
		if (g && g->status == GO_RUNNABLE && ret[2] == GO_WAITING)
			ret[2] = GO_RUNNABLE;
	}
}

/*
 * A status of a goroutine in a system call is delivered in the context of its thread, even if a
 * batch of another thread contains it. That thread has the P or the goroutine of the context; if
 * none is found, the thread of the context is used.
 */
static bool put_syscall_status(struct rewrite *r, enum ev type, const struct trace_event *ev,
			       const uint64_t *arg)
{
	struct order_m *m = rw_p__m(rw__p(r, ev->p));

	if (!m && ev->p == TRACE_NO_P && ev->g != ev->arg[0])
		m = rw_g__m(rw__g(r, ev->g));
	if (!m && ev->p == TRACE_NO_P && (ev->g == TRACE_NO_G || ev->g == ev->arg[0]) &&
	    rw__put(r, TRACE_NO_M, type, arg))
		return true;
	return (m && rw__put(r, m->id, type, arg)) || rw__put(r, ev->m, type, arg);
}

static bool put_event(struct rewrite *r, enum ev type, const struct trace_event *ev,
		      const uint64_t *arg)
{
	if (r->opts.repair)
		return rw__put_v1(r, ev, arg);
	if ((type == EV_GO_STATUS || type == EV_GO_STATUS_STACK) && arg[2] == GO_SYSCALL)
		return put_syscall_status(r, type, ev, arg);
	return rw__put(r, ev->m, type, arg);
}

static int put_timed(struct rewrite *r, const struct trace_event *ev)
{
	/* Only repairs precede it; otherwise it is converted in its place, without a copy. */
	uint64_t other[EV_ARGS_MAX - 1], *arg = r->opts.repair ? other : r->pending[0].arg;
	enum ev type = type_of(r, ev);
	bool done, early, has_p = ev->p != TRACE_NO_P;
	int err;

	r->stats.experimental += r->writing && spec__event(type)->experiment;
	if (!spec__in_version(spec__event(type), r->opts.version))
		return 0;
	if (is_redundant(r, type, ev))
		return 0;
	convert_args(r, type, ev, arg);
	if (type == EV_USER_REGION_BEGIN || type == EV_USER_REGION_END)
		r->name = rw_tables__string(r, ev->arg[1]);
	else if (type == EV_USER_TASK_BEGIN)
		r->name = rw_tables__string(r, ev->arg[2]);
	done = put_event(r, type, ev, arg);
	if (r->writing) {
		r->stats.events += done && r->npending;
		r->stats.left_out += !done;
		r->stats.inserted += r->npending - (done && r->npending);
	}
	if (done && r->writing && type == EV_GO_STATUS && start_of(ev)) {
		err = writer__start(r->writer, ev->arg[0], rw_tables__stack(r, start_of(ev)));
		if (err)
			return err;
	}
	/* Its P was stolen just before. The reader derives that from this event. */
	early = type == EV_GO_DESTROY_SYSCALL && has_p && r->derived_time >= r->opts.from;
	return r->error ?: flush(r, early ? r->derived_time : ev->time);
}

int rewrite__event(struct rewrite *r, const struct trace_event *ev)
{
	int err = 0;

	if (ev->type == EV_SYNC)
		return begin_generation(r, ev);
	if (ev->time < 0 || ev->time > TIME_MAX)
		return -ERANGE;
	/* The reader of the output derives these events again; 1.22 needs those of a switch. */
	if (ev->extra && (r->opts.version > 22 || ev->type == EV_PROC_STEAL)) {
		r->derived_time = ev->time;
		return start_functions__event(&r->functions, ev);
	}
	if (!r->writing && may_begin(r, ev->time)) {
		err = begin_writing(r, r->opts.from, false);
		r->inside = true;
		err = err ?: rw_private__copy(r, false);
	}
	if (!err)
		err = ev->type == EV_CPU_SAMPLE ? write_sample(r, ev) : put_timed(r, ev);
	return err ?: start_functions__event(&r->functions, ev);
}

int rewrite__end(struct rewrite *r)
{
	int err = 0;

	if (!r->writing && r->opts.from == INT64_MIN)
		return 0; /* the input had no generation */
	if (!r->writing && r->opts.outside_gc && has_ranges(r))
		return -EAGAIN;
	if (!r->writing)
		err = begin_writing(r, r->opts.from, false) ?: rw_kernel__write(r);
	/* The last generation is empty if the part ends where it begins. */
	return err ?: r->filled ? writer__close(r->writer) : 0;
}

int64_t rewrite__from(const struct rewrite *r)
{
	return r->opts.from;
}

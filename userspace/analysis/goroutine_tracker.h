/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows each goroutine of a trace from its creation, or from the first generation that contains
 * it, to its end, and calls a client whenever one changes its state.
 *
 * Upstream: reader/reader.c or reader/timeline.c, whose events it interprets by reader/semantics.h.
 * Downstream: the clients summary.c, latency.c, path_fold.c, intervals.c, profile/profile.c and
 * export/export.c.
 *
 * Memory is proportional to the goroutines that are alive: a goroutine's record is reused after its
 * end.
 */
#ifndef ANALYSIS_GOROUTINE_TRACKER_H
#define ANALYSIS_GOROUTINE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/labels.h"
#include "analysis/naming.h"
#include "lib/arena.h"
#include "lib/map.h"
#include "reader/gaps.h"

/* A client's record of a goroutine begins with this, which the tracker fills. Times in ns. */
struct tracked_goroutine {
	uint64_t id;
	uint64_t pc;	 /* of its start function; 0: no stack was seen */
	int64_t created; /* or when the first generation that contains it began */
	int64_t record;	 /* the last one that shows its state; see reader/gaps.h */
	int64_t since;	 /* when it entered its state; only the client's callbacks use it */
	uint32_t name;	 /* of its start function, in the client's table of names; 0: not known */
	uint8_t state;	 /* enum go_state */
	bool again;	 /* it had a record before, with other labels */
	struct goroutine_labels labels; /* with goroutine_tracker__set_labels() */
};

/*
 * Callbacks get the client's context and record. Each returns 0 or a negative errno, which ends the
 * event. tracker->now is the time of the event.
 */
struct goroutine_client {
	size_t size; /* of a record; a new one is 0 behind its head */
	/*
	 * A change of labels, which happens while the goroutine runs, ends its record; another one
	 * begins as if it was seen for the first time. False: the record gets the new labels.
	 */
	bool splits;
	/*
	 * A goroutine was created (g->state and m->from are GO_STATE_NOT_EXIST), or is seen for the
	 * first time (m->from is GO_STATE_UNDETERMINED): it has been in g->state since g->created.
	 * NULL: nothing to do.
	 */
	int (*appear)(void *context, void *goroutine, const struct trace_event *ev,
		      const struct semantics *m);
	/* It leaves g->state, in which it was from g->since to now, for m->to. */
	int (*leave)(void *context, void *goroutine, const struct trace_event *ev,
		     const struct semantics *m);
	/* It has entered g->state. */
	int (*enter)(void *context, void *goroutine, const struct trace_event *ev,
		     const struct semantics *m);
	/* It has ended (g->state is GO_STATE_NOT_EXIST), or the trace has. NULL: nothing to do. */
	int (*end)(void *context, void *goroutine);
	/* Frees what the record owns. NULL: nothing. */
	void (*deinit)(void *context, void *goroutine);
	/*
	 * The P m->id went idle; a range begins, continues or ends; any other event. NULL: ignored.
	 */
	int (*proc_idle)(void *context, const struct trace_event *ev, const struct semantics *m);
	int (*range)(void *context, const struct trace_event *ev, const struct semantics *m);
	int (*other)(void *context, const struct trace_event *ev, const struct semantics *m);
};

struct goroutine_tracker {
	const struct goroutine_client *client;
	void *context;
	struct intern *names;		/* of start functions, and of groups by label; borrowed */
	const struct selection *select; /* what matters of labels; NULL: nothing */
	bool as_go; /* without what Go's tools do not know: reasons of statuses */
	struct goroutine_labels unlabeled; /* of a goroutine without labels */
	struct map goroutines;		   /* by id, to the client's records */
	struct arena records;		   /* of all of these, and: */
	struct unused_record *unused;
	/*
	 * While records were lost, the states of goroutines are unknown: goroutine_tracker__lost().
	 * Nothing is lost with `ignores_gaps`, as Go's tools do not know of gaps.
	 */
	struct gaps gaps;
	bool ignores_gaps;
	int64_t clipped;      /* by how much the client has made the time of the event later */
	int64_t now;	      /* time of the last event */
	int64_t sync;	      /* when its generation began, or the trace */
	uint32_t generations; /* that have begun */
	bool started;	      /* there was an event */
};

/* Allocates nothing. `client`, `context` and `names` must outlive the tracker. */
void goroutine_tracker__init(struct goroutine_tracker *t, const struct goroutine_client *client,
			     void *context, struct intern *names);
void goroutine_tracker__deinit(struct goroutine_tracker *t);

/*
 * Before the first event: follow labels, as far as `select` asks for them; if it does not, this does
 * nothing. 0 or -ENOMEM.
 */
int goroutine_tracker__set_labels(struct goroutine_tracker *t, const struct selection *select);

/*
 * The trace has ended: client->end() for all goroutines that are alive, by id. Returns its error,
 * or -ENOMEM.
 */
int goroutine_tracker__finish(struct goroutine_tracker *t);

/* Adds a goroutine that another source reports, without a callback. NULL: no memory. */
void *goroutine_tracker__add(struct goroutine_tracker *t, uint64_t id, int64_t created,
			     uint8_t state);

/* The client's record; NULL: no such goroutine is alive. */
void *goroutine_tracker__find(const struct goroutine_tracker *t, uint64_t id);

/* The parts of goroutine_tracker__event() that are not inline: the first and the last event. */
int goroutine_tracker__appear(struct goroutine_tracker *t, const struct trace_event *ev,
			      const struct semantics *m, struct tracked_goroutine **ret);
int goroutine_tracker__end(struct goroutine_tracker *t, struct tracked_goroutine *g);
/* The same for labels: of a goroutine that was created, and of one that sets its own. */
void goroutine_tracker__inherit(struct goroutine_tracker *t, struct tracked_goroutine *g,
				const struct trace_event *ev);
int goroutine_tracker__label(struct goroutine_tracker *t, const struct trace_event *ev,
			     const struct semantics *m);

/* How much of [from, to), in which the goroutine has no record, is lost. */
static inline int64_t goroutine_tracker__lost(const struct goroutine_tracker *t,
					      const struct tracked_goroutine *g, int64_t from,
					      int64_t to)
{
	return t->gaps.n ? gaps__lost(&t->gaps, g->id, g->record, from, to) : 0;
}

/* Whether the trace has gaps, so that times may be lost. */
static inline bool goroutine_tracker__has_gaps(const struct goroutine_tracker *t)
{
	return t->gaps.any;
}

/* The thread on which a state transition puts a goroutine; TRACE_NO_M: none. */
static inline uint64_t transition__thread(const struct trace_event *ev)
{
	return ev->type == EV_GO_STATUS || ev->type == EV_GO_STATUS_STACK ? ev->arg[1] : ev->m;
}

/*
 * After a loss the recorder takes a goroutine from a thread or P that another one has: it does not
 * know what the goroutine does then. These events have no stack and, unless they end a system call,
 * the reason "unspecified".
 */
static inline bool transition__may_be_inserted(const struct trace_event *ev,
					       const struct semantics *m)
{
	if (ev->type == EV_GO_SYSCALL_END_BLOCKED)
		return true;
	return (ev->type == EV_GO_STOP || ev->type == EV_GO_BLOCK) && !m->stack &&
	       m->name.len == strlen("unspecified") &&
	       !memcmp(m->name.data, "unspecified", m->name.len);
}

static inline bool range__is_mark_assist(const struct trace_event *ev)
{
	return ev->type == EV_GC_MARK_ASSIST_BEGIN || ev->type == EV_GC_MARK_ASSIST_ACTIVE ||
	       ev->type == EV_GC_MARK_ASSIST_END;
}

static inline __attribute__((always_inline)) int
goroutine_tracker__transition(struct goroutine_tracker *t, const struct goroutine_client *client,
			      const struct trace_event *ev, const struct semantics *m)
{
	struct tracked_goroutine *g;
	int err;

	if (m->from == GO_STATE_UNDETERMINED || m->from == GO_STATE_NOT_EXIST) {
		err = goroutine_tracker__appear(t, ev, m, &g);
	} else {
		g = map__get(&t->goroutines, m->id);
		if (!g) /* its first state is unknown */
			return 0;
		err = client->leave(t->context, g, ev, m);
	}
	if (!err && !g->name)
		err = naming__start_function(t->names, ev, m->transition_stack, &g->pc, &g->name);
	if (err)
		return err;
	if (t->select && m->from == GO_STATE_NOT_EXIST)
		goroutine_tracker__inherit(t, g, ev);
	if (!t->gaps.n || !transition__may_be_inserted(ev, m))
		g->record = gaps__record(&t->gaps, m->id, ev->time - t->clipped);
	g->state = m->to;
	g->since = t->now;
	err = client->enter(t->context, g, ev, m);
	return err || m->to != GO_STATE_NOT_EXIST ? err : goroutine_tracker__end(t, g);
}

/*
 * Applies the next event, which counts as at `time`: that of the event, or later if the client has
 * seen something later. `client` is that of init. Returns 0, -ENOMEM, or the error of a callback.
 *
 * Inline, so that the callbacks of a constant client are inlined, too: calls through pointers would
 * make `gotrace goroutines` execute 8 % more instructions.
 */
static inline __attribute__((always_inline)) int
goroutine_tracker__event(struct goroutine_tracker *t, const struct goroutine_client *client,
			 const struct trace_event *ev, int64_t time)
{
	struct semantics m;
	int err;

	t->now = time;
	if (!t->started) {
		t->started = true;
		t->sync = time;
	}
	semantics__of(ev, &m);
	if (m.kind == SEMANTICS_STATE_TRANSITION) {
		if (m.from == m.to)
			return 0;
		if (m.resource == RESOURCE_GOROUTINE) {
			if (m.from == GO_STATE_UNDETERMINED && !t->as_go)
				semantics__add_reason(ev, &m);
			return goroutine_tracker__transition(t, client, ev, &m);
		}
		if (m.to != PROC_STATE_IDLE || !client->proc_idle)
			return 0;
		return client->proc_idle(t->context, ev, &m);
	}
	if (m.kind >= SEMANTICS_RANGE_BEGIN && m.kind <= SEMANTICS_RANGE_END)
		return client->range ? client->range(t->context, ev, &m) : 0;
	if (m.kind == SEMANTICS_SYNC) {
		t->sync = time;
		t->generations++;
		err = t->ignores_gaps ? 0 : gaps__begin_generation(&t->gaps, ev);
		if (err)
			return err;
	}
	if (t->select && (m.kind == SEMANTICS_LABEL || m.kind == SEMANTICS_LOG)) {
		err = goroutine_tracker__label(t, ev, &m);
		if (err)
			return err;
	}
	return client->other ? client->other(t->context, ev, &m) : 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's state while a trace is read, and whether an event may come next.
 *
 * Before it in an event's way: trace/reader.c, which picks the thread whose event is tried. After
 * it: the events that the reader delivers. The rules are those of Go's internal/trace/order.go
 * (1.26; shared docs: trace-format section 5): an event goes on, waits for another thread's, or
 * breaks the trace.
 */
#ifndef TRACE_ORDER_H
#define TRACE_ORDER_H

#include "lib/error.h"
#include "lib/map.h"
#include "trace/event.h"

struct order_seq {
	uint64_t gen, n;
};

struct order_range {   /* open on a goroutine or a P: EV_STW_BEGIN, EV_GC_MARK_ASSIST_BEGIN, … */
	uint64_t kind; /* string id, in the generation that opened it */
	uint8_t type;
};

struct order_ranges {
	struct order_range *open;
	uint32_t n, cap;
	uint32_t other;	 /* number, from 1 on, of the one that is no STW range; 0: none */
	struct map *stw; /* the kinds of the STW ranges among them, once there were many; or NULL */
};

struct order_region { /* a user region; the name is owned */
	uint64_t task;
	char *name;
	uint32_t len;
};

struct order_g {
	uint64_t id;
	struct order_seq seq;
	uint8_t status; /* enum trace_go_status */
	bool alive;	/* false: destroyed; the struct waits for another goroutine */
	struct order_ranges ranges;
	struct order_region *region; /* the innermost last */
	uint32_t regions, regions_cap;
};

struct order_p {
	uint64_t id;
	struct order_seq seq;
	uint8_t status;		/* enum trace_proc_status; 0: a hostile trace said so */
	struct order_m *holder; /* the thread that took it last, if that still has it */
	struct order_ranges ranges;
};

struct order_m {
	uint64_t id;
	uint64_t p, g; /* what it holds; TRACE_NO_… */
	/* Their states, remembered: only as good as their ids say (order_m__g()). */
	struct order_p *ps;
	struct order_g *gs;
};

struct order_task {
	uint64_t id, parent;
	char *name; /* owned */
	uint32_t len;
};

enum order_gc { ORDER_GC_UNKNOWN, ORDER_GC_OFF, ORDER_GC_ON };

#define ORDER_EXTRA 2 /* the most events that one of the file becomes, less one */

struct order {
	struct map g, p, m, task; /* by id, to the structs above */
	uint64_t gc_seq, first_gen;
	enum order_gc gc;
	/* What follows the event that order__advance() delivered; the reader delivers these next. */
	struct trace_event extra[ORDER_EXTRA];
	unsigned int extras;
	struct order_g **spare; /* structs of destroyed goroutines, for the next ones */
	size_t spares, spares_cap;
	struct order_task *ended; /* the last one, for the event that tells of it */
	struct blocks *blocks;	  /* all structs of goroutines, Ps and Ms */
};

int order__init(struct order *o); /* 0 or -ENOMEM */
void order__deinit(struct order *o);

/* An event of the file that wants to come next. */
struct order_event {
	int64_t time;	     /* ns */
	const uint64_t *arg; /* EV_ARGS_MAX - 1 of them: those after dt */
	uint8_t type;
};

/* Where it stands: the generation, and thread m (TRACE_NO_M: none). */
struct order_place {
	const struct dictionary *words;
	uint64_t gen, m;
	/* The thread's state: found at the first try, and kept by the caller for its next ones. */
	struct order_m *state;
};

/*
 * Tries `ev`. 1: it goes on, *ret is what to deliver (time, context, arguments and all but words,
 * sync and offset), and o->extra what comes after it. 0: it must wait for another thread. A negative
 * errno: the trace is broken (-EBADMSG, with the reason), or -ENOMEM.
 */
int order__advance(struct order *o, const struct order_event *ev, struct order_place *at,
		   struct trace_event *ret, struct error *err);

/* For those who build a state of their own (trace/order_save.c): new ones, put into the maps. */
struct order_g *order__new_g(struct order *o, uint64_t id);
struct order_p *order__new_p(struct order *o, uint64_t id);
struct order_m *order__new_m(struct order *o, uint64_t id);
/* 0 or -ENOMEM; the name is copied. */
int order__open_range(struct order_ranges *ranges, uint8_t type, uint64_t kind);
int order__open_region(struct order_g *g, uint64_t task, const struct trace_string *name);
int order__open_task(struct order *o, uint64_t id, uint64_t parent,
		     const struct trace_string *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the scheduler while a trace is read or written, and the rules for the event that may
 * come next.
 *
 * Upstream: reader/reader.c, which selects the thread whose event is tried, and rewrite/rewrite.c,
 * whose order is given. Downstream: the events that the reader delivers. The rules are those of Go
 * 1.26, internal/trace/order.go: an event is accepted, must wait for another thread, or makes the
 * trace invalid. A reader verifies sequence numbers, order__advance(); a writer assigns them,
 * order__write().
 */
#ifndef READER_ORDER_H
#define READER_ORDER_H

#include "format/event.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/map.h"

struct order_seq {
	uint64_t gen, n;
};

/* An open range of a goroutine or P: EV_STW_BEGIN, EV_GC_MARK_ASSIST_BEGIN, ... */
struct order_range {
	uint64_t kind; /* string id in the generation that opened it */
	uint8_t type;
};

struct order_ranges {
	struct order_range *open;
	size_t cap;
	uint32_t n;
	uint32_t other;	 /* index + 1 of the only range that is not STW; 0: none */
	struct map *stw; /* kinds of the open STW ranges if there are many; else NULL */
};

/* A user region. Owns the name. */
struct order_region {
	uint64_t task;
	char *name;
	uint32_t len;
};

struct order_g {
	uint64_t id;
	struct order_seq seq;
	uint8_t status;		/* enum trace_go_status */
	bool alive;		/* false: destroyed; the struct will be reused */
	uint32_t lost;		/* open STW ranges whose begin the output of a rewrite lacks */
	struct order_m *holder; /* the thread it was bound to last, if it still is */
	struct order_ranges ranges;
	struct order_region *region; /* the innermost is the last */
	size_t regions, regions_cap;
};

struct order_p {
	uint64_t id;
	struct order_seq seq;
	uint8_t status;		/* enum trace_proc_status; 0 in crafted traces */
	struct order_m *holder; /* the thread that took it last, if it still has it */
	struct order_ranges ranges;
};

struct order_m {
	uint64_t id;
	uint64_t p, g; /* of this thread; TRACE_NO_... */
	/* Cached states; valid only if the ids match, see order_step__g(). */
	struct order_p *ps;
	struct order_g *gs;
	bool took_p; /* by a start or status; for order_guess.c */
};

struct order_task {
	uint64_t id, parent;
	char *name; /* owned */
	uint32_t len;
};

enum order_gc { ORDER_GC_UNKNOWN, ORDER_GC_OFF, ORDER_GC_ON };

#define ORDER_RECENT 128 /* a power of two */

#define ORDER_EXTRA  2 /* events derived from one event of the file, at most */

struct order {
	struct map g, p, m, task; /* by id, of the structs above */
	/* Found last, by the low bits of the id; valid only if alive, see order__find_g(). */
	struct order_g *recent[ORDER_RECENT];
	uint64_t gc_seq, first_gen;
	enum order_gc gc;
	/* Events to deliver after the one that order__advance() has accepted. */
	struct trace_event extra[ORDER_EXTRA];
	unsigned int extras;
	struct order_g **spare; /* structs of destroyed goroutines, for reuse */
	size_t spares, spares_cap;
	struct order_task *ended;  /* the last one, for its end event */
	struct order_guess *guess; /* the state at the start is unknown: order_guess.h; else NULL */
	struct arena arena;	   /* owns the structs of goroutines, Ps and Ms */
};

void order__init(struct order *o);
void order__deinit(struct order *o);

/* An event of the file that is tried. */
struct order_event {
	int64_t time;	     /* ns */
	const uint64_t *arg; /* EV_ARGS_MAX - 1 values: the arguments after dt */
	uint8_t type;
};

/* Origin of the event: generation and thread m (TRACE_NO_M: none). */
struct order_place {
	const struct dictionary *dictionary;
	uint64_t gen, m;
	/* State of the thread, cached by the first call for later ones. */
	struct order_m *state;
	/*
	 * NULL for a reader. For a writer the name of the task or region: the ids of its strings and
	 * stacks are not those of the dictionary, so they are not checked.
	 */
	const struct trace_string *name;
};

/*
 * Tries `ev`. Returns 1 if it is accepted: *ret is the event to deliver, except the members
 * dictionary, sync and offset, and o->extra are those to deliver after it. Returns 0 if it must
 * wait for another thread, or a negative errno: -EBADMSG with a message if the trace is invalid, or
 * -ENOMEM.
 */
int order__advance(struct order *o, const struct order_event *ev, struct order_place *at,
		   struct trace_event *ret, struct error *error);

/*
 * Tries an event that is written next, of generation at->gen on thread at->m; at->name must be set.
 * Stores the sequence number in `arg`, EV_ARGS_MAX - 1 values. Returns 1 if the event is legal, 0 or
 * -EBADMSG if it is not and the state is as before, except that the thread is known, or -ENOMEM.
 * Derived events are not kept.
 */
int order__write(struct order *o, uint8_t type, uint64_t *arg, struct order_place *at);

/*
 * Create a struct and add it to its map; for reader/order_save.c and rewrite/. Return NULL if memory
 * is exhausted.
 */
struct order_g *order__new_g(struct order *o, uint64_t id);
struct order_p *order__new_p(struct order *o, uint64_t id);
struct order_m *order__new_m(struct order *o, uint64_t id);
/* Return 0 or -ENOMEM; names are copied. */
int order__open_range(struct order_ranges *ranges, uint8_t type, uint64_t kind);
int order__open_region(struct order_g *g, uint64_t task, const struct trace_string *name);
int order__open_task(struct order *o, uint64_t id, uint64_t parent,
		     const struct trace_string *name);

/* Remove; for rules and for rewrite/, whose output may begin in the middle. */
void order__forget_g(struct order *o, struct order_g *g);
void order__forget_p(struct order *o, struct order_p *p); /* no thread may refer to it later */
void order__forget_tasks(struct order *o);
void order__close_region(struct order_g *g); /* the innermost one */
/* Closes all STW ranges. Returns their number. */
uint32_t order__close_pauses(struct order_ranges *ranges);

static inline void order_m__unbind_p(struct order_m *m)
{
	m->p = TRACE_NO_P;
	m->ps = NULL;
}

/* The goroutine becomes that of the thread. */
static inline void order_m__bind_g(struct order_m *m, struct order_g *g)
{
	m->g = g->id;
	m->gs = g;
	g->holder = m;
}

static inline void order_m__unbind_g(struct order_m *m)
{
	m->g = TRACE_NO_G;
	m->gs = NULL;
}

/* The number of open STW ranges. */
static inline uint32_t order__pauses(const struct order_ranges *ranges)
{
	return ranges->n - (ranges->other != 0);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order of one generation while the state at the end of the generation before is not known yet.
 *
 * Each generation of a trace reports the state of what its events name: the first events of a thread
 * say which P and goroutine it has, statuses name the others. So a state can be guessed from them.
 * The guess records what was assumed about the state at the start. Once the real state is known, it
 * is compared with that: if all agrees, the rules would have accepted the same events, and the state
 * of the generation is merged into the real one. Otherwise the generation has to be ordered again.
 *
 * Upstream: reader/parallel.c, which orders several generations at once. Used by the rules of
 * reader/order.c, where they look at state that no event of the generation has set.
 */
#ifndef READER_ORDER_GUESS_H
#define READER_ORDER_GUESS_H

#include "reader/order.h"

/* Ranges of a goroutine or P at the start of the generation. */
struct guess_ranges {
	bool used;   /* its ranges were looked at: it must not have had others than: */
	bool active; /* a mark assist or sweep */
};

/* What the generation's events assume about a goroutine at the start. */
struct guess_g {
	struct guess_ranges ranges;
	uint8_t status;
	bool created; /* it did not exist */
	bool renewed; /* it ended, and its id was used again */
	bool unnamed; /* known from the real state: see struct guess_m */
	size_t pops;  /* regions that ended but were not begun in the generation */
};

struct guess_p {
	struct guess_ranges ranges;
	uint8_t status;
	/*
	 * Its first status was "abandoned", and then the P was stolen from `victim`, which had done
	 * nothing that depends on it: the real status may also be "in a system call" of the victim.
	 */
	bool stolen, may_be_victims;
	uint64_t victim;
};

#define GUESS_SOME (UINT64_MAX - 1) /* a P or goroutine of unknown id */

/* A thread with events. The structs of a P and goroutine of unknown id are in no map. */
struct guess_m {
	uint64_t p, g;
	uint8_t p_status, g_status;
	struct order_p *some_p;
	struct order_g *some_g;
};

/* The end of a region that had begun before the generation. The name is one of the dictionary. */
struct guess_pop {
	struct guess_g *g;
	uint64_t id, task;
	struct trace_string name;
};

/* A task that began or ended; `end`: it ended without having begun in the generation. */
struct guess_task {
	uint64_t id;
	bool end;
};

struct order_guess {
	struct map g, p, m; /* by id, of the structs above */
	struct guess_pop *pop;
	size_t pops, pops_cap;
	struct guess_task *task;
	size_t tasks, tasks_cap;
	bool gc_known;	    /* a GC event has come, and assumed: */
	bool gc_may_be_new; /* there may also have been none before */
	enum order_gc gc;
	uint64_t gc_seq;
};

/*
 * Prepares an empty state for the generation `gen`, whose state at the start is unknown. Returns 0 or
 * -ENOMEM. The guess belongs to the state.
 */
int order__guess(struct order *o, uint64_t gen);

/*
 * Assumes that thread m has P `p`, of status `p_status`, and goroutine `g`, of status `g_status`, at
 * the start; TRACE_NO_P and TRACE_NO_G: none; GUESS_SOME: one that no event names. To be called for each thread with events, before its
 * first one. Returns 0; -EBADMSG if that contradicts what was assumed before; or -ENOMEM.
 */
int order__guess_thread(struct order *o, uint64_t m, uint64_t p, uint8_t p_status, uint64_t g,
			uint8_t g_status);

/*
 * Merges `part`, the state after a generation that began with a guess, into `o`, the real state at its
 * start. Returns 1; 0 if a guess was wrong, with `o` unchanged; or -ENOMEM, after which `o` must not
 * be used. The names of regions that ended must still exist: call it before the dictionary of the
 * generation is cleared. The content of `part` is undefined afterwards.
 */
int order__merge(struct order *o, struct order *part);

/*
 * For the rules, if o->guess is set. They return 0, -ENOMEM, or -EBADMSG if ordering this generation
 * with a guess is not possible; the caller sets the message, which is not printed.
 */

/* Status of a goroutine that was not mentioned before; on success *ret is its state. */
int order_guess__status_g(struct order *o, uint64_t id, uint8_t status, struct order_g **ret);
int order_guess__status_p(struct order *o, uint64_t id, uint8_t status);
int order_guess__create_g(struct order *o, uint64_t id);
/* A range of the goroutine or P begins, or is active without having begun in the generation. */
int order_guess__range_g(struct order *o, uint64_t id, bool active);
int order_guess__range_p(struct order *o, uint64_t id, bool active);
/* Thread m lost an abandoned P. */
void order_guess__steal(struct order *o, uint64_t p, uint64_t m);
int order_guess__region_begin(struct order *o, uint64_t g);
int order_guess__region_end(struct order *o, uint64_t g, uint64_t task,
			    const struct trace_string *name);
/* `end`: a task that is not open has ended; else one begins. */
int order_guess__task(struct order *o, uint64_t id, bool end);
void order_guess__gc(struct order *o, uint8_t type, uint64_t seq); /* before any GC event */

/* For order__deinit(). */
void order_guess__destroy(struct order_guess *guess);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of rewrite/rewrite.h: the state of a rewrite, the model of the scheduler as a
 * reader of the output sees it, and the steps that an event takes.
 */
#ifndef REWRITE_IMPL_H
#define REWRITE_IMPL_H

#include "format/kernel.h"
#include "format/private_read.h"
#include "lib/map.h"
#include "rewrite/rewrite.h"
#include "writer/writer.h"

/* Maps ids of the input's generation to those of the output's. */
struct rw_tables {
	const struct dictionary *from; /* borrowed, until the next sync */
	struct map strings, stacks;    /* to id + 1, cast to a pointer */
	struct private_ticks ticks;    /* clocks from private data; tick_ns 0: none */
};

/* Kernel events. */
struct rw_kernel {
	struct kernel_reader *reader; /* of the input's generation; NULL: all read */
	struct kernel_writer *writer; /* of the output's generation; NULL: none so far */
	struct kernel_threads threads;
	/* CLOCK_MONOTONIC: limits of the items to write, start of the output's generation */
	uint64_t from, to, start;
	bool has_threads; /* the writer has the initial state of the threads */
};

#define PENDING_MAX 16 /* events made of one of the input, with repairs */

struct rewrite {
	struct rewrite_opts opts;
	struct rewrite_stats stats;
	struct writer *writer;
	struct intern *in; /* of the open generation */

	struct order model; /* goroutines, Ps, threads as a reader of the output sees them */
	uint64_t gen;	    /* number of the present generation, for sequence numbers */

	bool any;     /* a state is known */
	bool writing; /* `from` has passed, a generation is open */
	bool inside;  /* it began within one of the input: goroutines may wait for other reasons */
	uint64_t unchecked;	  /* events until the next search for open ranges */
	bool filled;		  /* the generation has an event or status */
	int64_t shift;		  /* added to times to make room for the prologue */
	int64_t last;		  /* time of the last event written */
	int64_t derived_time;	  /* time of the last derived event of the input */
	struct trace_clock clock; /* of the input's generation */

	struct rw_tables tables;
	struct rw_kernel kernel;
	struct start_functions functions;
	struct trace_string *kept; /* private strings about the whole file; bytes owned */
	size_t nkept, kept_cap;
	struct trace_experiment units; /* of experiment AllocFree; owned. data NULL: none */
	bool described; /* the event table has been written; set if names are replaced */

	struct rw_event {
		uint64_t m;
		uint64_t arg[EV_ARGS_MAX - 1];
		enum ev type;
	} pending[PENDING_MAX];
	unsigned int npending;
	struct trace_string name; /* of the region or task of the present event; borrowed */
	uint64_t spare_m;	  /* next thread id for v1 events without a thread */
	int error;		  /* the first error: -ENOMEM */
};

/* rewrite_model.c */

/* NULL: unknown */
static inline struct order_g *rw__g(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->model.g, id);
}

static inline struct order_p *rw__p(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->model.p, id);
}

static inline struct order_m *rw__m(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->model.m, id);
}

/* The goroutine and the P of a thread; NULL: none. */
static inline struct order_g *rw_m__g(const struct rewrite *r, const struct order_m *m)
{
	return m && m->g != TRACE_NO_G ? rw__g(r, m->g) : NULL;
}

static inline struct order_p *rw_m__p(const struct rewrite *r, const struct order_m *m)
{
	return m && m->p != TRACE_NO_P ? rw__p(r, m->p) : NULL;
}

/* The thread that it is bound to; NULL: none. */
static inline struct order_m *rw_g__m(const struct order_g *g)
{
	return g && g->holder && g->holder->g == g->id ? g->holder : NULL;
}

static inline struct order_m *rw_p__m(const struct order_p *p)
{
	return p && p->holder && p->holder->p == p->id ? p->holder : NULL;
}

/* No earlier generation of the output has set a state. */
static inline bool rw__is_first(const struct rewrite *r)
{
	return r->gen == r->model.first_gen;
}

void rw__set_error(struct rewrite *r, int err);
int rw__load(struct rewrite *r, const struct order *state);
/* Begins a generation. `first`: no state is known, so statuses may introduce goroutines. */
void rw__begin(struct rewrite *r, bool first);
/*
 * If the event is legal on thread m now, updates the model, numbers the event and adds it to the
 * pending ones. `arg` are the arguments after dt with ids of the output.
 */
bool rw__put(struct rewrite *r, uint64_t m, enum ev type, const uint64_t *arg);

/* rewrite_repair.c */

/*
 * Like rw__put() for an event of a v1 trace. Inserts the events that must come before. Returns true
 * if the state is then as the event describes; false if it has no legal place.
 */
bool rw__put_v1(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg);

/* rewrite_tables.c */
void rw_tables__deinit(struct rewrite *r);
void rw_tables__begin(struct rewrite *r); /* begins a generation of the output, without ids */
/* Replaces ids of the input by ids of the output. */
void rw_tables__args(struct rewrite *r, enum ev type, uint64_t *arg);
uint32_t rw_tables__stack(struct rewrite *r, uint64_t id);
struct trace_string rw_tables__string(const struct rewrite *r, uint64_t id); /* of the input */

/* rewrite_private.c */
void rw_private__deinit(struct rewrite *r);
/* Sets the dictionary of the input's generation, and reads the clocks from its private data. */
int rw_private__use(struct rewrite *r, const struct dictionary *from);
/*
 * Copies private data from the input's generation to the open one of the output; data about the
 * whole file only if `whole`.
 */
int rw_private__copy(struct rewrite *r, bool whole);
int rw_private__write_kept(struct rewrite *r);

/* rewrite_experiment.c */
void rw_experiment__deinit(struct rewrite *r);
/* Keeps what the first generation has about the whole trace, and writes that. */
int rw_experiment__keep(struct rewrite *r, const struct dictionary *from);
int rw_experiment__write_kept(struct rewrite *r);
/* As rw_private__copy(), for the batches of experiment AllocFree. */
int rw_experiment__copy(struct rewrite *r, bool whole);

/* rewrite_records.c */
/* If names are replaced: writes the records of the input's generation into the open one. */
int rw_records__write(struct rewrite *r);

/* rewrite_kernel.c */
void rw_kernel__deinit(struct rewrite *r);
/* Begins a generation of the input at `time`. Returns 0 or -ENOMEM. */
int rw_kernel__use(struct rewrite *r, const struct dictionary *from, int64_t time);
/* opts.from is later now. */
void rw_kernel__move(struct rewrite *r);
/* Writes items since the last call, if they are in the part, into the open generation. */
int rw_kernel__write(struct rewrite *r);

/* rewrite_prologue.c */

/* The number of events in the prologue. */
uint64_t rw__prologue_size(const struct rewrite *r);
/* Writes them at `start`, the start of the open generation, or 1 ns later. */
int rw__prologue(struct rewrite *r, int64_t start);

#endif

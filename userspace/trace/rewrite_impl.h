/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of trace/rewrite.h share: the model of what a reader of the output knows, and the
 * steps that an event takes.
 */
#ifndef TRACE_REWRITE_IMPL_H
#define TRACE_REWRITE_IMPL_H

#include "lib/map.h"
#include "trace/generation.h"
#include "trace/kernel.h"
#include "trace/private_read.h"
#include "trace/rewrite.h"

/* The model (rewrite_model.c) */

#define STW_MAX 4 /* kinds of stop-the-world open on one goroutine; the runtime opens one */

struct rw_region {
	uint64_t task, name; /* a hash of the name */
};

struct rw_g {
	uint64_t id, seq;
	uint64_t m;	  /* the last thread that it was bound to; still is if rw_m.g says so */
	uint32_t stamp;	  /* the generation of its last status: rewrite.stamp */
	uint8_t status;	  /* enum trace_go_status */
	bool assist;	  /* a mark assist is open */
	uint8_t stw;	  /* how many stop-the-worlds are open, */
	uint8_t stw_lost; /* and how many whose begin is not in the output */
	uint32_t stw_kind[STW_MAX];
	struct rw_region *region; /* open ones, the innermost last */
	uint32_t regions, regions_cap;
};

struct rw_p {
	uint64_t id, seq, m;
	uint32_t stamp;
	uint8_t status; /* enum trace_proc_status */
	bool sweep;
};

struct rw_m {
	uint64_t id, p, g; /* what it holds; TRACE_NO_… */
};

enum rw_gc { RW_GC_UNKNOWN, RW_GC_OFF, RW_GC_ON };

struct rw_words { /* from the ids of the input's generation to those of the output's */
	const struct dictionary *from; /* borrowed, until the next sync */
	struct map strings, stacks;    /* to id + 1, as a pointer */
	struct private_ticks ticks; /* clocks that the recorder wrote down; tick_ns 0: it did not */
};

struct rw_kernel {		      /* the kernel's side */
	struct kernel_reader *reader; /* of the input's generation, until it is read; NULL: done */
	struct kernel_writer *writer; /* of the output's; NULL: there was no need */
	struct kernel_threads threads;
	/* CLOCK_MONOTONIC: the items that are written, and where the output's generation begins */
	uint64_t from, to, start;
	bool begun; /* the writer has the threads */
};

#define PENDING_MAX 16 /* the most events that one of the input becomes, repairs included */

struct rewrite {
	struct rewrite_opts opts;
	struct rewrite_stats stats;
	struct trace_file *file;
	struct writer *writer;
	struct intern *in; /* of the open generation */

	struct map g, p, m, tasks; /* tasks: those that are open */
	enum rw_gc gc;
	uint64_t gc_seq;
	uint32_t stamp; /* number of the generation that counts sequences, of input and output */
	bool first;	/* nothing is known from generations before this one */

	bool any;		  /* something is known */
	bool writing;		  /* `from` is past, a generation is open */
	bool filled;		  /* it has an event or a status */
	int64_t shift;		  /* what is added to times, so that the prologue has room */
	int64_t last;		  /* time of the last event written */
	int64_t before;		  /* of the last event of the input that follows from another */
	struct trace_clock clock; /* of the input's generation */

	struct rw_words words;
	struct rw_kernel kernel;
	struct origins origins;
	struct trace_string *kept; /* private strings about the whole file; bytes owned */
	size_t nkept, kept_cap;

	struct rw_event {
		uint64_t m;
		uint64_t arg[EV_ARGS_MAX - 1];
		enum ev type;
	} pending[PENDING_MAX];
	unsigned int npending;
	uint64_t region;  /* of the event at hand: a hash of its name */
	uint64_t spare_m; /* the next thread id for what v1 says no thread of */
	int error;	  /* the first: no memory */
};

struct rw_g *rw__g(const struct rewrite *r, uint64_t id); /* NULL: nobody knows it */
struct rw_p *rw__p(const struct rewrite *r, uint64_t id);
struct rw_m *rw__m(const struct rewrite *r, uint64_t id);
/* Made, and known from now on. NULL: no memory, which is noted. */
struct rw_g *rw__new_g(struct rewrite *r, uint64_t id);
struct rw_p *rw__new_p(struct rewrite *r, uint64_t id);
struct rw_m *rw__make_m(struct rewrite *r, uint64_t id); /* found or made */
void rw__forget_g(struct rewrite *r, struct rw_g *g);
void rw__forget_p(struct rewrite *r, struct rw_p *p);
void rw__note(struct rewrite *r, int err);
int rw__load(struct rewrite *r, const struct order *state);
void rw__deinit(struct rewrite *r);
/* Sorted by id; to be freed. NULL: no memory. */
void **rw__sorted(const struct map *map);

/* The goroutine and the P of a thread; NULL: it has none. */
static inline struct rw_g *rw_m__g(const struct rewrite *r, const struct rw_m *m)
{
	return m && m->g != TRACE_NO_G ? rw__g(r, m->g) : NULL;
}

static inline struct rw_p *rw_m__p(const struct rewrite *r, const struct rw_m *m)
{
	return m && m->p != TRACE_NO_P ? rw__p(r, m->p) : NULL;
}

/* The thread that it is bound to; NULL: none. */
struct rw_m *rw_g__m(const struct rewrite *r, const struct rw_g *g);
struct rw_m *rw_p__m(const struct rewrite *r, const struct rw_p *p);

/* rewrite_rules.c */

/*
 * If the rules allow the event on thread m now, changes the model, numbers the event in `arg`, and
 * puts it among the pending ones. `arg` are those after dt, with the output's ids.
 */
bool rw__put(struct rewrite *r, uint64_t m, enum ev type, const uint64_t *arg);

/* rewrite_repair.c */

/*
 * As rw__put(), for an event of a v1 trace: with what has to happen before. True: what it says is
 * so now. False: it has no place.
 */
bool rw__put_v1(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg);

/* rewrite_words.c */
void rw_words__deinit(struct rewrite *r);
/* The words of another generation of the input, and the clocks that a recorder wrote into it. */
int rw_words__use(struct rewrite *r, const struct dictionary *from);
void rw_words__begin(struct rewrite *r); /* another generation of the output: no id is known */
/* Makes ids of the output of those of the input. */
void rw_words__args(struct rewrite *r, enum ev type, uint64_t *arg);
uint32_t rw_words__stack(struct rewrite *r, uint64_t id);
uint64_t rw_words__hash(const struct rewrite *r, uint64_t id); /* of a string */
/*
 * The private data of the input's generation into the open one of the output; with `whole` also
 * what it says of the whole file.
 */
int rw_words__private(struct rewrite *r, bool whole);
int rw_words__keep(struct rewrite *r, const struct dictionary *from); /* what it says of that */
int rw_words__write_kept(struct rewrite *r);

/* rewrite_kernel.c */
void rw_kernel__deinit(struct rewrite *r);
/* A generation of the input begins, at `time`. 0 or -ENOMEM. */
int rw_kernel__use(struct rewrite *r, const struct dictionary *from, int64_t time);
/* What was used since the last call, and lies in the part, into the open generation of the output. */
int rw_kernel__write(struct rewrite *r);

/* rewrite_prologue.c */

/* The number of events that say what goes on now. */
uint64_t rw__prologue_size(const struct rewrite *r);
/* Writes them at `start`, which the open generation begins with, or a nanosecond later. */
int rw__prologue(struct rewrite *r, int64_t start);

#endif

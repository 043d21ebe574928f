/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulated program: its goroutines, threads and Ps, and sending records. Shared by the files
 * of the simulator only.
 */
#ifndef REPLAY_WORLD_H
#define REPLAY_WORLD_H

#include "rng.h"
#include "simulate.h"

#define SIM_GS	    96
#define SIM_MS	    24
#define SIM_PS	    8
#define SIM_RINGS   4
#define SIM_REGIONS 6 /* open regions of a goroutine */
#define SIM_TASKS   8 /* open tasks */
#define SIM_CPUS    1024

enum sim_g_state { SG_FREE, SG_RUNNABLE, SG_RUNNING, SG_SYSCALL, SG_WAITING, SG_EXITED };
enum sim_p_state { SP_IDLE, SP_RUNNING, SP_SYSCALL, SP_GONE };

struct sim_m;

struct sim_g {
	uint64_t addr, goid, startpc, parent;
	enum sim_g_state state;
	struct sim_m *m;
	struct sim_g *partner;		      /* of a coroutine and the goroutine that resumes it */
	bool coroutine;			      /* waits for a switch, never for a READY */
	bool fresh;			      /* a coroutine that has not run yet */
	uint64_t mode;			      /* of a GC worker, from its unblock until it parks */
	struct gt_region region[SIM_REGIONS]; /* open, the innermost last */
	unsigned int regions;
	bool assists; /* in a mark assist */
};

struct sim_p {
	uint64_t addr;
	uint32_t id;
	enum sim_p_state state;
	struct sim_m *m;
	struct sim_m *ghost; /* lost it in a system call without a record of that */
};

/* With sim_opts.derives: how the goroutine before left the M, which its next record will report. */
struct sim_left {
	unsigned int kind; /* GT_PARK, GT_ENDED; 0: none */
	uint64_t object;
	uint32_t stack;
	struct gt_ended how;
};

struct sim_m {
	struct sim_left left;
	uint64_t addr;
	uint32_t tid;
	unsigned int cpu;
	struct sim_g *g;
	struct sim_p *p, *oldp;
	uint64_t stamp; /* time of its last record */
	bool known;	/* its system call began in the window */
	bool exiting;	/* between TRY_EXIT and its result */
};

struct world {
	const struct sim_opts *opts;
	struct sim_run *run;
	uint64_t rng, now, next_goid;
	uint32_t seq[SIM_RINGS];
	struct sim_g g[SIM_GS];
	struct sim_m m[SIM_MS];
	struct sim_p p[SIM_PS];
	unsigned int gs, ms, ps, procs; /* numbers in use; procs: GOMAXPROCS */
	uint64_t stacks;		/* bit set of those sent */
	uint32_t names;			/* bit set of those sent */
	uint64_t messages, tasks;	/* so far */
	uint64_t task[SIM_TASKS];	/* open; 0: none */
	unsigned int snapshots;		/* taken so far */
	size_t second_at;		/* when the second snapshot of a later pair is due */
	bool gc, started, failed;
};

static inline uint64_t world__below(struct world *w, uint64_t n)
{
	return rng__below(&w->rng, n);
}

static inline bool world__chance(struct world *w, unsigned int one_in)
{
	return rng__chance(&w->rng, one_in);
}

/* Counts an event that must be in the trace. */
static inline void world__expect(struct world *w, enum ev type)
{
	if (w->started)
		w->run->expect[type]++;
}

static inline void world__expect_start(struct world *w, const struct sim_g *g)
{
	world__expect(w, EV_GO_START);
	if (g->mode)
		world__expect(w, EV_GO_LABEL);
}

/* world.c: `payload` has the size of its kind */
void world__emit(struct world *w, struct sim_m *m, unsigned int kind, uint64_t object,
		 const void *payload);
void world__report_left(struct world *w,
			struct sim_m *m);		/* m.left, if any, in a record of its own */
uint64_t world__name(struct world *w, struct sim_m *m); /* a text, sent before its first use */
uint64_t world__message(struct world *w, struct sim_m *m); /* a text that is sent now */
void world__sample(struct world *w, struct sim_m *m);
void world__init(struct world *w);
void world__snapshot(struct world *w, struct snapshot *ret);
struct sim_p *world__idle_p(struct world *w);				/* a random one, or NULL */
struct sim_g *world__g(struct world *w, enum sim_g_state state);	/* never a coroutine */
void world__p_start(struct world *w, struct sim_m *m, struct sim_p *p); /* acquirep */
void world__p_stop(struct world *w, struct sim_m *m);			/* releasep */
void world__lose_p(struct world *w, struct sim_m *m, bool silently);	/* out of a system call */

/* running.c: the next step of a running goroutine, or of an M without one */
void running__step(struct world *w, struct sim_m *m);
void scheduler__step(struct world *w, struct sim_m *m);
void running__stop_the_world(struct world *w, struct sim_m *m);
void running__stop(struct world *w, struct sim_m *m, bool preempted);

/* annotation.c: tasks, regions, logs */
void annotation__step(struct world *w, struct sim_m *m);
void annotation__forget(struct sim_g *g); /* it ends, and so do its regions */
/* heap.c */
void heap__begin_assist(struct world *w, struct sim_m *m);
void heap__end_assist(struct world *w, struct sim_m *m);
void heap__step(struct world *w, struct sim_m *m); /* of a running goroutine, or of none on a P */

/* kernel.c */
void kernel__step(struct world *w, struct sim_m *m);
void kernel__preempt(struct world *w, struct sim_m *m);

/* syscall.c */
void syscall__enter(struct world *w, struct sim_m *m);
void syscall__step(struct world *w, struct sim_m *m);
void syscall__retake(struct world *w); /* sysmon */

#endif

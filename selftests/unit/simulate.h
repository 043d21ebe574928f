/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A random scheduler: legal transitions of goroutines, Ps and threads, passed to the writer as the
 * sequencer would. Used by test_writer_files.c; Go's strict reader checks the file.
 */
#ifndef SELFTESTS_SIMULATE_H
#define SELFTESTS_SIMULATE_H

#include "unit/test.h"
#include "writer/writer.h"

enum sim_state { SIM_NONE, SIM_RUNNABLE, SIM_RUNNING, SIM_SYSCALL, SIM_WAITING };

struct sim_g {
	enum sim_state state;
	uint64_t seq;
	uint32_t start;
};
struct sim_p {
	int status;
	uint64_t seq;
}; /* enum trace_proc_status */
struct sim_m {
	int p, g;
}; /* -1: none */

struct sim {
	struct writer *w;
	struct intern *in;
	unsigned int version;
	uint64_t now, random;
	int ms, ps, gs, gs_max;
	struct sim_m *m;
	struct sim_p *p;
	struct sim_g *g;
	uint32_t reasons[6], stacks[64], label;
	uint64_t events;
	int err; /* the first error of the writer */
};

#define SIM_TID(m) (40000 + 7 * (uint64_t)(m)) /* thread ids are not consecutive */

static inline uint32_t sim__dice(struct sim *s, uint32_t sides)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 20) % sides;
}

static inline void sim__emit(struct sim *s, int m, enum ev type, uint64_t a, uint64_t b, uint64_t c,
			     unsigned int n)
{
	uint64_t args[] = { a, b, c }, time;
	int err;

	s->now += sim__dice(s, 300);
	/* Times of a thread may be slightly out of order: the writer corrects them. */
	time = sim__dice(s, 50) ? s->now : s->now - sim__dice(s, 200);
	err = writer__event(s->w, SIM_TID(m), time, type, args, n);
	if (err && !s->err)
		s->err = err;
	s->events++;
}

static inline uint32_t sim__stack(struct sim *s)
{
	return s->stacks[sim__dice(s, 64)];
}

static inline void sim__tables(struct sim *s)
{
	static const char *const reasons[] = { "chan send", "chan receive", "select",
					       "sleep",	    "sync",	    "network" };
	struct intern_frame f[TRACE_STACK_MAX];
	char name[64];
	int i, j, n;

	for (i = 0; i < 6; i++)
		s->reasons[i] = intern__cstring(s->in, reasons[i]);
	s->label = intern__cstring(s->in, "GC (dedicated)");
	for (i = 0; i < 64; i++) {
		n = i == 63 ? TRACE_STACK_MAX : 1 + (int)sim__dice(s, 20);
		for (j = 0; j < n; j++) {
			snprintf(name, sizeof(name), "main.f%d_%d", i, j);
			f[j] = (struct intern_frame){
				.pc = 0x400000 + i * 0x1000 + j * 16,
				.line = j,
				.func = intern__cstring(s->in, name),
				.file = intern__cstring(s->in, i % 3 ? "/src/main.go" : "/src/x.go")
			};
		}
		s->stacks[i] = intern__stack(s->in, f, n);
	}
}

static inline void sim__init(struct sim *s, struct writer *w, struct intern *in,
			     unsigned int version, int ms, int ps, int gs, int gs_max)
{
	int i;

	*s = (struct sim){ .w = w,
			   .in = in,
			   .version = version,
			   .now = 86400000000123,
			   .ms = ms,
			   .ps = ps,
			   .gs = gs,
			   .gs_max = gs_max,
			   .random = 88172645463325252u };
	s->m = calloc(ms, sizeof(*s->m));
	s->p = calloc(ps, sizeof(*s->p));
	s->g = calloc(gs_max + 1, sizeof(*s->g));
	sim__tables(s);
	for (i = 0; i < ms; i++)
		s->m[i] = (struct sim_m){ -1, -1 };
	for (i = 0; i < ps; i++)
		s->p[i].status = PROC_IDLE;
	for (i = 1; i <= gs; i++) {
		s->g[i].state = sim__dice(s, 2) ? SIM_RUNNABLE : SIM_WAITING;
		s->g[i].start = sim__stack(s);
	}
	for (i = 0; i < ms && i < ps - 1; i += 2) { /* some run already, one is in a syscall */
		s->m[i] = (struct sim_m){ i, i + 1 };
		s->p[i].status = i ? PROC_RUNNING : PROC_SYSCALL;
		s->g[i + 1].state = i ? SIM_RUNNING : SIM_SYSCALL;
	}
}

static inline void sim__deinit(struct sim *s)
{
	free(s->m);
	free(s->p);
	free(s->g);
}

static inline int sim__thread_of(const struct sim *s, int p, int g)
{
	int i;

	for (i = 0; i < s->ms; i++)
		if ((p >= 0 && s->m[i].p == p) || (g > 0 && s->m[i].g == g))
			return i;
	return -1;
}

/* All present statuses, goroutines first, so that the writer must sort them. */
static inline void sim__statuses(struct sim *s)
{
	uint64_t m;
	int i, t, err = 0;

	for (i = 1; i <= s->gs; i++) {
		if (s->g[i].state == SIM_NONE)
			continue;
		t = s->g[i].state == SIM_RUNNING || s->g[i].state == SIM_SYSCALL ?
			    sim__thread_of(s, -1, i) :
			    -1;
		m = t < 0 ? TRACE_NO_M : SIM_TID(t);
		err = err   ?:
			      writer__go_status(s->w, m, i, (enum trace_go_status)s->g[i].state,
						s->g[i].start);
		s->g[i].seq = 0;
	}
	for (i = s->ps - 1; i >= 0; i--) {
		t = sim__thread_of(s, i, -1);
		m = t < 0 ? TRACE_NO_M : SIM_TID(t);
		err = err ?: writer__proc_status(s->w, m, i, s->p[i].status);
		s->p[i].seq = 0;
	}
	if (err && !s->err)
		s->err = err;
}

static inline void sim__open(struct sim *s)
{
	int err;

	s->now += 1000;
	err = writer__open(s->w, s->now, 1757300000123456789u + s->now);
	if (err && !s->err)
		s->err = err;
	sim__statuses(s);
}

static inline int sim__find_g(struct sim *s, enum sim_state state)
{
	int i, g;

	for (i = 0; i < 20; i++) {
		g = 1 + sim__dice(s, s->gs);
		if (s->g[g].state == state)
			return g;
	}
	return 0;
}

static inline void sim__create(struct sim *s, int m, enum ev type, enum sim_state state)
{
	if (s->gs == s->gs_max)
		return;
	s->gs++;
	s->g[s->gs] = (struct sim_g){ state, 0, sim__stack(s) };
	sim__emit(s, m, type, s->gs, s->g[s->gs].start, sim__stack(s), 3);
}

static inline void sim__switch(struct sim *s, int m, int destroy)
{
	int g = s->version >= 23 ? sim__find_g(s, SIM_WAITING) : 0;

	if (!g)
		return;
	sim__emit(s, m, destroy ? EV_GO_SWITCH_DESTROY : EV_GO_SWITCH, g, ++s->g[g].seq, 0, 2);
	s->g[s->m[m].g].state = destroy ? SIM_NONE : SIM_WAITING;
	s->g[g].state = SIM_RUNNING;
	s->m[m].g = g;
}

static inline void sim__leave(struct sim *s, int m, enum ev type, enum sim_state state)
{
	int args = type == EV_GO_DESTROY ? 0 : 2;

	sim__emit(s, m, type, s->reasons[sim__dice(s, 6)], sim__stack(s), 0, args);
	s->g[s->m[m].g].state = state;
	s->m[m].g = -1;
}

static inline void sim__syscall(struct sim *s, int m)
{
	struct sim_m *t = &s->m[m];

	sim__emit(s, m, EV_GO_SYSCALL_BEGIN, ++s->p[t->p].seq, sim__stack(s), 0, 2);
	s->p[t->p].status = PROC_SYSCALL;
	s->g[t->g].state = SIM_SYSCALL;
}

/* Ends the system call of a thread's goroutine, with or without its P. */
static inline void sim__step_syscall(struct sim *s, int m)
{
	struct sim_m *t = &s->m[m];
	int thief = sim__dice(s, s->ms);

	if (t->p >= 0 && sim__dice(s, 3)) {
		sim__emit(s, m, EV_GO_SYSCALL_END, 0, 0, 0, 0);
		s->p[t->p].status = PROC_RUNNING;
		s->g[t->g].state = SIM_RUNNING;
		return;
	}
	if (t->p >= 0) {
		if (thief == m)
			sim__emit(s, m, EV_PROC_STOP, 0, 0, 0, 0);
		else
			sim__emit(s, thief, EV_PROC_STEAL, t->p, ++s->p[t->p].seq, SIM_TID(m), 3);
		s->p[t->p].status = PROC_IDLE;
		t->p = -1;
	}
	sim__emit(s, m, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0, 0);
	s->g[t->g].state = SIM_RUNNABLE;
	t->g = -1;
}

static inline void sim__unblock(struct sim *s, int m)
{
	int g = sim__find_g(s, SIM_WAITING);

	if (!g)
		return;
	sim__emit(s, m, EV_GO_UNBLOCK, g, ++s->g[g].seq, sim__stack(s), 3);
	s->g[g].state = SIM_RUNNABLE;
}

static inline void sim__step_running(struct sim *s, int m)
{
	switch (sim__dice(s, 12)) {
	case 0:
	case 1:
	case 2:
		sim__leave(s, m, EV_GO_BLOCK, SIM_WAITING);
		break;
	case 3:
		sim__leave(s, m, EV_GO_STOP, SIM_RUNNABLE);
		break;
	case 4:
	case 5:
	case 6:
		sim__unblock(s, m);
		break;
	case 7:
	case 8:
		sim__syscall(s, m);
		break;
	case 9:
		sim__create(s, m, EV_GO_CREATE, SIM_RUNNABLE);
		if (!sim__dice(s, 2))
			sim__leave(s, m, EV_GO_DESTROY, SIM_NONE);
		break;
	case 10:
		if (s->version >= 23)
			sim__create(s, m, EV_GO_CREATE_BLOCKED, SIM_WAITING);
		sim__emit(s, m, EV_GO_LABEL, s->label, 0, 0, 1);
		break;
	case 11:
		sim__switch(s, m, !sim__dice(s, 4));
		break;
	}
}

static inline void sim__step(struct sim *s)
{
	int m = sim__dice(s, s->ms), p, g;
	struct sim_m *t = &s->m[m];

	if (t->g > 0 && s->g[t->g].state == SIM_SYSCALL) {
		sim__step_syscall(s, m);
	} else if (t->g > 0) {
		sim__step_running(s, m);
	} else if (t->p < 0) {
		p = sim__dice(s, s->ps);
		if (s->p[p].status != PROC_IDLE)
			return;
		sim__emit(s, m, EV_PROC_START, p, ++s->p[p].seq, 0, 2);
		s->p[p].status = PROC_RUNNING;
		t->p = p;
	} else if (sim__dice(s, 5) && (g = sim__find_g(s, SIM_RUNNABLE))) {
		sim__emit(s, m, EV_GO_START, g, ++s->g[g].seq, 0, 2);
		s->g[g].state = SIM_RUNNING;
		t->g = g;
	} else if (!sim__dice(s, 3)) {
		sim__emit(s, m, EV_PROC_STOP, 0, 0, 0, 0);
		s->p[t->p].status = PROC_IDLE;
		t->p = -1;
	}
}

#endif

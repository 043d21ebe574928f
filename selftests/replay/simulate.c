// SPDX-License-Identifier: GPL-2.0
/* The simulator's main loop: time passes, a random thread takes its next step. See simulate.h. */
#include "simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "world.h"

/* A thread that its goroutine has left soon does something else, at most in a few milliseconds. */
static void report_left(struct world *w, unsigned int one_in)
{
	for (unsigned int i = 0; i < w->ms; i++)
		if (world__chance(w, one_in))
			world__report_left(w, &w->m[i]);
}

static void pass_time(struct world *w)
{
	report_left(w, 4);
	w->now += 300 + world__below(w, 3000);
	if (world__chance(w, 40))
		w->now += world__below(w, 3000000);
	if (!world__chance(w, 400))
		return;
	report_left(w, 1);
	w->now += world__below(w, 400000000);
}

static void step(struct world *w)
{
	struct sim_m *m = &w->m[world__below(w, w->ms)];

	pass_time(w);
	if (world__chance(w, 12))
		world__sample(w, m);
	if (world__chance(w, 5))
		kernel__step(w, m);
	if (world__chance(w, 8))
		syscall__retake(w);
	else if (m->g && m->g->state == SG_SYSCALL)
		syscall__step(w, m);
	else if (m->g)
		running__step(w, m);
	else
		scheduler__step(w, m);
}

/* The next record of a thread shows how its exit ended: lets it occur. */
static void settle(struct world *w)
{
	for (unsigned int i = 0; i < w->ms; i++)
		if (w->m[i].exiting)
			syscall__step(w, &w->m[i]);
	report_left(w, 1);
	w->now += 5000000;
}

/*
 * Two snapshots, 20 ms apart, soon after the window began; later some pairs, as after losses. These
 * begin after a pause, because records of the last 100 ms have precedence over them.
 */
static void snapshots(struct world *w, size_t since)
{
	unsigned int pair = w->snapshots / 2 - 1;

	if (w->snapshots == 0 && since >= 20) {
		world__snapshot(w, &w->run->first);
	} else if (w->snapshots == 1 && since >= 60) {
		w->now += 20000000;
		world__snapshot(w, &w->run->second);
	} else if (w->snapshots < 2 || w->snapshots / 2 > SIM_PAIRS) {
		return;
	} else if (w->snapshots % 2 == 0 &&
		   since >= 60 + (w->opts->records - 60) * (pair + 1) / (SIM_PAIRS + 1)) {
		w->now += 150000000;
		world__snapshot(w, &w->run->again[pair][0]);
		w->second_at = since + world__below(w, 40);
	} else if (w->snapshots % 2 && since >= w->second_at) {
		w->now += 40000000;
		world__snapshot(w, &w->run->again[pair][1]);
	} else {
		return;
	}
	w->snapshots++;
}

/* As without these probes: removes their records, and renumbers the others. */
static void remove_syscalls(struct sim_run *run)
{
	uint32_t seq[64] = {};
	size_t to = 0;

	for (size_t i = 0; i < run->n; i++) {
		struct sim_entry *e = &run->entry[i];

		if (e->rec.kind >= GT_SYSCALL_ENTER && e->rec.kind <= GT_SYSCALL_NO_P)
			continue;
		e->rec.seq = seq[e->ring % 64]++;
		run->entry[to++] = *e;
	}
	run->n = to;
}

int simulate(struct sim_run *ret, const struct sim_opts *opts)
{
	struct world w = { .opts = opts, .run = ret, .rng = opts->seed };
	size_t begin = opts->cut ? opts->records / 8 : 0, n;

	*ret = (struct sim_run){};
	world__init(&w);
	while (ret->n < begin && !w.failed)
		step(&w);
	settle(&w);
	ret->t0 = w.now;
	w.started = true;
	w.now += 1000;
	n = ret->n;
	while (ret->n < n + opts->records && !w.failed) {
		snapshots(&w, ret->n - n);
		step(&w);
	}
	settle(&w);
	ret->t1 = w.now;
	world__snapshot(&w, &ret->truth);
	if (opts->no_syscalls)
		remove_syscalls(ret);
	if (w.failed) {
		sim_run__deinit(ret);
		return -ENOMEM;
	}
	return 0;
}

static void deinit_snapshot(struct snapshot *snap)
{
	free(snap->g);
	free(snap->m);
	free(snap->p);
	free(snap->stacks);
	*snap = (struct snapshot){};
}

void sim_run__deinit(struct sim_run *run)
{
	free(run->entry);
	free(run->lost);
	deinit_snapshot(&run->first);
	deinit_snapshot(&run->second);
	deinit_snapshot(&run->truth);
	for (unsigned int i = 0; i < SIM_PAIRS; i++) {
		deinit_snapshot(&run->again[i][0]);
		deinit_snapshot(&run->again[i][1]);
	}
	*run = (struct sim_run){};
}

static const char *const names[] = {
	"main.worker",	    "main.serve",     "runtime.chanrecv1", "sync.(*Mutex).Lock",
	"net.(*conn).Read", "main.main",      "runtime.main",	   "runtime.goexit",
	"main.(*T).Method", "runtime.gopark",
};

static int frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	unsigned int k = pc / 0x100 % 50;

	(void)ctx;
	for (unsigned int i = 0; i <= k % 3; i++)
		frame[i] = (struct sym_frame){ .pc = pc - (k % 3 - i),
					       .func = names[(k + i) % 10],
					       .file = "/src/main.go",
					       .line = k + i + 1,
					       .wrapper = k % 7 == 3,
					       .elides = k % 9 == 4,
					       .pushed = k % 3 };
	return 1 + k % 3;
}

static int start(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	struct sym_frame all[3];
	int n = frames(ctx, pc, all);

	if (n)
		*frame = all[n - 1];
	return n > 0;
}

const struct symbolizer sim_symbolizer = { .frames = frames, .start = start };

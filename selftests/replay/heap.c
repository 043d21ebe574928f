// SPDX-License-Identifier: GPL-2.0
/*
 * Heap activity of the simulated program's goroutines: mark assists, sweeping, growth. Upstream:
 * running.c. Downstream: world.c.
 */
#include "world.h"

#define PAGE 8192

/* Lasts some steps; the goroutine may be parked or preempted, but does nothing else meanwhile. */
void heap__begin_assist(struct world *w, struct sim_m *m)
{
	world__emit(w, m, GT_ASSIST_BEGIN, m->g->addr, "");
	world__expect(w, EV_GC_MARK_ASSIST_BEGIN);
	m->g->assists = true;
}

void heap__end_assist(struct world *w, struct sim_m *m)
{
	world__emit(w, m, GT_ASSIST_END, m->g->addr, "");
	world__expect(w, EV_GC_MARK_ASSIST_END);
	m->g->assists = false;
}

static void size(struct world *w, struct sim_m *m)
{
	bool goal = world__chance(w, 4);
	uint64_t bytes = world__chance(w, 9) ? UINT64_MAX : world__below(w, 1u << 30);

	world__emit(w, m,
		    goal		? GT_HEAP_GOAL :
		    world__chance(w, 3) ? GT_HEAP_SAMPLE :
					  GT_HEAP_ALLOC,
		    0, &(struct gt_value){ bytes });
	world__expect(w, goal ? EV_HEAP_GOAL : EV_HEAP_ALLOC);
}

static void span(struct world *w, struct sim_m *m)
{
	uint64_t objects = 1 + world__below(w, 1000), chunk = world__chance(w, 4);
	struct gt_span s = { .bytes = PAGE << world__below(w, 3), .objects = objects, .size = 16 };
	struct gt_left left = { .objects = world__below(w, objects + 1) };

	if (chunk) {
		s = (struct gt_span){ .bytes = 512 * PAGE };
		left = (struct gt_left){ .pages = world__below(w, 512) };
	}
	world__emit(w, m, GT_SWEEP_SPAN, 0, &s);
	w->now += 200;
	world__emit(w, m, GT_SWEEP_LEFT, 0, &left);
}

/* Some find nothing, and background sweeping has no events. */
static void sweep(struct world *w, struct sim_m *m)
{
	unsigned int n = world__below(w, 4);
	bool background = world__chance(w, 5);

	if (!background)
		world__emit(w, m, GT_SWEEP_BEGIN, 0, "");
	for (unsigned int i = 0; i < n; i++) {
		w->now += 300;
		span(w, m);
	}
	w->now += 100;
	if (!background || world__chance(w, 2))
		world__emit(w, m, GT_SWEEP_END, 0, "");
	if (background || !n)
		return;
	world__expect(w, EV_GC_SWEEP_BEGIN);
	world__expect(w, EV_GC_SWEEP_END);
}

void heap__step(struct world *w, struct sim_m *m)
{
	if (world__chance(w, 3))
		sweep(w, m);
	else
		size(w, m);
}

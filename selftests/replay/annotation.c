// SPDX-License-Identifier: GPL-2.0
/*
 * Annotations of the simulated program: tasks begin and end in any goroutine, regions nest in one,
 * logs belong to a task or to none, and goroutines get labels. Upstream: running.c. Downstream: world.c.
 */
#include "world.h"

/* A random open task, or none. */
static uint64_t *some_task(struct world *w)
{
	return &w->task[world__below(w, SIM_TASKS)];
}

static void task(struct world *w, struct sim_m *m)
{
	uint64_t *task = some_task(w), parent = *some_task(w);

	if (*task) {
		world__emit(w, m, GT_TASK_END, m->g->addr, &(struct gt_value){ *task });
		world__expect(w, EV_USER_TASK_END);
		*task = 0;
		return;
	}
	*task = ++w->tasks;
	world__emit(w, m, GT_TASK_BEGIN, m->g->addr,
		    &(struct gt_task){ *task, parent, world__name(w, m) });
	world__expect(w, EV_USER_TASK_BEGIN);
}

static void region(struct world *w, struct sim_m *m)
{
	struct sim_g *g = m->g;
	struct gt_region *region = &g->region[g->regions];

	if (g->regions && (g->regions == SIM_REGIONS || world__chance(w, 2))) {
		region = &g->region[--g->regions];
		region->ends = 1;
		world__emit(w, m, GT_REGION, g->addr, region);
		world__expect(w, EV_USER_REGION_END);
		return;
	}
	*region = (struct gt_region){ *some_task(w), world__name(w, m) };
	g->regions++;
	world__emit(w, m, GT_REGION, g->addr, region);
	world__expect(w, EV_USER_REGION_BEGIN);
}

static void log_line(struct world *w, struct sim_m *m)
{
	struct gt_log log = { .task = *some_task(w), .category = world__name(w, m) };

	log.message = world__message(w, m);
	world__emit(w, m, GT_LOG, m->g->addr, &log);
	world__expect(w, EV_USER_LOG);
}

/* A set of labels, of which none may be missing. */
static void labels(struct world *w, struct sim_m *m)
{
	uint16_t n = (uint16_t)world__below(w, 4);

	for (uint16_t i = 0; i < n; i++)
		world__emit(w, m, GT_LABEL, m->g->addr,
			    &(struct gt_label){ world__name(w, m), world__name(w, m), i, n });
	if (!n)
		world__emit(w, m, GT_LABEL, m->g->addr, &(struct gt_label){});
	world__expect(w, EV_GO_LABEL);
}

void annotation__step(struct world *w, struct sim_m *m)
{
	switch (world__below(w, 5)) {
	case 0:
		task(w, m);
		break;
	case 1:
		log_line(w, m);
		break;
	case 2:
		labels(w, m);
		break;
	default:
		region(w, m);
	}
}

void annotation__forget(struct sim_g *g)
{
	g->regions = 0;
}

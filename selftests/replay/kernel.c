// SPDX-License-Identifier: GPL-2.0
/*
 * Random kernel events of the simulated threads. The sequencer only uses them to decide whether a
 * thread that may have left a system call had time for a further record; otherwise they must not
 * change the trace. Upstream: simulate.c. Downstream: world.c.
 */
#include "world.h"

static void send_off(struct world *w, struct sim_m *m)
{
	struct gt_off_cpu off = { .why = (uint8_t)world__below(w, GT_OFF_END), .next_comm = "sh" };

	off.next_tgid = (uint32_t)world__below(w, 3);
	world__emit(w, m, GT_CPU_OFF, world__below(w, 4), &off);
}

void kernel__preempt(struct world *w, struct sim_m *m)
{
	struct gt_off_cpu off = { .why = GT_OFF_PREEMPTED, .next_comm = "sh" };

	world__emit(w, m, GT_CPU_OFF, 1, &off);
}

static void send_thread(struct world *w, struct sim_m *m)
{
	struct gt_thread thread = { .what = (uint8_t)world__below(w, 4), .comm = "worker" };

	thread.on_cpu = world__chance(w, 2);
	thread.why = (uint8_t)world__below(w, GT_OFF_END);
	world__emit(w, m, GT_THREAD, world__below(w, 400), &thread);
}

void kernel__step(struct world *w, struct sim_m *m)
{
	struct gt_waking waking = { 7, (uint32_t)world__below(w, 2) };

	if (m->exiting) /* it has no CPU: see kernel__preempt() */
		return;
	switch (world__below(w, 8)) {
	case 0:
		world__emit(w, m, GT_CPU_ON, world__below(w, 4), &waking);
		break;
	case 1:
		send_off(w, m);
		break;
	case 2:
		world__emit(w, m, GT_WAKING, world__below(w, 4), &waking);
		break;
	case 3:
		world__emit(w, m, GT_SYS_ENTER, world__below(w, 400), &waking);
		break;
	case 4:
		world__emit(w, m, GT_SYS_EXIT, world__below(w, 400), &(struct gt_value){ -11ul });
		break;
	case 5:
		send_thread(w, m);
		break;
	case 6:
		world__emit(w, m, GT_FAULT_BEGIN, 0xc000001000 + world__below(w, 1 << 20), &waking);
		break;
	default:
		world__emit(w, m, GT_FAULT_END, 0, &waking);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Infers struct members and addresses of globals from single accesses to memory.
 *
 * Third step of inference, with calibrate_places.c and calibrate_globals.c. Upstream:
 * calibrate_flow.c. Downstream: calibrate.c. Lists the functions to analyze. A row of the table
 * corresponds to a line of the runtime's source: "wirep stores its argument into m.p". These lines
 * are equivalent in Go 1.19 to 1.27; a function that is missing or looks different yields no
 * candidates.
 */
#include <string.h>

#include "target/infer/calibrate_places.h"

/* The meaning of a value. */
/* clang-format off */
enum meaning {
	IS_ANY, IS_ARG1, IS_ARG2, IS_ARG3, IS_ARG4, IS_ARG5, /* the function's arguments */
	IS_G, IS_M, IS_P, IS_CURG,			/* getg(), g.m, g.m.p, g.m.curg */
	IS_CORO,					/* the first argument's coroarg */
	IS_GLOBAL, IS_NOT_GLOBAL,
	IS_COUNTED,					/* a global after its increment by 1 */
	IS_0, IS_1, IS_2, IS_3,
};
/* clang-format on */

/*
 * HINT: matches other members, too, in some release; two rows must agree on one offset. PROOF:
 * another access of the same form in the function would appear as a second candidate.
 */
enum weight { HINT, PROOF };

const struct inference calibrate_rows[ROWS_MAX] = {
	{ "gogo", .infer = calibrate_places__gogo },
	{ "runtime.mcall", .infer = calibrate_places__mcall },
	{ "runtime.systemstack", .infer = calibrate_places__systemstack },
	/* mp.curg = gp; gp.m = mp; gp.syncSafePoint = false */
	{ "runtime.execute", ACCESS_WRITE, 8, IS_M, IS_ARG1, OFF_M_CURG, PROOF, 0 },
	{ "runtime.execute", ACCESS_WRITE, 8, IS_ARG1, IS_M, OFF_G_M, PROOF, 0 },
	{ "runtime.execute", ACCESS_WRITE, 1, IS_ARG1, IS_0, OFF_G_SYNC_SAFE_POINT, HINT, 25 },
	{ "runtime.execute", .infer = calibrate_places__execute },
	{ "runtime.rt0_go", .infer = calibrate_places__rt0_go },
	/* gp.m.p.set(pp); pp.m.set(gp.m); pp.status = _Prunning */
	{ "runtime.wirep", ACCESS_WRITE, 8, IS_M, IS_ARG1, OFF_M_P, PROOF, 0 },
	{ "runtime.wirep", ACCESS_WRITE, 8, IS_ARG1, IS_M, OFF_P_M, PROOF, 0 },
	{ "runtime.wirep", ACCESS_WRITE, 4, IS_ARG1, IS_1, OFF_P_STATUS, PROOF, 0 },
	/* pp.m = 0; pp.status = _Pidle */
	{ "runtime.releasep", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_M, HINT, 0 },
	{ "runtime.releasep", ACCESS_WRITE, 4, IS_P, IS_0, OFF_P_STATUS, HINT, 0 },
	{ "runtime.releasepNoTrace", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_M, HINT, 0 },
	{ "runtime.releasepNoTrace", ACCESS_WRITE, 4, IS_P, IS_0, OFF_P_STATUS, HINT, 0 },
	/* pp.id = id; pp.gcw.id = id (1.26); pp.status = _Pgcstop */
	{ "runtime.(*p).init", ACCESS_WRITE, 4, IS_ARG1, IS_ARG2, OFF_P_ID, HINT, 0 },
	{ "runtime.(*p).init", ACCESS_WRITE, 4, IS_ARG1, IS_3, OFF_P_STATUS, HINT, 0 },
	{ "runtime.procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	{ "sync.runtime_procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	{ "sync/atomic.runtime_procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	/* gp.atomicstatus.CompareAndSwap(oldval, newval) */
	{ "runtime.casgstatus", ACCESS_CAS, 4, IS_ARG1, IS_ANY, OFF_G_ATOMICSTATUS, PROOF, 0 },
	{ "runtime.castogscanstatus", ACCESS_CAS, 4, IS_ARG1, IS_ANY, OFF_G_ATOMICSTATUS, PROOF,
	  0 },
	{ "runtime.casfrom_Gscanstatus", ACCESS_CAS, 4, IS_ARG1, IS_ANY, OFF_G_ATOMICSTATUS, PROOF,
	  0 },
	/* gp.waitreason = reason; mp.waitTraceBlockReason = …; mp.waitTraceSkip = traceskip */
	{ "runtime.gopark", ACCESS_WRITE, 1, IS_CURG, IS_ARG3, OFF_G_WAITREASON, PROOF, 0 },
	{ "runtime.gopark", ACCESS_WRITE, 1, IS_M, IS_ARG4, OFF_M_BLOCK_REASON, PROOF, 0 },
	{ "runtime.gopark", ACCESS_WRITE, 8, IS_M, IS_ARG5, OFF_M_SKIP, PROOF, 0 },
	{ "runtime.casGToWaiting", ACCESS_WRITE, 1, IS_ARG1, IS_ARG3, OFF_G_WAITREASON, PROOF, 0 },
	{ "runtime.newproc1", .infer = calibrate_places__newproc1 },
	{ "runtime.newproc.func1", .infer = calibrate_places__newproc1 },
	/* gp.goid = sched.goidgen.Add(1) */
	{ "runtime.oneNewExtraM", ACCESS_WRITE, 8, IS_NOT_GLOBAL, IS_COUNTED, OFF_G_GOID, PROOF,
	  0 },
	{ "runtime.minit", .infer = calibrate_places__minit },
	/* tgkill(getpid(), int(mp.procid), sig) */
	{ "runtime.signalM", ACCESS_READ, 8, IS_ARG1, IS_ANY, OFF_M_PROCID, HINT, 0 },
	/* gp.m.oldp.set(pp), where pp is gp.m.p; reentersyscall may be inlined */
	{ "runtime.reentersyscall", ACCESS_WRITE, 8, IS_M, IS_P, OFF_M_OLDP, PROOF, 0 },
	{ "runtime.entersyscall", ACCESS_WRITE, 8, IS_M, IS_P, OFF_M_OLDP, PROOF, 0 },
	/* gp.m.oldp = 0 */
	{ "runtime.exitsyscall", ACCESS_WRITE, 8, IS_M, IS_0, OFF_M_OLDP, HINT, 0 },
	{ "runtime.mcommoninit", .infer = calibrate_globals__mcommoninit },
	/* gp.syncSafePoint = true */
	{ "runtime.newstack", ACCESS_WRITE, 1, IS_CURG, IS_1, OFF_G_SYNC_SAFE_POINT, HINT, 25 },
	/* pp.gcMarkWorkerMode = gcMarkWorkerDedicatedMode, …FractionalMode, …IdleMode */
	{ "runtime.(*gcControllerState).findRunnableGCWorker", ACCESS_WRITE, 8, IS_ARG2, IS_1,
	  OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.(*gcControllerState).findRunnableGCWorker", ACCESS_WRITE, 8, IS_ARG2, IS_2,
	  OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.(*gcControllerState).assignWaitingGCWorker", ACCESS_WRITE, 8, IS_ARG2, IS_1,
	  OFF_P_GC_MODE, HINT, 26 },
	{ "runtime.(*gcControllerState).assignWaitingGCWorker", ACCESS_WRITE, 8, IS_ARG2, IS_2,
	  OFF_P_GC_MODE, HINT, 26 },
	{ "runtime.findRunnable", ACCESS_WRITE, 8, IS_P, IS_3, OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.gcBgMarkWorker", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_GC_MODE, HINT, 0 },
	/* gp.coroarg = c; gp.coroexit = true, and back */
	{ "runtime.coroswitch", ACCESS_WRITE, 8, IS_G, IS_ARG1, OFF_G_COROARG, PROOF, 23 },
	{ "runtime.coroexit", ACCESS_WRITE, 8, IS_G, IS_ARG1, OFF_G_COROARG, PROOF, 23 },
	{ "runtime.coroexit", ACCESS_WRITE, 1, IS_G, IS_1, OFF_G_COROEXIT, HINT, 23 },
	{ "runtime.coroswitch_m", ACCESS_WRITE, 8, IS_ARG1, IS_0, OFF_G_COROARG, HINT, 23 },
	{ "runtime.coroswitch_m", ACCESS_WRITE, 1, IS_ARG1, IS_0, OFF_G_COROEXIT, HINT, 23 },
	/* c.gp.cas(next, self), where c is gp.coroarg */
	{ "runtime.coroswitch_m", ACCESS_CAS, 8, IS_CORO, IS_ANY, OFF_CORO_GP, PROOF, 23 },
	{ "runtime.allgadd", .infer = calibrate_globals__allgadd },
	/* The same globals, when read. */
	{ "runtime.forEachG", ACCESS_READ, 8, IS_GLOBAL, IS_ANY, OFF_GLOBAL_allgs, HINT, 0 },
	{ "runtime.atomicAllG", ACCESS_READ, 8, IS_GLOBAL, IS_ANY, OFF_GLOBAL_allgptr, HINT, 0 },
	{ "runtime.atomicAllG", ACCESS_READ, 8, IS_GLOBAL, IS_ANY, OFF_GLOBAL_allglen, HINT, 0 },
	{ "runtime.forEachGRace", ACCESS_READ, 8, IS_GLOBAL, IS_ANY, OFF_GLOBAL_allgptr, HINT, 0 },
	{ "runtime.forEachGRace", ACCESS_READ, 8, IS_GLOBAL, IS_ANY, OFF_GLOBAL_allglen, HINT, 0 },
	/* atomic.Store((*uint32)(&gomaxprocs), uint32(nprocs)) */
	{ "runtime.procresize", ACCESS_SWAP, 4, IS_GLOBAL, IS_ARG1, OFF_GLOBAL_gomaxprocs, PROOF,
	  0 },
	{ "runtime.procresize", .infer = calibrate_globals__procresize },
	{ "runtime.flushmcache", .infer = calibrate_globals__flushmcache },
	/* ret := int(gomaxprocs) */
	{ "runtime.GOMAXPROCS", ACCESS_READ, 4, IS_GLOBAL, IS_ANY, OFF_GLOBAL_gomaxprocs, HINT, 0 },
	{ NULL },
};

bool shape__is_load(const struct flow *f, value_id id, value_id *ret_base, uint64_t *ret_disp)
{
	const struct value *v = value(f, id);

	if (v->kind != VALUE_LOAD || v->width != 8 || v->k < 0)
		return false;
	*ret_base = v->base;
	*ret_disp = (uint64_t)v->k;
	return true;
}

/* Whether the value is a pointer loaded from `member` of *ret_base. */
static bool is_member(const struct calibration *c, const struct flow *f, value_id id,
		      unsigned int member, value_id *ret_base)
{
	uint64_t disp, known;

	return shape__is_load(f, id, ret_base, &disp) && calibration__known(c, member, &known) &&
	       disp == known;
}

bool shape__is_entry(const struct flow *f, value_id id, int64_t reg)
{
	return value(f, id)->kind == VALUE_ENTRY && value(f, id)->k == reg;
}

bool shape__is_m(const struct calibration *c, const struct flow *f, value_id id)
{
	value_id g;

	return is_member(c, f, id, OFF_G_M, &g) && value(f, g)->kind == VALUE_G;
}

static bool has_meaning(const struct calibration *c, const struct flow *f, value_id id,
			enum meaning what)
{
	static const uint8_t args[] = { GPR_ARG1, GPR_ARG2, GPR_ARG3, GPR_ARG4, GPR_ARG5 };
	const struct value *v = value(f, id);
	value_id m;

	switch (what) {
	case IS_ANY:
		return true;
	case IS_ARG1:
	case IS_ARG2:
	case IS_ARG3:
	case IS_ARG4:
	case IS_ARG5:
		return shape__is_entry(f, id, args[what - IS_ARG1]);
	case IS_G:
		return v->kind == VALUE_G;
	case IS_M:
		return shape__is_m(c, f, id);
	case IS_P:
		return is_member(c, f, id, OFF_M_P, &m) && shape__is_m(c, f, m);
	case IS_CURG:
		return is_member(c, f, id, OFF_M_CURG, &m) && shape__is_m(c, f, m);
	case IS_CORO:
		return is_member(c, f, id, OFF_G_COROARG, &m) && shape__is_entry(f, m, GPR_ARG1);
	case IS_GLOBAL:
		return shape__is_global(f, id);
	case IS_NOT_GLOBAL:
		return !shape__is_global(f, id);
	case IS_COUNTED:
		return v->kind == VALUE_ADD && v->k == 1 &&
		       value(f, v->base)->kind == VALUE_BEFORE_ADD &&
		       shape__is_global(f, value(f, v->base)->base);
	default:
		return v->kind == VALUE_CONST && v->k == (int64_t)(what - IS_0);
	}
}

bool shape__is_global(const struct flow *f, value_id id)
{
	return value(f, id)->kind == VALUE_GLOBAL;
}

bool shape__reads_global(const struct flow *f, value_id id, unsigned int width, uint64_t *ret)
{
	const struct value *v = value(f, id);

	if (v->kind != VALUE_LOAD || v->width != width || !shape__is_global(f, v->base))
		return false;
	*ret = (uint64_t)value(f, v->base)->k + (uint64_t)v->k;
	return true;
}

uint64_t shape__address(const struct flow *f, const struct access *a)
{
	return (uint64_t)value(f, a->base)->k + (uint64_t)a->disp;
}

bool shape__is_write(const struct access *a, unsigned int width)
{
	return a->op == ACCESS_WRITE && a->width == width && !a->index && a->disp >= 0;
}

bool shape__swaps_global(const struct flow *f, const struct access *a, unsigned int width)
{
	return a->op == ACCESS_SWAP && a->width == width && !a->index &&
	       shape__is_global(f, a->base);
}

void calibrate_shape__apply(struct calibration *c, const struct flow *f)
{
	for (const struct inference *row = calibrate_rows; row->function; row++) {
		struct candidates set = { .n = 0 };

		if (strcmp(row->function, f->steps.func.name) || row->since > c->minor)
			continue;
		if (row->infer) {
			row->infer(c, f);
			continue;
		}
		for (size_t j = 0; j < f->n; j++) {
			const struct access *a = &f->access[j];

			if (a->op != row->op || a->width != row->width || a->index ||
			    !has_meaning(c, f, a->base, row->base) ||
			    !has_meaning(c, f, a->value, row->value))
				continue;
			if (row->base == IS_GLOBAL)
				candidates__add(&set, shape__address(f, a));
			else if (a->disp >= 0)
				candidates__add(&set, (uint64_t)a->disp);
		}
		calibration__add(c, row->member, &set, row->weight == PROOF);
	}
}

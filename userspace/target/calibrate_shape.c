// SPDX-License-Identifier: GPL-2.0
/*
 * Shapes of code that tell where members are: those that one access to memory is enough for.
 *
 * Third step of calibration, with calibrate_places.c. A row of the table is a line of the runtime's
 * source: "wirep stores its argument into m.p". Go's source is the same in 1.19 to 1.27 as far as
 * it matters here; a function that is not there, or looks different, says nothing.
 */
#include <string.h>

#include "target/calibrate_places.h"

/* What a value is. */
enum is {
	IS_ANY,
	IS_AX,
	IS_BX,
	IS_CX,
	IS_DI,
	IS_SI, /* the function's arguments */
	IS_G,
	IS_M,
	IS_P,
	IS_CURG, /* getg(), g.m, g.m.p, g.m.curg */
	IS_CORO, /* the first argument's coroarg */
	IS_0,
	IS_1,
	IS_2,
	IS_3,
};

/*
 * HINT: fits other members, too, in some release; two that agree on one offset are needed.
 * PROOF: what else the function does like this would be seen as a second candidate.
 */
enum weight { HINT, PROOF };

static const struct row {
	const char *function;
	uint8_t op, width;   /* enum access_op */
	uint8_t base, value; /* enum is */
	uint8_t member;	     /* enum offset_id */
	uint8_t weight;
	uint8_t since; /* Go 1.x */
} rows[] = {
	/* mp.curg = gp; gp.m = mp; gp.syncSafePoint = false */
	{ "runtime.execute", ACCESS_WRITE, 8, IS_M, IS_AX, OFF_M_CURG, PROOF, 0 },
	{ "runtime.execute", ACCESS_WRITE, 8, IS_AX, IS_M, OFF_G_M, PROOF, 0 },
	{ "runtime.execute", ACCESS_WRITE, 1, IS_AX, IS_0, OFF_G_SYNC_SAFE_POINT, HINT, 25 },
	{ "runtime.newstack", ACCESS_WRITE, 1, IS_CURG, IS_1, OFF_G_SYNC_SAFE_POINT, HINT, 25 },
	/* gp.m.p.set(pp); pp.m.set(gp.m); pp.status = _Prunning */
	{ "runtime.wirep", ACCESS_WRITE, 8, IS_M, IS_AX, OFF_M_P, PROOF, 0 },
	{ "runtime.wirep", ACCESS_WRITE, 8, IS_AX, IS_M, OFF_P_M, PROOF, 0 },
	{ "runtime.wirep", ACCESS_WRITE, 4, IS_AX, IS_1, OFF_P_STATUS, PROOF, 0 },
	/* pp.m = 0; pp.status = _Pidle */
	{ "runtime.releasep", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_M, HINT, 0 },
	{ "runtime.releasep", ACCESS_WRITE, 4, IS_P, IS_0, OFF_P_STATUS, HINT, 0 },
	{ "runtime.releasepNoTrace", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_M, HINT, 0 },
	{ "runtime.releasepNoTrace", ACCESS_WRITE, 4, IS_P, IS_0, OFF_P_STATUS, HINT, 0 },
	/* pp.id = id; pp.gcw.id = id (1.26); pp.status = _Pgcstop */
	{ "runtime.(*p).init", ACCESS_WRITE, 4, IS_AX, IS_BX, OFF_P_ID, HINT, 0 },
	{ "runtime.(*p).init", ACCESS_WRITE, 4, IS_AX, IS_3, OFF_P_STATUS, HINT, 0 },
	{ "runtime.procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	{ "sync.runtime_procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	{ "sync/atomic.runtime_procPin", ACCESS_READ, 4, IS_P, IS_ANY, OFF_P_ID, HINT, 0 },
	/* gp.atomicstatus.CompareAndSwap(oldval, newval) */
	{ "runtime.casgstatus", ACCESS_CAS, 4, IS_AX, IS_ANY, OFF_G_ATOMICSTATUS, PROOF, 0 },
	{ "runtime.castogscanstatus", ACCESS_CAS, 4, IS_AX, IS_ANY, OFF_G_ATOMICSTATUS, PROOF, 0 },
	{ "runtime.casfrom_Gscanstatus", ACCESS_CAS, 4, IS_AX, IS_ANY, OFF_G_ATOMICSTATUS, PROOF,
	  0 },
	/* gp.waitreason = reason; mp.waitTraceBlockReason = …; mp.waitTraceSkip = traceskip */
	{ "runtime.gopark", ACCESS_WRITE, 1, IS_CURG, IS_CX, OFF_G_WAITREASON, PROOF, 0 },
	{ "runtime.gopark", ACCESS_WRITE, 1, IS_M, IS_DI, OFF_M_BLOCK_REASON, PROOF, 0 },
	{ "runtime.gopark", ACCESS_WRITE, 8, IS_M, IS_SI, OFF_M_SKIP, PROOF, 0 },
	{ "runtime.casGToWaiting", ACCESS_WRITE, 1, IS_AX, IS_CX, OFF_G_WAITREASON, PROOF, 0 },
	/* tgkill(getpid(), int(mp.procid), sig) */
	{ "runtime.signalM", ACCESS_READ, 8, IS_AX, IS_ANY, OFF_M_PROCID, HINT, 0 },
	/* gp.m.oldp = 0 */
	{ "runtime.exitsyscall", ACCESS_WRITE, 8, IS_M, IS_0, OFF_M_OLDP, HINT, 0 },
	/* pp.gcMarkWorkerMode = gcMarkWorkerDedicatedMode, …FractionalMode, …IdleMode */
	{ "runtime.(*gcControllerState).findRunnableGCWorker", ACCESS_WRITE, 8, IS_BX, IS_1,
	  OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.(*gcControllerState).findRunnableGCWorker", ACCESS_WRITE, 8, IS_BX, IS_2,
	  OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.(*gcControllerState).assignWaitingGCWorker", ACCESS_WRITE, 8, IS_BX, IS_1,
	  OFF_P_GC_MODE, HINT, 26 },
	{ "runtime.(*gcControllerState).assignWaitingGCWorker", ACCESS_WRITE, 8, IS_BX, IS_2,
	  OFF_P_GC_MODE, HINT, 26 },
	{ "runtime.findRunnable", ACCESS_WRITE, 8, IS_P, IS_3, OFF_P_GC_MODE, HINT, 0 },
	{ "runtime.gcBgMarkWorker", ACCESS_WRITE, 8, IS_P, IS_0, OFF_P_GC_MODE, HINT, 0 },
	/* gp.coroarg = c; gp.coroexit = true, and back */
	{ "runtime.coroswitch", ACCESS_WRITE, 8, IS_G, IS_AX, OFF_G_COROARG, PROOF, 23 },
	{ "runtime.coroexit", ACCESS_WRITE, 8, IS_G, IS_AX, OFF_G_COROARG, PROOF, 23 },
	{ "runtime.coroexit", ACCESS_WRITE, 1, IS_G, IS_1, OFF_G_COROEXIT, HINT, 23 },
	{ "runtime.coroswitch_m", ACCESS_WRITE, 8, IS_AX, IS_0, OFF_G_COROARG, HINT, 23 },
	{ "runtime.coroswitch_m", ACCESS_WRITE, 1, IS_AX, IS_0, OFF_G_COROEXIT, HINT, 23 },
	/* c.gp.cas(next, self), where c is gp.coroarg */
	{ "runtime.coroswitch_m", ACCESS_CAS, 8, IS_CORO, IS_ANY, OFF_CORO_GP, PROOF, 23 },
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

/* A pointer that stands at member `ballot` of what `from` is. */
bool shape__is_member(const struct calibration *c, const struct flow *f, value_id id,
		      unsigned int ballot, value_id *ret_base)
{
	uint64_t disp, known;

	return shape__is_load(f, id, ret_base, &disp) && calibration__known(c, ballot, &known) &&
	       disp == known;
}

bool shape__is_entry(const struct flow *f, value_id id, int64_t reg)
{
	return value(f, id)->kind == VALUE_ENTRY && value(f, id)->k == reg;
}

bool shape__is_m(const struct calibration *c, const struct flow *f, value_id id)
{
	value_id g;

	return shape__is_member(c, f, id, OFF_G_M, &g) && value(f, g)->kind == VALUE_G;
}

static bool is(const struct calibration *c, const struct flow *f, value_id id, enum is what)
{
	const struct value *v = value(f, id);
	value_id m;

	switch (what) {
	case IS_ANY:
		return true;
	case IS_AX:
		return shape__is_entry(f, id, GPR_AX);
	case IS_BX:
		return shape__is_entry(f, id, GPR_BX);
	case IS_CX:
		return shape__is_entry(f, id, GPR_CX);
	case IS_DI:
		return shape__is_entry(f, id, GPR_DI);
	case IS_SI:
		return shape__is_entry(f, id, GPR_SI);
	case IS_G:
		return v->kind == VALUE_G;
	case IS_M:
		return shape__is_m(c, f, id);
	case IS_P:
		return shape__is_member(c, f, id, OFF_M_P, &m) && shape__is_m(c, f, m);
	case IS_CURG:
		return shape__is_member(c, f, id, OFF_M_CURG, &m) && shape__is_m(c, f, m);
	case IS_CORO:
		return shape__is_member(c, f, id, OFF_G_COROARG, &m) &&
		       shape__is_entry(f, m, GPR_AX);
	default:
		return v->kind == VALUE_CONST && v->k == (int64_t)(what - IS_0);
	}
}

bool shape__is_global(const struct flow *f, value_id id)
{
	return value(f, id)->kind == VALUE_GLOBAL;
}

/* The address of a global that is read, in whole. */
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

void calibrate_shape__by_table(struct calibration *c, const struct flow *f)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct candidates set = { .n = 0 };

		if (strcmp(row->function, f->steps.func.name) || row->since > c->minor)
			continue;
		for (size_t j = 0; j < f->n; j++) {
			const struct access *a = &f->access[j];

			if (a->op == row->op && a->width == row->width && !a->index &&
			    a->disp >= 0 && is(c, f, a->base, row->base) &&
			    is(c, f, a->value, row->value))
				candidates__add(&set, (uint64_t)a->disp);
		}
		calibration__vote(c, row->member, &set, row->weight == PROOF);
	}
}

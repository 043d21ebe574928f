// SPDX-License-Identifier: GPL-2.0
/*
 * The places in the runtime's code that tell where members and globals are.
 *
 * Third step of calibration, after calibrate_flow.c: which functions to look at, and what takes
 * more than one access to be recognised (the rest is in calibrate_shape.c's table). Each function
 * here quotes the lines of Go's source that it looks for.
 */
#include <string.h>

#include "target/calibrate_places.h"

/* Where the function loads a register from memory. */
static bool loads(const struct flow *f, const struct access *a, enum gpr reg)
{
	const struct step *s = &f->steps.step[a->step];

	return a->op == ACCESS_READ && a->width == 8 && !a->index && a->disp >= 0 &&
	       s->kind == STEP_MOVE && s->op[0].kind == OPERAND_REG && s->op[0].reg == reg;
}

/* RBX points to the gobuf: RSP and RBP come from it, and where it jumps to. */
static void look_at_gogo(struct calibration *c, const struct flow *f)
{
	struct candidates sp = { .n = 0 }, bp = { .n = 0 }, pc = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		value_id base;
		uint64_t disp;

		if (loads(f, a, GPR_SP) && shape__is_entry(f, a->base, GPR_BX))
			candidates__add(&sp, (uint64_t)a->disp);
		if (loads(f, a, GPR_BP) && shape__is_entry(f, a->base, GPR_BX))
			candidates__add(&bp, (uint64_t)a->disp);
		if (a->op == ACCESS_JUMP && shape__is_load(f, a->value, &base, &disp) &&
		    shape__is_entry(f, base, GPR_BX))
			candidates__add(&pc, disp);
	}
	calibration__vote(c, OFF_GOBUF_SP, &sp, true);
	calibration__vote(c, OFF_GOBUF_BP, &bp, true);
	calibration__vote(c, OFF_GOBUF_PC, &pc, true);
}

/* g.sched + gobuf.`part` is at one of `sums`. */
static void vote_sched(struct calibration *c, const struct candidates *sums, unsigned int part)
{
	struct candidates set = { .many = sums->many };
	uint64_t known;

	if (!calibration__known(c, part, &known))
		return;
	for (size_t i = 0; i < sums->n; i++) {
		if (sums->v[i] >= known)
			candidates__add(&set, sums->v[i] - known);
	}
	calibration__vote(c, OFF_G_SCHED, &set, true);
}

/* RSP is loaded from another goroutine's sched.sp: through which members did it get there? */
static void vote_switch(struct calibration *c, const struct flow *f, unsigned int other,
			unsigned int but)
{
	struct candidates g_m = { .n = 0 }, to = { .n = 0 }, sp = { .n = 0 };
	uint64_t not = UINT64_MAX;

	if (but < BALLOTS && !calibration__known(c, but, &not))
		return;
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t m_at, to_at;
		value_id m, g;

		if (!loads(f, a, GPR_SP) || !shape__is_load(f, a->base, &m, &to_at) ||
		    !shape__is_load(f, m, &g, &m_at) || value(f, g)->kind != VALUE_G ||
		    to_at == not)
			continue;
		candidates__add(&sp, (uint64_t)a->disp);
		candidates__add(&g_m, m_at);
		candidates__add(&to, to_at);
	}
	vote_sched(c, &sp, OFF_GOBUF_SP);
	calibration__vote(c, OFF_G_M, &g_m, true);
	calibration__vote(c, other, &to, true);
}

/* Saves its caller's sp, pc and bp in g.sched, and goes on with m.g0's. */
static void look_at_mcall(struct calibration *c, const struct flow *f)
{
	struct candidates sp = { .n = 0 }, bp = { .n = 0 }, pc = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);

		if (!shape__is_write(a, 8) || value(f, a->base)->kind != VALUE_G)
			continue;
		if (v->kind == VALUE_STACK && v->k == 8)
			candidates__add(&sp, (uint64_t)a->disp);
		if (shape__is_entry(f, a->value, ENTRY_RETURN))
			candidates__add(&pc, (uint64_t)a->disp);
		if (shape__is_entry(f, a->value, GPR_BP))
			candidates__add(&bp, (uint64_t)a->disp);
	}
	vote_sched(c, &sp, OFF_GOBUF_SP);
	vote_sched(c, &pc, OFF_GOBUF_PC);
	vote_sched(c, &bp, OFF_GOBUF_BP);
	vote_switch(c, f, OFF_M_G0, BALLOTS);
}

/* To m.g0's stack, as mcall, and back to that of m.curg. */
static void look_at_systemstack(struct calibration *c, const struct flow *f)
{
	vote_switch(c, f, OFF_M_CURG, OFF_M_G0);
}

/*
 * stack.lo and .hi are found as parts of g. That the first is at 0 settles g.stack and stack.lo,
 * neither of which can be less.
 */
static void vote_stack(struct calibration *c, const struct candidates *lo)
{
	calibration__vote(c, OFF_STACK_LO, lo, true);
	if (lo->n == 1 && !lo->v[0])
		calibration__vote_one(c, OFF_G_STACK, 0);
}

/* gp.stackguard0 = gp.stack.lo + stackGuard */
static void look_at_execute(struct calibration *c, const struct flow *f)
{
	struct candidates lo = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);
		uint64_t disp;
		value_id base;

		if (shape__is_write(a, 8) && shape__is_entry(f, a->base, GPR_AX) &&
		    v->kind == VALUE_ADD && v->k > 0 && shape__is_load(f, v->base, &base, &disp) &&
		    base == a->base)
			candidates__add(&lo, disp);
	}
	if (lo.n == 1 && !lo.v[0])
		vote_stack(c, &lo);
}

/*
 * The first stack: g0.stack.hi = rsp; g0.stack.lo, .stackguard0 and .stackguard1 = rsp - 64 K. Only
 * with the first of these at 0 is the base register known to point to g0's begin.
 */
static void look_at_rt0_go(struct calibration *c, const struct flow *f)
{
	struct candidates hi = { .n = 0 };
	uint64_t stack;

	if (!calibration__known(c, OFF_G_STACK, &stack) || stack)
		return;
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct operand *from = &f->steps.step[a->step].op[1];

		if (!shape__is_write(a, 8) || !shape__is_global(f, a->base) ||
		    from->kind != OPERAND_REG || from->reg != GPR_SP)
			continue;
		for (size_t j = 0; j < f->n; j++) {
			const struct access *b = &f->access[j];
			const struct value *v = value(f, b->value);

			if (shape__is_write(b, 8) && b->base == a->base && !b->disp &&
			    v->kind == VALUE_ADD && v->base == a->value && v->k < 0)
				candidates__add(&hi, (uint64_t)a->disp);
		}
	}
	calibration__vote(c, OFF_STACK_HI, &hi, true);
}

/* newg.goid = pp.goidcache; …; pp.goidcache++ */
static bool is_goid(const struct flow *f, const struct access *a)
{
	value_id pp;
	uint64_t cache;

	if (!shape__is_write(a, 8) || !shape__is_load(f, a->value, &pp, &cache) || pp == a->base)
		return false;
	for (size_t i = 0; i < f->n; i++) {
		const struct access *b = &f->access[i];
		const struct value *v = value(f, b->value);

		if (shape__is_write(b, 8) && b->base == pp && b->disp == (int64_t)cache &&
		    v->kind == VALUE_ADD && v->k == 1 && v->base == a->value)
			return true;
	}
	return false;
}

/* newg.sched.sp = newg.stack.hi - totalSize */
static void vote_stack_hi(struct calibration *c, const struct flow *f, value_id newg)
{
	struct candidates hi = { .n = 0 };
	uint64_t sched, sp, disp, stack;
	value_id base;

	if (!calibration__known(c, OFF_G_SCHED, &sched) ||
	    !calibration__known(c, OFF_GOBUF_SP, &sp) ||
	    !calibration__known(c, OFF_G_STACK, &stack))
		return;
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);

		if (shape__is_write(a, 8) && a->base == newg && (uint64_t)a->disp == sched + sp &&
		    v->kind == VALUE_ADD && v->k < 0 && shape__is_load(f, v->base, &base, &disp) &&
		    base == newg && disp >= stack)
			candidates__add(&hi, disp - stack);
	}
	calibration__vote(c, OFF_STACK_HI, &hi, true);
}

/* newg.parentGoid = callergp.goid; newg.startpc = fn.fn (also in newg.sched.pc or .ctxt) */
static void vote_origin(struct calibration *c, const struct flow *f, value_id newg)
{
	struct candidates parent = { .n = 0 }, start = { .n = 0 };
	uint64_t goid, sched, bp, disp;
	value_id base;

	if (!calibration__known(c, OFF_G_GOID, &goid) ||
	    !calibration__known(c, OFF_G_SCHED, &sched) ||
	    !calibration__known(c, OFF_GOBUF_BP, &bp))
		return;
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (!shape__is_write(a, 8) || a->base != newg ||
		    !shape__is_load(f, a->value, &base, &disp))
			continue;
		if (shape__is_entry(f, base, GPR_BX) && disp == goid)
			candidates__add(&parent, (uint64_t)a->disp);
		if (shape__is_entry(f, base, GPR_AX) && !disp &&
		    ((uint64_t)a->disp < sched || (uint64_t)a->disp > sched + bp))
			candidates__add(&start, (uint64_t)a->disp);
	}
	if (c->minor >= 21)
		calibration__vote(c, OFF_G_PARENT_GOID, &parent, true);
	calibration__vote(c, OFF_G_STARTPC, &start, true);
}

static void look_at_newproc1(struct calibration *c, const struct flow *f)
{
	struct candidates goid = { .n = 0 };
	value_id newg = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (is_goid(f, &f->access[i])) {
			candidates__add(&goid, (uint64_t)f->access[i].disp);
			newg = f->access[i].base;
		}
	}
	calibration__vote(c, OFF_G_GOID, &goid, true);
	if (goid.n != 1)
		return;
	vote_stack_hi(c, f, newg);
	vote_origin(c, f, newg);
}

/* gp.goid = sched.goidgen.Add(1) */
static void look_at_one_new_extra_m(struct calibration *c, const struct flow *f)
{
	struct candidates goid = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);

		if (shape__is_write(a, 8) && !shape__is_global(f, a->base) &&
		    v->kind == VALUE_ADD && v->k == 1 &&
		    value(f, v->base)->kind == VALUE_BEFORE_ADD &&
		    shape__is_global(f, value(f, v->base)->base))
			candidates__add(&goid, (uint64_t)a->disp);
	}
	calibration__vote(c, OFF_G_GOID, &goid, true);
}

/* getg().m.procid = uint64(gettid()) */
static void look_at_minit(struct calibration *c, const struct flow *f)
{
	struct candidates procid = { .n = 0 };
	bool gettid = false;

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (a->op == ACCESS_CALL)
			gettid = a->callee && !strcmp(a->callee, "runtime.gettid");
		if (gettid && shape__is_write(a, 8) && shape__is_m(c, f, a->base))
			candidates__add(&procid, (uint64_t)a->disp);
	}
	calibration__vote(c, OFF_M_PROCID, &procid, true);
}

/* gp.m.oldp.set(pp), where pp is gp.m.p */
static void look_at_reentersyscall(struct calibration *c, const struct flow *f)
{
	struct candidates oldp = { .n = 0 };
	value_id m;

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (shape__is_write(a, 8) && shape__is_m(c, f, a->base) &&
		    shape__is_member(c, f, a->value, OFF_M_P, &m) && m == a->base)
			candidates__add(&oldp, (uint64_t)a->disp);
	}
	calibration__vote(c, OFF_M_OLDP, &oldp, true);
}

const struct place calibrate_places[PLACES_MAX] = {
	{ "gogo", look_at_gogo },
	{ "runtime.mcall", look_at_mcall },
	{ "runtime.systemstack", look_at_systemstack },
	{ "runtime.execute", look_at_execute },
	{ "runtime.rt0_go", look_at_rt0_go },
	{ "runtime.wirep", NULL },
	{ "runtime.releasep", NULL },
	{ "runtime.releasepNoTrace", NULL },
	{ "runtime.(*p).init", NULL },
	{ "runtime.procPin", NULL },
	{ "sync.runtime_procPin", NULL },
	{ "sync/atomic.runtime_procPin", NULL },
	{ "runtime.casgstatus", NULL },
	{ "runtime.castogscanstatus", NULL },
	{ "runtime.casfrom_Gscanstatus", NULL },
	{ "runtime.gopark", NULL },
	{ "runtime.casGToWaiting", NULL },
	{ "runtime.newproc1", look_at_newproc1 },
	{ "runtime.newproc.func1", look_at_newproc1 },
	{ "runtime.oneNewExtraM", look_at_one_new_extra_m },
	{ "runtime.minit", look_at_minit },
	{ "runtime.signalM", NULL },
	{ "runtime.reentersyscall", look_at_reentersyscall },
	{ "runtime.entersyscall", look_at_reentersyscall }, /* that one inlined */
	{ "runtime.exitsyscall", NULL },
	{ "runtime.mcommoninit", calibrate_globals__mcommoninit },
	{ "runtime.newstack", NULL },
	{ "runtime.(*gcControllerState).findRunnableGCWorker", NULL },
	{ "runtime.(*gcControllerState).assignWaitingGCWorker", NULL },
	{ "runtime.findRunnable", NULL },
	{ "runtime.gcBgMarkWorker", NULL },
	{ "runtime.coroswitch", NULL },
	{ "runtime.coroexit", NULL },
	{ "runtime.coroswitch_m", NULL },
	{ "runtime.allgadd", calibrate_globals__allgadd },
	{ "runtime.forEachG", calibrate_globals__for_each_g },
	{ "runtime.atomicAllG", calibrate_globals__atomic_all_g },
	{ "runtime.forEachGRace", calibrate_globals__atomic_all_g },
	{ "runtime.procresize", calibrate_globals__procresize },
	{ "runtime.flushmcache", calibrate_globals__flushmcache },
	{ "runtime.GOMAXPROCS", calibrate_globals__gomaxprocs },
	{ NULL, NULL },
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Infers struct members from code of the runtime where one access does not suffice.
 *
 * Third step of inference. Upstream: calibrate_flow.c. Downstream: calibrate.c, by the table in
 * calibrate_shape.c, which handles what a single access reveals. Each function here quotes the
 * lines of Go's source that it recognizes.
 */
#include <string.h>

#include "target/infer/calibrate_places.h"

/* Whether the access loads 8 bytes into register `reg`. */
static bool loads(const struct flow *f, const struct access *a, enum gpr reg)
{
	const struct step *s = &f->steps.step[a->step];

	return a->op == ACCESS_READ && a->width == 8 && !a->index && a->disp >= 0 &&
	       s->kind == STEP_MOVE && s->op[0].kind == OPERAND_REG && s->op[0].reg == reg;
}

/* gogo loads stack pointer, frame pointer and jump target from the gobuf. */
void calibrate_places__gogo(struct calibration *c, const struct flow *f)
{
	struct candidates sp = { .n = 0 }, bp = { .n = 0 }, pc = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		value_id base;
		uint64_t disp;

		if (loads(f, a, GPR_SP) && shape__is_entry(f, a->base, GPR_GOBUF))
			candidates__add(&sp, (uint64_t)a->disp);
		if (loads(f, a, GPR_FP) && shape__is_entry(f, a->base, GPR_GOBUF))
			candidates__add(&bp, (uint64_t)a->disp);
		if (a->op == ACCESS_JUMP && shape__is_load(f, a->value, &base, &disp) &&
		    shape__is_entry(f, base, GPR_GOBUF))
			candidates__add(&pc, disp);
	}
	calibration__add(c, OFF_GOBUF_SP, &sp, true);
	calibration__add(c, OFF_GOBUF_BP, &bp, true);
	calibration__add(c, OFF_GOBUF_PC, &pc, true);
}

/* g.sched + gobuf.`part` is one of `sums`. */
static void infer_sched(struct calibration *c, const struct candidates *sums, unsigned int part)
{
	struct candidates set = { .many = sums->many };
	uint64_t known;

	if (!calibration__known(c, part, &known))
		return;
	for (size_t i = 0; i < sums->n; i++) {
		if (sums->v[i] >= known)
			candidates__add(&set, sums->v[i] - known);
	}
	calibration__add(c, OFF_G_SCHED, &set, true);
}

/* Finds the members on the path by which the stack pointer is loaded from another g's sched.sp. */
static void infer_switch(struct calibration *c, const struct flow *f, unsigned int other,
			 unsigned int but)
{
	struct candidates g_m = { .n = 0 }, to = { .n = 0 }, sp = { .n = 0 };
	uint64_t not = UINT64_MAX;

	if (but < INFERRED_COUNT && !calibration__known(c, but, &not))
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
	infer_sched(c, &sp, OFF_GOBUF_SP);
	calibration__add(c, OFF_G_M, &g_m, true);
	calibration__add(c, other, &to, true);
}

/* Saves its caller's sp, pc and bp in g.sched, and continues with m.g0's. */
void calibrate_places__mcall(struct calibration *c, const struct flow *f)
{
	struct candidates sp = { .n = 0 }, bp = { .n = 0 }, pc = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);

		if (!shape__is_write(a, 8) || value(f, a->base)->kind != VALUE_G)
			continue;
		if (v->kind == VALUE_STACK && v->k == ARCH_CALL_PUSHES)
			candidates__add(&sp, (uint64_t)a->disp);
		if (shape__is_entry(f, a->value, ENTRY_RETURN))
			candidates__add(&pc, (uint64_t)a->disp);
		if (shape__is_entry(f, a->value, GPR_FP))
			candidates__add(&bp, (uint64_t)a->disp);
	}
	infer_sched(c, &sp, OFF_GOBUF_SP);
	infer_sched(c, &pc, OFF_GOBUF_PC);
	infer_sched(c, &bp, OFF_GOBUF_BP);
	infer_switch(c, f, OFF_M_G0, INFERRED_COUNT);
}

/* Switches to m.g0's stack, like mcall, and back to that of m.curg. */
void calibrate_places__systemstack(struct calibration *c, const struct flow *f)
{
	infer_switch(c, f, OFF_M_CURG, OFF_M_G0);
}

/*
 * stack.lo and stack.hi are found as members of g. If the first one is at 0, both g.stack and
 * stack.lo are 0, as neither can be negative.
 */
static void infer_stack(struct calibration *c, const struct candidates *lo)
{
	calibration__add(c, OFF_STACK_LO, lo, true);
	if (lo->n == 1 && !lo->v[0])
		calibration__add_proof(c, OFF_G_STACK, 0);
}

/* gp.stackguard0 = gp.stack.lo + stackGuard */
void calibrate_places__execute(struct calibration *c, const struct flow *f)
{
	struct candidates lo = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		const struct value *v = value(f, a->value);
		uint64_t disp;
		value_id base;

		if (shape__is_write(a, 8) && shape__is_entry(f, a->base, GPR_ARG1) &&
		    v->kind == VALUE_ADD && v->k > 0 && shape__is_load(f, v->base, &base, &disp) &&
		    base == a->base)
			candidates__add(&lo, disp);
	}
	if (lo.n == 1 && !lo.v[0])
		infer_stack(c, &lo);
}

/*
 * The first stack: g0.stack.hi = SP; g0.stack.lo, .stackguard0 and .stackguard1 = SP - 64 K. The
 * base register is known to be the start of g0 only if the first of these is at 0.
 */
void calibrate_places__rt0_go(struct calibration *c, const struct flow *f)
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
	calibration__add(c, OFF_STACK_HI, &hi, true);
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
static void infer_stack_hi(struct calibration *c, const struct flow *f, value_id newg)
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
	calibration__add(c, OFF_STACK_HI, &hi, true);
}

/* newg.parentGoid = callergp.goid; newg.startpc = fn.fn (also in newg.sched.pc or .ctxt) */
static void infer_origin(struct calibration *c, const struct flow *f, value_id newg)
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
		if (shape__is_entry(f, base, GPR_ARG2) && disp == goid)
			candidates__add(&parent, (uint64_t)a->disp);
		if (shape__is_entry(f, base, GPR_ARG1) && !disp &&
		    ((uint64_t)a->disp < sched || (uint64_t)a->disp > sched + bp))
			candidates__add(&start, (uint64_t)a->disp);
	}
	if (c->minor >= 21)
		calibration__add(c, OFF_G_PARENT_GOID, &parent, true);
	calibration__add(c, OFF_G_STARTPC, &start, true);
}

void calibrate_places__newproc1(struct calibration *c, const struct flow *f)
{
	struct candidates goid = { .n = 0 };
	value_id newg = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (is_goid(f, &f->access[i])) {
			candidates__add(&goid, (uint64_t)f->access[i].disp);
			newg = f->access[i].base;
		}
	}
	calibration__add(c, OFF_G_GOID, &goid, true);
	if (goid.n != 1)
		return;
	infer_stack_hi(c, f, newg);
	infer_origin(c, f, newg);
}

/* getg().m.procid = uint64(gettid()) */
void calibrate_places__minit(struct calibration *c, const struct flow *f)
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
	calibration__add(c, OFF_M_PROCID, &procid, true);
}

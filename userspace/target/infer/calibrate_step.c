// SPDX-License-Identifier: GPL-2.0
/*
 * Abstract interpretation of one instruction: values in registers, stack slots and memory.
 *
 * Second step of inference, called by calibrate_flow.c for each instruction on each path. Values
 * spilled to the stack are followed; a slot whose address is taken has no known value. An
 * instruction that is not understood produces a value that is equal to no other.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/infer/calibrate_run.h"

#define ARGS_MAX     128 /* bytes assumed for a callee of unknown argument size */
#define ACCESSES_MAX (1u << 16)

static bool has_prefix(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool has_suffix(const char *s, const char *with)
{
	size_t n = strlen(s), m = strlen(with);

	return n >= m && !strcmp(s + n - m, with);
}

const char *run__callee(const struct run *r, const struct step *s, struct go_func *ret)
{
	return s->target && pclntab__find(r->f->pt, s->target, ret) ? ret->name : NULL;
}

static value_id opaque(struct run *r, const struct step *s, unsigned int reg)
{
	return values__get(&r->f->values, VALUE_OPAQUE, (value_id)(s - r->f->steps.step) + 1, reg,
			   0);
}

static void record(struct run *r, const struct step *s, struct access a)
{
	struct flow *f = r->f;

	if (!r->record)
		return;
	if (f->n == ACCESSES_MAX || array__grow(&f->access, f->n, &f->cap, sizeof(*f->access))) {
		r->failed = true;
		return;
	}
	a.step = (uint32_t)(s - f->steps.step);
	f->access[f->n++] = a;
}

/* The stack */

static void forget_slots(struct run *r, int64_t from, int64_t bytes)
{
	for (size_t i = 0; i < r->nslot; i++) {
		if (r->slot[i].offset < from + bytes && r->slot[i].offset + r->slot[i].width > from)
			r->loc[NREG + i] = 0;
	}
}

static void forget_all_slots(struct run *r)
{
	memset(r->loc + NREG, 0, SLOTS_MAX * sizeof(r->loc[0]));
}

static struct slot *find_slot(struct run *r, int64_t offset, bool make, unsigned int width)
{
	for (size_t i = 0; i < r->nslot; i++) {
		if (r->slot[i].offset == offset && (r->slot[i].width == width || !make))
			return &r->slot[i];
	}
	if (!make || r->nslot == SLOTS_MAX)
		return NULL;
	r->slot[r->nslot] = (struct slot){ offset, (uint8_t)width, false };
	return &r->slot[r->nslot++];
}

static void store_slot(struct run *r, int64_t offset, unsigned int width, value_id value)
{
	struct slot *slot;

	forget_slots(r, offset, width);
	if (width > 8)
		return;
	slot = find_slot(r, offset, true, width);
	if (slot && !slot->escaped)
		r->loc[NREG + (slot - r->slot)] = value;
}

static value_id load_slot(struct run *r, const struct step *s, int64_t offset, unsigned int width)
{
	for (size_t i = 0; i < r->nslot; i++) {
		if (r->slot[i].offset == offset && r->slot[i].width >= width && r->loc[NREG + i])
			return r->loc[NREG + i];
	}
	return opaque(r, s, NREG);
}

/* Marks a slot in all runs: its content may change through a pointer. */
static void escape(struct run *r, int64_t offset)
{
	bool known = false;

	for (size_t i = 0; i < r->nslot; i++) {
		if (r->slot[i].offset != offset)
			continue;
		r->escapes |= !r->slot[i].escaped;
		r->slot[i].escaped = true;
		r->loc[NREG + i] = 0;
		known |= r->slot[i].width == 8;
	}
	if (!known) {
		struct slot *slot = find_slot(r, offset, true, 8);

		if (slot)
			slot->escaped = true;
	}
}

/* Operands */

static struct access address(struct run *r, const struct operand *o)
{
	struct access a = { .width = o->width, .disp = o->value };
	const struct value *v;

	if (o->absolute) {
		a.base = values__get(&r->f->values, VALUE_GLOBAL, 0, o->value, 0);
		a.disp = 0;
	} else if (o->reg != GPR_NONE) {
		a.base = r->loc[o->reg];
	} else {
		a.base = values__get(&r->f->values, VALUE_CONST, 0, 0, 0);
	}
	if (o->index != GPR_NONE) {
		a.index = r->loc[o->index];
		a.scale = o->scale;
	}
	v = value__of(&r->f->values, a.base);
	if (v->kind == VALUE_ADD) {
		a.disp = (int64_t)((uint64_t)a.disp + (uint64_t)v->k);
		a.base = v->base;
	}
	return a;
}

static bool on_stack(const struct run *r, const struct access *a, int64_t *ret)
{
	const struct value *v = value__of(&r->f->values, a->base);

	if (v->kind != VALUE_STACK || a->index)
		return false;
	*ret = (int64_t)((uint64_t)v->k + (uint64_t)a->disp);
	return *ret > -(1 << 20) && *ret < 1 << 20;
}

static value_id read_memory(struct run *r, const struct step *s, const struct operand *o)
{
	struct access a = address(r, o);
	int64_t offset;

	if (o->tls)
		return values__get(&r->f->values, VALUE_G, 0, 0, 0);
	if (on_stack(r, &a, &offset))
		return load_slot(r, s, offset, o->width);
	a.value =
		a.index ? opaque(r, s, NREG) : values__load(&r->f->values, a.base, a.disp, a.width);
	a.op = ACCESS_READ;
	record(r, s, a);
	return a.value;
}

static void write_memory(struct run *r, const struct step *s, const struct operand *o,
			 enum access_op op, value_id value)
{
	struct access a = address(r, o);
	int64_t offset;

	if (o->tls) {
		a.base = values__get(&r->f->values, VALUE_G, 0, 0, 0);
		a.disp = -1;
		a.index = 0;
	} else if (on_stack(r, &a, &offset)) {
		store_slot(r, offset, o->width, value);
		return;
	} else if (value__of(&r->f->values, a.base)->kind == VALUE_STACK) {
		forget_all_slots(r); /* at an unknown index of an array */
	}
	a.op = (uint8_t)op;
	a.value = value;
	record(r, s, a);
}

static value_id load(struct run *r, const struct step *s, const struct operand *o)
{
	switch (o->kind) {
	case OPERAND_IMM:
		return values__get(&r->f->values, VALUE_CONST, 0, o->value, 0);
	case OPERAND_MEM:
		return read_memory(r, s, o);
	case OPERAND_REG:
		return o->reg == GPR_NONE || o->high ? opaque(r, s, NREG) : r->loc[o->reg];
	default:
		return opaque(r, s, NREG);
	}
}

static void store(struct run *r, const struct step *s, const struct operand *o, value_id value)
{
	if (o->kind == OPERAND_MEM)
		write_memory(r, s, o, ACCESS_WRITE, value);
	else if (o->kind == OPERAND_REG &&
		 o->reg != GPR_NONE) /* otherwise the other bytes remain */
		r->loc[o->reg] = o->width >= 4 ? value : opaque(r, s, o->reg);
}

/* Calls */

/* Applies small functions that builds without inlining call. True if it has a result. */
static bool follow_helper(struct run *r, const struct step *s, const char *name)
{
	static const struct {
		const char *name;
		enum access_op op;
		uint8_t width;
	} stores[] = {
		{ "atomic.(*Uint32).CompareAndSwap", ACCESS_CAS, 4 },
		{ "atomic.(*Uint64).Add", ACCESS_ADD, 8 },
		{ "atomic.Xadd64", ACCESS_ADD, 8 },
		{ "atomic.Storeuintptr", ACCESS_SWAP, 8 },
		{ "atomic.Store", ACCESS_SWAP, 4 },
		{ "runtime.atomicstorep", ACCESS_SWAP, 8 },
		{ "runtime.(*guintptr).cas", ACCESS_CAS, 8 },
		{ "runtime.(*guintptr).set", ACCESS_WRITE, 8 },
		{ "runtime.(*puintptr).set", ACCESS_WRITE, 8 },
		{ "runtime.(*muintptr).set", ACCESS_WRITE, 8 },
	};
	struct operand at = { .kind = OPERAND_MEM, .reg = GPR_ARG1, .index = GPR_NONE };
	struct access where;
	value_id g;

	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		if (!has_suffix(name, stores[i].name))
			continue;
		at.width = stores[i].width;
		where = address(r, &at);
		write_memory(r, s, &at, stores[i].op, r->loc[GPR_ARG2]);
		if (stores[i].op == ACCESS_ADD) {
			g = values__get(&r->f->values, VALUE_BEFORE_ADD, where.base, where.disp, 0);
			r->loc[GPR_ARG1] = values__add(&r->f->values, g, 1);
		}
		return stores[i].op == ACCESS_ADD;
	}
	if (!strcmp(name, "runtime.acquirem") && r->f->g_m >= 0) {
		g = values__get(&r->f->values, VALUE_G, 0, 0, 0);
		r->loc[GPR_ARG1] = values__load(&r->f->values, g, r->f->g_m, 8);
		return true;
	}
	return !strcmp(name, "runtime.guintptr.ptr") || !strcmp(name, "runtime.muintptr.ptr") ||
	       !strcmp(name, "runtime.puintptr.ptr");
}

/* Registers of `set` get unknown values. */
static void clobber(struct run *r, const struct step *s, uint32_t set)
{
	for (unsigned int i = 0; i < NREG; i++) {
		if (set & 1u << i)
			r->loc[i] = opaque(r, s, i);
	}
}

/* True for callees that preserve registers, contrary to the calling convention. */
static bool special_call(struct run *r, const struct step *s, const char *name)
{
	static const char barrier[] = "runtime.gcWriteBarrier";
	const struct operand to = {
		.kind = OPERAND_MEM, .reg = GPR_BARRIER_TO, .index = GPR_NONE, .width = 8
	};

	if (has_prefix(name, barrier)) {
		enum gpr value = arch__barrier_value(name + strlen(barrier));

		if (value != GPR_NONE)
			write_memory(r, s, &to, ACCESS_WRITE, r->loc[value]);
		clobber(r, s, BARRIER_CLOBBERS);
		return true;
	}
	if (!strcmp(name, "runtime.duffzero") || !strcmp(name, "runtime.duffcopy")) {
		forget_all_slots(r);
		clobber(r, s, DUFF_CLOBBERS);
		return true;
	}
	return false;
}

static void call(struct run *r, const struct step *s)
{
	const struct value *sp = value__of(&r->f->values, r->loc[GPR_SP]);
	struct go_func to;
	const char *name = run__callee(r, s, &to);
	int64_t args = name && to.args >= 0 && to.args < ARGS_MAX ? to.args : ARGS_MAX;
	bool has_result;

	record(r, s,
	       (struct access){ .op = ACCESS_CALL,
				.callee = name,
				.value = r->loc[GPR_ARG1],
				.other = r->loc[GPR_ARG2] });
	if (!s->target)
		load(r, s, &s->op[0]);
	if (name && special_call(r, s, name))
		return;
	has_result = name && follow_helper(r, s, name);
	clobber(r, s, ~(1u << GPR_SP | 1u << GPR_FP | 1u << GPR_G | has_result << GPR_ARG1));
	r->loc[GPR_G] = values__get(&r->f->values, VALUE_G, 0, 0, 0);
	/* Its arguments end below the saved frame pointer and return address of our caller. */
	if (sp->kind != VALUE_STACK)
		forget_all_slots(r);
	else if (sp->k < -8)
		forget_slots(r, sp->k, args < -8 - sp->k ? args : -8 - sp->k);
}

/* Instructions */

static void lea(struct run *r, const struct step *s)
{
	struct access a = address(r, &s->op[1]);
	value_id v = a.index ? opaque(r, s, NREG) : values__add(&r->f->values, a.base, a.disp);
	const struct value *of = value__of(&r->f->values, v);

	if (of->kind == VALUE_STACK && s->op[0].reg != GPR_SP && s->op[0].reg != GPR_FP)
		escape(r, of->k);
	store(r, s, &s->op[0], v);
}

static void swap(struct run *r, const struct step *s)
{
	const struct operand *to = &s->op[0], *from = &s->op[1];
	value_id value, old;

	if (to->kind == OPERAND_REG && from->kind == OPERAND_MEM) {
		to = &s->op[1];
		from = &s->op[0];
	}
	value = load(r, s, from);
	old = to->kind == OPERAND_REG ? load(r, s, to) : opaque(r, s, NREG);
	if (s->kind == STEP_XADD && to->kind == OPERAND_MEM) {
		struct access a = address(r, to);

		old = values__get(&r->f->values, VALUE_BEFORE_ADD, a.base, a.disp, 0);
		write_memory(r, s, to, ACCESS_ADD, value);
	} else if (to->kind == OPERAND_MEM) {
		write_memory(r, s, to, ACCESS_SWAP, value);
	} else {
		store(r, s, to, s->kind == STEP_XADD ? opaque(r, s, NREG + 1) : value);
	}
	store(r, s, from, old);
}

static void push_or_pop(struct run *r, const struct step *s)
{
	const struct value sp = *value__of(&r->f->values, r->loc[GPR_SP]);
	bool push = s->kind == STEP_PUSH;
	value_id value = push ? load(r, s, &s->op[0]) : opaque(r, s, NREG);

	if (sp.kind == VALUE_STACK && !push)
		value = load_slot(r, s, sp.k, 8);
	r->loc[GPR_SP] = values__add(&r->f->values, r->loc[GPR_SP], push ? -8 : 8);
	if (!push)
		store(r, s, &s->op[0], value);
	else if (sp.kind == VALUE_STACK)
		store_slot(r, sp.k - 8, 8, value);
}

static void compare(struct run *r, const struct step *s)
{
	value_id a = load(r, s, &s->op[0]), b = load(r, s, &s->op[1]);

	record(r, s,
	       (struct access){
		       .op = ACCESS_COMPARE, .width = s->op[0].width, .value = a, .other = b });
}

static void interpret_other(struct run *r, const struct step *s)
{
	for (size_t i = 0; i < 3; i++) {
		if (s->op[i].kind != OPERAND_MEM)
			continue;
		if (s->op[i].read)
			read_memory(r, s, &s->op[i]);
		if (s->op[i].written)
			write_memory(r, s, &s->op[i], ACCESS_WRITE, opaque(r, s, NREG));
	}
	if (s->scatters)
		forget_all_slots(r);
	clobber(r, s, s->writes);
}

void run__step(struct run *r, const struct step *s)
{
	switch (s->kind) {
	case STEP_MOVE:
		store(r, s, &s->op[0], load(r, s, &s->op[1]));
		break;
	case STEP_ADD:
		store(r, s, &s->op[0],
		      values__add(&r->f->values, load(r, s, &s->op[0]), s->op[1].value));
		break;
	case STEP_ZERO:
		store(r, s, &s->op[0], values__get(&r->f->values, VALUE_CONST, 0, 0, 0));
		break;
	case STEP_LEA:
		lea(r, s);
		break;
	case STEP_COMPARE:
		compare(r, s);
		break;
	case STEP_XCHG:
	case STEP_XADD:
		swap(r, s);
		break;
	case STEP_CMPXCHG:
		if (s->op[0].kind == OPERAND_MEM)
			write_memory(r, s, &s->op[0], ACCESS_CAS, opaque(r, s, NREG));
		else
			store(r, s, &s->op[0], opaque(r, s, NREG));
		r->loc[GPR_CAS_OLD] = opaque(r, s, GPR_CAS_OLD);
		break;
	case STEP_PUSH:
	case STEP_POP:
		push_or_pop(r, s);
		break;
	case STEP_CALL:
		call(r, s);
		break;
	case STEP_JMP:
		if (!s->target)
			record(r, s,
			       (struct access){ .op = ACCESS_JUMP,
						.value = load(r, s, &s->op[0]) });
		break;
	case STEP_JCC:
	case STEP_RET:
	case STEP_TRAP:
		break;
	default:
		interpret_other(r, s);
	}
}

void run__enter(struct run *r)
{
	struct values *vs = &r->f->values;

	memset(r->loc, 0, sizeof(r->loc));
	for (unsigned int i = 0; i < NREG; i++)
		r->loc[i] = values__get(vs, VALUE_ENTRY, 0, i, 0);
	r->loc[GPR_SP] = values__get(vs, VALUE_STACK, 0, 0, 0);
	r->loc[GPR_G] = values__get(vs, VALUE_G, 0, 0, 0);
	store_slot(r, 0, ARCH_CALL_PUSHES, values__get(vs, VALUE_ENTRY, 0, ENTRY_RETURN, 0));
}

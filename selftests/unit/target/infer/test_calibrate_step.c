// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of target/infer/calibrate_step.c: no value may be known after an instruction overwrote it.
 */
#include "unit/test.h"
#include "target/infer/calibrate_run.h"

#define REG(r)	   { .kind = OPERAND_REG, .width = 8, .reg = (r) }
#define IMM(v)	   { .kind = OPERAND_IMM, .width = 8, .value = (v) }
#define MEM(r, at) { .kind = OPERAND_MEM, .width = 8, .reg = (r), .index = GPR_NONE, .value = (at) }

static struct flow flow;
static struct run run;

static void begin(void)
{
	memset(&flow, 0, sizeof(flow));
	memset(&run, 0, sizeof(run));
	run.f = &flow;
	run.record = true;
	assert_true(values__init(&flow.values));
	run__enter(&run);
}

static void end(void)
{
	values__deinit(&flow.values);
	free(flow.access);
}

FIXTURE(begin, end)

static void apply(const struct step *step, size_t n)
{
	flow.steps.step = (struct step *)step;
	flow.steps.n = n;
	for (size_t i = 0; i < n; i++)
		run__step(&run, &step[i]);
}

#define APPLY(...)                                                                                 \
	apply((const struct step[]){ __VA_ARGS__ },                                                \
	      sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static const struct value *value_in(enum gpr reg)
{
	return value__of(&flow.values, run.loc[reg]);
}

static bool is_entry(enum gpr reg, enum gpr of)
{
	return value_in(reg)->kind == VALUE_ENTRY && value_in(reg)->k == of;
}

/* Pushed values are popped again, and the stack pointer is restored. */
TEST(push_and_pop)
{
	APPLY({ .kind = STEP_PUSH, .op = { REG(GPR_BX) } });
	assert_int_equal(value_in(GPR_SP)->kind, VALUE_STACK);
	assert_int_equal(value_in(GPR_SP)->k, -8);
	APPLY({ .kind = STEP_POP, .op = { REG(GPR_CX) } });
	assert_int_equal(value_in(GPR_SP)->k, 0);
	assert_true(is_entry(GPR_CX, GPR_BX));
	APPLY({ .kind = STEP_POP, .op = { REG(GPR_CX) } }); /* the return address */
	assert_int_equal(value_in(GPR_CX)->k, ENTRY_RETURN);
	assert_int_equal(value_in(GPR_SP)->k, 8);
}

/* It leaves what memory held in AX, and of a register as its target nothing is known. */
TEST(compare_and_swap)
{
	APPLY({ .kind = STEP_CMPXCHG, .op = { MEM(GPR_BX, 16), REG(GPR_CX) } });
	assert_int_equal(value_in(GPR_AX)->kind, VALUE_OPAQUE);
	assert_true(is_entry(GPR_BX, GPR_BX) && is_entry(GPR_CX, GPR_CX));
	assert_int_equal(flow.n, 1);
	assert_int_equal(flow.access[0].op, ACCESS_CAS);
	assert_int_equal(flow.access[0].disp, 16);
	APPLY({ .kind = STEP_CMPXCHG, .op = { REG(GPR_BX), REG(GPR_CX) } });
	assert_int_equal(value_in(GPR_BX)->kind, VALUE_OPAQUE);
}

TEST(swaps)
{
	APPLY({ .kind = STEP_XCHG, .op = { REG(GPR_BX), REG(GPR_CX) } });
	assert_true(is_entry(GPR_BX, GPR_CX) && is_entry(GPR_CX, GPR_BX));
	APPLY({ .kind = STEP_XCHG, .op = { REG(GPR_SI), MEM(GPR_DI, 24) } });
	assert_int_equal(value_in(GPR_SI)->kind, VALUE_OPAQUE);
	assert_int_equal(flow.access[flow.n - 1].op, ACCESS_SWAP);
	assert_int_equal(value__of(&flow.values, flow.access[flow.n - 1].value)->k, GPR_SI);
	APPLY({ .kind = STEP_XADD, .op = { MEM(GPR_DI, 32), REG(GPR_DX) } });
	assert_int_equal(value_in(GPR_DX)->kind, VALUE_BEFORE_ADD);
	assert_int_equal(value_in(GPR_DX)->k, 32);
	assert_int_equal(flow.access[flow.n - 1].op, ACCESS_ADD);
}

/* Registers and slots after a call; its arguments end `frame` bytes below our frame. */
static void a_call(int64_t frame, int64_t lost, int64_t kept)
{
	APPLY({ .kind = STEP_ADD, .op = { REG(GPR_SP), IMM(-frame) } },
	      { .kind = STEP_MOVE, .op = { MEM(GPR_SP, lost), REG(GPR_AX) } },
	      { .kind = STEP_MOVE, .op = { MEM(GPR_SP, kept), REG(GPR_BX) } },
	      { .kind = STEP_CALL, .op = { REG(GPR_DX) } },
	      { .kind = STEP_MOVE, .op = { REG(GPR_SI), MEM(GPR_SP, lost) } },
	      { .kind = STEP_MOVE, .op = { REG(GPR_DI), MEM(GPR_SP, kept) } });
	assert_int_equal(value_in(GPR_SI)->kind, VALUE_OPAQUE);
	assert_true(is_entry(GPR_DI, GPR_BX));
}

TEST(calls)
{
	a_call(64, 48, 56); /* all but the frame pointer, which we saved ourselves */
	for (unsigned int i = 0; i < GPR_SI; i++)
		assert_true(i == GPR_SP || i == GPR_BP || value_in(i)->kind == VALUE_OPAQUE);
	assert_true(is_entry(GPR_BP, GPR_BP));
	assert_int_equal(value_in(GPR_R14)->kind, VALUE_G);
	end();
	begin();
	a_call(64, 0, 56);
	end();
	begin();
	a_call(256, 120, 128); /* at most 128 bytes if the callee's argument size is unknown */
}

/* A slot whose address has escaped may change at any time. */
TEST(addresses_taken)
{
	APPLY({ .kind = STEP_ADD, .op = { REG(GPR_SP), IMM(-32) } },
	      { .kind = STEP_MOVE, .op = { MEM(GPR_SP, 8), REG(GPR_BX) } },
	      { .kind = STEP_LEA, .op = { REG(GPR_CX), MEM(GPR_SP, 8) } },
	      { .kind = STEP_MOVE, .op = { REG(GPR_DX), MEM(GPR_SP, 8) } });
	assert_int_equal(value_in(GPR_CX)->kind, VALUE_STACK);
	assert_int_equal(value_in(GPR_CX)->k, -24);
	assert_int_equal(value_in(GPR_DX)->kind, VALUE_OPAQUE);
	assert_true(run.escapes);
}

/* Of an instruction that is not followed: its three operands, and the registers that it writes. */
TEST(others)
{
	const struct step step[] = {
		{ .writes = 1u << GPR_CX,
		  .addr = 0x1101,
		  .op = { REG(GPR_BX),
			  REG(GPR_BX),
			  { .kind = OPERAND_MEM,
			    .width = 8,
			    .reg = GPR_DI,
			    .index = GPR_NONE,
			    .value = 40,
			    .read = true,
			    .written = true } } },
		{ .addr = 0x1101, .writes = 1u << GPR_DX },
	};

	apply(step, 2);
	assert_int_equal(value_in(GPR_CX)->kind, VALUE_OPAQUE);
	assert_int_equal(value_in(GPR_DX)->kind, VALUE_OPAQUE);
	assert_true(is_entry(GPR_BX, GPR_BX));
	assert_int_equal(flow.n, 2);
	assert_int_equal(flow.access[0].op, ACCESS_READ);
	assert_int_equal(flow.access[1].op, ACCESS_WRITE);
	assert_int_equal(flow.access[1].disp, 40);
	assert_int_equal(flow.access[1].step, 0);
}

/* When there is no room for more values, each new one is opaque; known ones are found. */
TEST(too_many_values)
{
	value_id first = values__get(&flow.values, VALUE_CONST, 0, 1, 0), last = first;

	for (int64_t k = 2; k < 1 << 17 && !flow.values.full; k++)
		last = values__get(&flow.values, VALUE_CONST, 0, k, 0);
	assert_true(flow.values.full);
	assert_int_equal(flow.values.n, 1 << 16);
	assert_int_equal(value__of(&flow.values, last)->kind, VALUE_OPAQUE);
	assert_int_equal(value__of(&flow.values, 0)->kind, VALUE_NONE);
	assert_int_equal(values__get(&flow.values, VALUE_CONST, 0, 1, 0), first);
}

/* Additions are folded, to nothing if they cancel, also in the address of a load. */
TEST(sums)
{
	struct values *vs = &flow.values;
	value_id ax = values__get(vs, VALUE_ENTRY, 0, GPR_AX, 0), sum = values__add(vs, ax, 24);
	value_id global = values__get(vs, VALUE_GLOBAL, 0, 0x1000, 0);

	assert_int_equal(values__add(vs, ax, 0), ax);
	assert_int_equal(value__of(vs, sum)->k, 24);
	assert_int_equal(values__add(vs, sum, -24), ax);
	assert_int_equal(values__add(vs, values__add(vs, ax, 8), 16), sum);
	assert_int_equal(value__of(vs, values__add(vs, global, 8))->k, 0x1008);
	assert_int_equal(value__of(vs, values__add(vs, global, 8))->kind, VALUE_GLOBAL);
	assert_int_equal(values__load(vs, sum, 8, 8), values__load(vs, ax, 32, 8));
	assert_int_not_equal(values__load(vs, ax, 32, 4), values__load(vs, ax, 32, 8));
	assert_int_equal(values__load(vs, values__add(vs, global, 8), 8, 8),
			 values__load(vs, global, 16, 8));
}

/* A register that is cleared, one of which only a byte is set, and a constant added. */
TEST(constants)
{
	APPLY({ .kind = STEP_ZERO, .op = { REG(GPR_CX), REG(GPR_CX) } },
	      { .kind = STEP_ADD, .op = { REG(GPR_BX), IMM(24) } },
	      { .kind = STEP_MOVE, .op = { REG(GPR_SI), IMM(7) } },
	      { .kind = STEP_MOVE,
		.op = { { .kind = OPERAND_REG, .width = 1, .reg = GPR_DX }, IMM(1) } });
	assert_int_equal(value_in(GPR_CX)->kind, VALUE_CONST);
	assert_int_equal(value_in(GPR_CX)->k, 0);
	assert_int_equal(value_in(GPR_BX)->kind, VALUE_ADD);
	assert_int_equal(value_in(GPR_BX)->k, 24);
	assert_int_equal(value_in(GPR_SI)->k, 7);
	assert_int_equal(value_in(GPR_DX)->kind, VALUE_OPAQUE);
	assert_int_equal(flow.n, 0);
	/* through a pointer that was moved */
	APPLY({ .kind = STEP_MOVE, .op = { MEM(GPR_BX, 8), REG(GPR_AX) } });
	assert_int_equal(flow.access[0].disp, 32);
	assert_int_equal(value__of(&flow.values, flow.access[0].base)->kind, VALUE_ENTRY);
}

/* Addresses a mebibyte away are not slots of the stack. */
TEST(far_slots)
{
	static const int64_t near[] = { (1 << 20) - 1, -(1 << 20) + 1 };
	static const int64_t far[] = { 1 << 20, -(1 << 20) };

	for (size_t i = 0; i < 2; i++) {
		size_t before = flow.n;

		APPLY({ .kind = STEP_MOVE, .op = { MEM(GPR_SP, near[i]), REG(GPR_BX) } },
		      { .kind = STEP_MOVE, .op = { REG(GPR_CX), MEM(GPR_SP, near[i]) } });
		assert_true(is_entry(GPR_CX, GPR_BX));
		assert_int_equal(flow.n, before);
		APPLY({ .kind = STEP_MOVE, .op = { REG(GPR_CX), MEM(GPR_SP, far[i]) } });
		assert_int_equal(value_in(GPR_CX)->kind, VALUE_LOAD);
		assert_int_equal(flow.n, before + 1);
	}
}

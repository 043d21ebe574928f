// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of target/infer/calibrate_flow.c: merging of values where paths meet, unreachable code, and
 * code that cannot be followed. The functions store the values of interest to [rdi + N].
 */
#include "unit/test.h"
#include "target/infer/calibrate_code.h"

#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

asm(MADE_TEXT
    "f_callee: nop; ret; "
    "f_same: je 1f; mov rcx, rbx; jmp 2f; 1: mov rcx, rbx; 2: mov [rdi + 8], rcx; ret; "
    /* rcx and rdx are equal on both paths, r8 on one; r9 is unchanged, r10 on one path */
    "f_differ: mov r9, rsi; mov r10, rsi; je 1f; mov rcx, rbx; mov rdx, rbx; mov r8, rsi; jmp 2f; "
    "1: mov rcx, rax; mov rdx, rax; mov r8, rax; mov r10, rax; "
    "2: mov [rdi + 8], rcx; mov [rdi + 16], rdx; mov [rdi + 24], r8; mov [rdi + 32], r9; "
    "mov [rdi + 40], r10; ret; "
    "f_loop: mov rcx, rax; mov rdx, rbx; 1: mov [rdi + 8], rcx; mov rcx, [rcx + 16]; "
    "test rcx, rcx; jne 1b; "
    "mov [rdi + 24], rcx; mov [rdi + 32], rdx; ret; "
    "f_leaves: je 1f; mov rcx, rax; call f_callee; 1: mov [rdi + 8], rcx; ret; "
    "f_stops: je 1f; mov rcx, rax; ud2; 1: mov [rdi + 8], rcx; ret; "
    "f_returns: je 1f; mov rcx, rax; ret; 1: mov [rdi + 8], rcx; ret; "
    "f_tail: je f_callee; mov rcx, rax; jmp f_callee; mov [rdi + 8], rcx; "
    "f_last: mov [rdi + 8], rbx; call f_callee; "
    "f_table: cmp eax, 4; ja 1f; jmp rdx; mov [rdi + 8], rbx; 1: ret; "
    "f_padded: mov [rdi + 8], rbx; jmp rdx; int3; int3; "
    "f_unseen: mov [rdi + 8], rbx; ret; mov [rdi + 16], rbx; ret; "
    "f_middle: je .+3; mov [rdi + 8], rbx; ret; "
    "f_escape: sub rsp, 32; mov [rsp + 8], rbx; mov [rsp + 16], rbx; 1: mov rcx, [rsp + 8]; "
    "mov rsi, [rsp + 16]; "
    "mov [rdi + 8], rcx; mov [rdi + 16], rsi; lea rdx, [rsp + 8]; test eax, eax; jne 1b; ret; "
    "f_lost: sub rsp, 32; je 1f; mov [rsp + 8], rbx; mov [rsp + 16], rbx; "
    "1: mov rcx, [rsp + 8]; mov [rdi + 8], rcx; "
    "mov rcx, [rsp + 16]; mov [rdi + 16], rcx; ret; "
    "f_m: push rdi; call f_callee; pop rdi; mov [rdi + 8], rax; ret; "
    "f_calls: sub rsp, 32; mov [rsp], rbx; mov [rsp + 8], rsi; call f_callee; mov [rdi + 8], rax; "
    "mov [rdi + 16], rbx; mov [rdi + 24], rsi; mov [rdi + 32], r11; mov rcx, [rsp]; "
    "mov [rdi + 40], rcx; "
    "mov rcx, [rsp + 8]; mov [rdi + 48], rcx; ret; "
    "f_branches: .rept 2000; je .+2; .endr; mov [rdi + 8], rbx; ret; "
    "f_many: .rept 4096; je .+2; .endr; ret; "
    "f_large: .skip 65536, 0x90; "
    "f_larger: .skip 65537, 0x90; " MADE_TEXT_END);

extern const unsigned char made_text[], made_text_end[], f_callee[], f_same[], f_differ[], f_loop[],
	f_leaves[], f_stops[], f_returns[], f_tail[], f_last[], f_table[], f_padded[], f_unseen[],
	f_middle[], f_escape[], f_lost[], f_m[], f_calls[], f_branches[], f_many[], f_large[],
	f_larger[];

#define F(label) { .name = #label, .code = f_##label }

static struct made_func funcs[] = {
	{ .name = "callee", .code = f_callee, .tree = { { "x", 0, 0 } }, .inlined = { { 1, 0 } } },
	F(same),
	F(differ),
	F(loop),
	F(leaves),
	F(stops),
	F(returns),
	F(tail),
	F(last),
	F(table),
	F(padded),
	F(unseen),
	F(middle),
	F(escape),
	F(lost),
	F(m),
	F(calls),
	F(branches),
	F(many),
	F(large),
	F(larger),
};

static struct go_made p;
static struct flow flow;

/* With a callee of some name. */
static void begin(const char *callee)
{
	struct made_program program = { MADE_BYTES, funcs, sizeof(funcs) / sizeof(funcs[0]) };

	funcs[0].name = callee;
	go_made__open(&p, "go1.25.0", &program);
}

static bool follow(const char *name, int64_t g_m)
{
	struct go_func f;

	assert_true(pclntab__named(p.pt, name, &f));
	flow__deinit(&flow);
	memset(&flow, 0, sizeof(flow));
	return flow__read(&flow, p.elf, p.pt, &f, g_m);
}

/* The value stored at [rdi + disp]; 0: none. */
static value_id stored(int64_t disp)
{
	value_id found = 0;

	for (size_t i = 0; i < flow.n; i++) {
		if (flow.access[i].op != ACCESS_WRITE || flow.access[i].disp != disp)
			continue;
		assert_int_equal(found, 0);
		found = flow.access[i].value;
	}
	return found;
}

static void expect_entry(value_id id, enum gpr reg)
{
	assert_int_equal(value__of(&flow.values, id)->kind, VALUE_ENTRY);
	assert_int_equal(value__of(&flow.values, id)->k, reg);
}

static void expect_kind(value_id id, enum value_kind kind)
{
	assert_int_equal(value__of(&flow.values, id)->kind, kind);
}

TEST(ways_meet)
{
	begin("runtime.callee");
	assert_true(follow("same", -1));
	expect_entry(stored(8), GPR_BX);

	assert_true(follow("differ", -1));
	expect_kind(stored(8), VALUE_JOIN);
	assert_int_equal(stored(8), stored(16));
	expect_kind(stored(24), VALUE_JOIN);
	assert_int_not_equal(stored(24), stored(8));
	expect_entry(stored(32), GPR_SI);
	expect_kind(stored(40), VALUE_JOIN);
	assert_int_not_equal(stored(40), stored(8));

	/* Where one path has no value, the value is unknown, and no two are equal. */
	assert_true(follow("lost", -1));
	expect_kind(stored(8), VALUE_OPAQUE);
	expect_kind(stored(16), VALUE_OPAQUE);
	assert_int_not_equal(stored(8), stored(16));
}

/* A value changed by a loop differs from the one before it; others are unchanged. */
TEST(loops)
{
	begin("runtime.callee");
	assert_true(follow("loop", -1));
	expect_kind(stored(8), VALUE_JOIN);
	expect_kind(stored(24), VALUE_JOIN);
	assert_int_not_equal(stored(24), stored(8));
	expect_entry(stored(32), GPR_BX);
}

/* There is no path after a function that does not return. */
TEST(ends)
{
	static const char *const gone[] = {
		"runtime.throw",	"runtime.fatalthrow",	  "runtime.panicIndex",
		"runtime.goPanicIndex", "runtime.gopanic",	  "runtime.morestack_noctxt",
		"runtime.badmcall2",	"runtime.badsystemstack", "runtime.block",
		"runtime.goexit0",	"runtime.abort",
	};
	static const char *const come[] = { "runtime.pan", "runtime.goexit", "main.runtime.throw" };

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		begin(gone[i]);
		assert_true(follow("leaves", -1));
		expect_entry(stored(8), GPR_CX);
		assert_true(follow("last", -1));
		expect_entry(stored(8), GPR_BX);
	}
	for (size_t i = 0; i < sizeof(come) / sizeof(come[0]); i++) {
		begin(come[i]);
		assert_true(follow("leaves", -1));
		expect_kind(stored(8), VALUE_JOIN);
	}
	begin("runtime.callee");
	assert_true(follow("stops", -1));
	expect_entry(stored(8), GPR_CX);
	assert_true(follow("returns", -1));
	expect_entry(stored(8), GPR_CX);
	assert_true(follow("tail", -1)); /* to another function */
	assert_int_equal(stored(8), 0);
}

TEST(no_way_to_follow)
{
	begin("runtime.callee");
	assert_false(follow("table", -1)); /* a jump to code that is not reached otherwise */
	assert_true(follow("padded", -1)); /* but bytes after a jump may be data */
	expect_entry(stored(8), GPR_BX);
	assert_true(follow("unseen", -1)); /* without such a jump it is dead code */
	assert_int_equal(stored(16), 0);
	assert_false(follow("middle", -1)); /* into an instruction */
}

/* A slot whose address is taken later in a loop may change at any time; its neighbour may not. */
TEST(escapes)
{
	begin("runtime.callee");
	assert_true(follow("escape", -1));
	expect_kind(stored(8), VALUE_OPAQUE);
	expect_entry(stored(16), GPR_BX);
}

/* runtime.acquirem() returns g.m, if that is known to be at some offset. */
TEST(the_thread)
{
	const struct value *v;

	begin("runtime.acquirem");
	for (int64_t at = -1; at < 49; at += 49) {
		assert_true(follow("m", at));
		v = value__of(&flow.values, stored(8));
		assert_int_equal(v->kind, at < 0 ? VALUE_OPAQUE : VALUE_LOAD);
		if (at >= 0) {
			assert_int_equal(v->k, at);
			assert_int_equal(v->width, 8);
			expect_kind(v->base, VALUE_G);
		}
	}
}

/* Small functions that builds without inlining call: their effect on [rax]. */
TEST(helpers)
{
	static const struct {
		const char *name;
		enum access_op op;
		unsigned int width;
	} of[] = {
		{ "internal/runtime/atomic.(*Uint32).CompareAndSwap", ACCESS_CAS, 4 },
		{ "runtime/internal/atomic.(*Uint64).Add", ACCESS_ADD, 8 },
		{ "internal/runtime/atomic.Xadd64", ACCESS_ADD, 8 },
		{ "internal/runtime/atomic.Storeuintptr", ACCESS_SWAP, 8 },
		{ "internal/runtime/atomic.Store", ACCESS_SWAP, 4 },
		{ "runtime.atomicstorep", ACCESS_SWAP, 8 },
		{ "runtime.(*guintptr).cas", ACCESS_CAS, 8 },
		{ "runtime.(*muintptr).set", ACCESS_WRITE, 8 },
	};
	static const char *const same[] = { "runtime.guintptr.ptr", "runtime.muintptr.ptr",
					    "runtime.puintptr.ptr" };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const struct access *a;

		begin(of[i].name);
		assert_true(follow("calls", -1));
		assert_string_equal(flow.access[0].callee, of[i].name);
		assert_int_equal(flow.access[0].op, ACCESS_CALL);
		a = &flow.access[1];
		assert_int_equal(a->op, of[i].op);
		assert_int_equal(a->width, of[i].width);
		assert_int_equal(a->disp, 0);
		expect_entry(a->base, GPR_AX);
		expect_entry(a->value, GPR_BX);
		expect_kind(stored(16), VALUE_OPAQUE); /* no register is preserved */
		if (of[i].op == ACCESS_ADD) {
			expect_kind(stored(8), VALUE_ADD);
			assert_int_equal(value__of(&flow.values, stored(8))->k, 1);
			expect_kind(value__of(&flow.values, stored(8))->base, VALUE_BEFORE_ADD);
		} else {
			expect_kind(stored(8), VALUE_OPAQUE);
		}
	}
	for (size_t i = 0; i < 3; i++) { /* a pointer and the same pointer */
		begin(same[i]);
		assert_true(follow("calls", -1));
		expect_entry(stored(8), GPR_AX);
		expect_kind(stored(16), VALUE_OPAQUE);
	}
	begin("runtime.acquirem"); /* unknown */
	assert_true(follow("calls", -1));
	expect_kind(stored(8), VALUE_OPAQUE);
}

/* Up to 1.20 the write barrier stores the register in its name to [rdi], and preserves all. */
TEST(write_barriers)
{
	static const struct {
		const char *name;
		enum gpr reg;
	} of[] = {
		{ "runtime.gcWriteBarrier", GPR_AX },	{ "runtime.gcWriteBarrierCX", GPR_CX },
		{ "runtime.gcWriteBarrierDX", GPR_DX }, { "runtime.gcWriteBarrierBX", GPR_BX },
		{ "runtime.gcWriteBarrierSI", GPR_SI }, { "runtime.gcWriteBarrierR8", GPR_R8 },
		{ "runtime.gcWriteBarrierR9", GPR_R9 }, { "runtime.gcWriteBarrier2", GPR_NONE },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin(of[i].name);
		assert_true(follow("calls", -1));
		if (of[i].reg == GPR_NONE)
			assert_int_equal(stored(0), 0);
		else
			expect_entry(stored(0), of[i].reg);
		expect_entry(stored(8), GPR_AX);
		expect_entry(stored(16), GPR_BX);
		expect_entry(stored(24), GPR_SI);
		expect_kind(stored(32), VALUE_OPAQUE); /* R11 is its result */
		expect_entry(stored(40), GPR_BX);
		expect_entry(stored(48), GPR_SI);
	}
	for (int i = 0; i < 2; i++) { /* these write somewhere on the stack */
		begin(i ? "runtime.duffzero" : "runtime.duffcopy");
		assert_true(follow("calls", -1));
		expect_entry(stored(8), GPR_AX);
		expect_entry(stored(16), GPR_BX);
		expect_kind(stored(24), VALUE_OPAQUE);
		expect_kind(stored(40), VALUE_OPAQUE);
		expect_kind(stored(48), VALUE_OPAQUE);
	}
}

/* A callee with known argument size overwrites exactly these bytes. */
TEST(arguments)
{
	static const int32_t args[] = { 0, 1, 8, 9, 16, -1 };

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		bool first = args[i] != 0, second = args[i] < 0 || args[i] > 8;

		funcs[0].args = args[i];
		begin("runtime.callee");
		assert_true(follow("calls", -1));
		expect_kind(stored(40), first ? VALUE_OPAQUE : VALUE_ENTRY);
		expect_kind(stored(48), second ? VALUE_OPAQUE : VALUE_ENTRY);
	}
	funcs[0].args = 0;
}

TEST(limits)
{
	begin("runtime.callee");
	assert_true(follow("branches", -1));
	expect_entry(stored(8), GPR_BX);
	assert_false(follow("many", -1)); /* more than 4096 blocks */
	assert_true(follow("large", -1)); /* 64 KiB */
	assert_int_equal(flow.steps.n, 65536);
	flow__deinit(&flow);
	assert_true(!flow.access && !flow.n && !flow.steps.step && !flow.values.v);
	assert_false(follow("larger", -1));
}

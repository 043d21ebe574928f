// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of target/probe/calls.c and call_exits.c: which functions a pattern names, what is refused,
 * and the instructions at which calls begin and end, on assembled code.
 */
#include "unit/test.h"
#include "target/probe/call_exits.h"
#include "target/probe/calls.h"

#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

#define ENTER	    "push rbp; mov rbp, rsp; "
#define LEAVE	    "pop rbp; "

/* clang-format off */
asm(MADE_TEXT
    "f_call: " ENTER "call f_other; " LEAVE "x_call: ret; "
    "f_nop: " ENTER "call f_other; x_nop: nop; mov rax, [rsp + 8]; lea rbx, [rax + 1]; " LEAVE "ret; "
    /* the nearest one, behind the pop */
    "f_last: " ENTER "call f_other; nop; " LEAVE "x_last: nop; ret; "
    "f_branch: " ENTER "call f_other; test rax, rax; x_branch: je 1f; " LEAVE "ret; 1: mov eax, 1; "
    LEAVE "ret; "
    "f_one_way: " ENTER "call f_other; je 1f; " LEAVE "x_one_way1: ret; 1: call f_other; " LEAVE
    "x_one_way2: ret; "
    "f_join: " ENTER "call f_other; jne 1f; x_join1: jmp 2f; 1: call f_other; x_join2: jmp 2f; "
    "2: mov eax, 3; " LEAVE "ret; "
    /* one of the ways into the join is a call */
    "f_half: " ENTER "call f_other; jne 1f; jmp 2f; 1: call f_other; 2: mov eax, 3; " LEAVE
    "x_half: ret; "
    /* the branch of one return is the one of another that a call precedes */
    "f_chain: " ENTER "call f_other; je 1f; x_chain1: je 2f; " LEAVE "ret; 1: call f_other; " LEAVE
    "x_chain2: ret; 2: mov eax, 2; " LEAVE "ret; "
    "f_loop: " ENTER "call f_other; 1: dec rax; jne 1b; " LEAVE "x_loop: ret; "
    "f_memory: " ENTER "call f_other; nop; mov rax, [rcx]; " LEAVE "x_memory: ret; "
    "f_rep: " ENTER "call f_other; nop; rep stosq; " LEAVE "x_rep: ret; "
    "f_locked: " ENTER "call f_other; nop; lock inc qword ptr [rsp + 8]; " LEAVE "x_locked: ret; "
    "f_divides: " ENTER "call f_other; nop; div rcx; " LEAVE "x_divides: ret; "
    "f_table: " ENTER "call f_other; jmp rax; nop; mov eax, 1; " LEAVE "x_table: ret; "
    "f_into: " ENTER "call f_other; jmp 1f + 1; nop; 1: mov eax, 1; " LEAVE "x_into: ret; "
    "f_near: " ENTER "call f_other; x_near: nop; .rept 62; mov eax, edx; .endr; " LEAVE "ret; "
    "f_far: " ENTER "call f_other; nop; .rept 63; mov eax, edx; .endr; " LEAVE "x_far: ret; "
    "f_tail: " ENTER "call f_other; " LEAVE "x_tail: jmp f_other; "
    "f_leaf: mov eax, 1; x_leaf: ret; "
    "f_first: nop; mov eax, 1; x_first: ret; "
    "f_forever: " ENTER "1: call f_other; jmp 1b; "
    "f_no_frame: " ENTER "call f_other; nop; mov eax, 1; " LEAVE "x_no_frame: ret; "
    "f_wrong: " ENTER "call f_other; nop; mov eax, 1; " LEAVE "x_wrong: ret; "
    "f_64: " ENTER ".rept 64; call f_other; " LEAVE "ret; .endr; "
    "f_65: " ENTER ".rept 65; call f_other; " LEAVE "ret; .endr; "
    /* the cuts are more than 64 */
    "f_fan: " ENTER ".rept 65; call f_other; jmp 1f; .endr; 1: mov eax, 1; " LEAVE "x_fan: ret; "
    "f_again: mov eax, 1; call f_other; ret; f_damaged: .byte 6; "
    "f_assembly: ret; "
    "f_other: ret; "
    "f_gogo: ret; "
    "f_recovery: " ENTER "call f_other; mov [rsp], rax; x_recovery: call f_gogo; ud2; "
    MADE_TEXT_END);
/* clang-format on */

#define LABEL(name) extern const unsigned char name[]

LABEL(made_text);
LABEL(made_text_end);

#define FUNCS(X)                                                                                   \
	X(call)                                                                                    \
	X(nop)                                                                                     \
	X(last)                                                                                    \
	X(branch)                                                                                  \
	X(one_way)                                                                                 \
	X(join)                                                                                    \
	X(half)                                                                                    \
	X(chain)                                                                                   \
	X(loop)                                                                                    \
	X(memory)                                                                                  \
	X(rep)                                                                                     \
	X(locked)                                                                                  \
	X(divides)                                                                                 \
	X(table)                                                                                   \
	X(into)                                                                                    \
	X(near)                                                                                    \
	X(far)                                                                                     \
	X(tail)                                                                                    \
	X(leaf)                                                                                    \
	X(first)                                                                                   \
	X(forever)                                                                                 \
	X(no_frame)                                                                                \
	X(wrong)                                                                                   \
	X(64)                                                                                      \
	X(65)                                                                                      \
	X(fan)                                                                                     \
	X(again)                                                                                   \
	X(damaged)                                                                                 \
	X(assembly)                                                                                \
	X(other)

#define DECLARE(name) LABEL(f_##name);
FUNCS(DECLARE)

LABEL(f_gogo);
LABEL(f_recovery);

static struct made_func funcs[] = {
#define FUNC(name_) { .name = "main." #name_, .code = f_##name_ },
	FUNCS(FUNC){ .name = "runtime.gogo", .code = f_gogo },
	{ .name = "runtime.recovery", .code = f_recovery },
};

#define NFUNCS (sizeof(funcs) / sizeof(funcs[0]))

static struct go_made program;

/*
 * Frames as the linker would describe them: 8 bytes after the push, none behind `pop rbp` (0x5d) and up
 * to the next return or jump.
 */
static void describe_frames(struct made_func *f, const unsigned char *end)
{
	struct made_range *r = f->pushed, *last = r + MADE_RANGES_MAX - 2;
	const unsigned char *p = f->code;

	if (*p != 0x55) {
		*r = (struct made_range){ (uint32_t)(end - p), 0 };
		return;
	}
	*r++ = (struct made_range){ 1, 0 };
	for (p++; p < end && r < last; p++) {
		if (*p != 0x5d || (p[1] != 0x90 && p[1] != 0xc3 && p[1] != 0xe9))
			continue;
		*r++ = (struct made_range){ (uint32_t)(p + 1 - f->code), 8 };
		while (*++p != 0xc3 && *p != 0xe9)
			;
		*r++ = (struct made_range){ (uint32_t)(p + (*p == 0xc3 ? 1 : 5) - f->code), 0 };
	}
	*r = (struct made_range){ (uint32_t)(end - f->code), 8 };
}

static int setup(void **state)
{
	const struct made_program from = { MADE_BYTES, funcs, NFUNCS };

	for (size_t i = 0; i + 1 < NFUNCS; i++) {
		struct made_func *f = &funcs[i];

		describe_frames(f, funcs[i + 1].code);
		if (!strcmp(f->name, "main.no_frame"))
			memset(f->pushed, 0, sizeof(f->pushed));
		if (!strcmp(f->name, "main.assembly"))
			f->flags = FUNC_FLAG_ASM;
		if (!strcmp(f->name, "main.wrong"))
			f->pushed[2].value = 8;
	}
	go_made__open(&program, "go1.25.3", &from);
	return 0;
}

static void teardown(void)
{
}

GROUP(setup, teardown)

static int add(struct calls *calls, const char *pattern, struct error *error)
{
	*error = (struct error){};
	return calls__add(calls, program.elf, program.pt,
			  &(struct call_pattern){ .funcs = pattern }, error);
}

struct want_exit {
	const unsigned char *at;
	uint32_t frame;
	enum site_cost cost;
};

static void expect_exits(const char *name, const struct want_exit *want, size_t n)
{
	struct calls calls = {};
	struct error error;

	if (add(&calls, name, &error))
		fail_msg("%s", error.text);
	assert_int_equal(calls.n, 1);
	assert_string_equal(calls.func[0].name, name);
	if (calls.nsites != n + 1)
		fail_msg("%s has %zu exits", name, calls.nsites - 1);
	assert_int_equal(calls.site[0].addr, calls.func[0].func.entry);
	assert_int_equal(calls.site[0].cookie,
			 GT_SITE_CALL_STEPPED(calls.site[0].cost == SITE_STEPPED));
	for (size_t i = 0; i < n; i++) {
		const struct site *s = &calls.site[i + 1];

		if (s->addr != MADE_ADDR_OF(want[i].at))
			fail_msg("%s: exit %zu is %s+%u", name, i, s->func, s->func_offset);
		assert_int_equal(s->cookie,
				 GT_SITE_CALL_OF(0, 1, GT_AS_REGION) |
					 GT_SITE_CALL_STEPPED(want[i].cost == SITE_STEPPED) |
					 GT_SITE_CALL_FRAME(want[i].frame));
		assert_int_equal(GT_COOKIE_CALL_FRAME(s->cookie), want[i].frame);
		assert_int_equal(s->cost, want[i].cost);
		assert_int_equal(s->probe, GT_PROBE_FUNC_CALL);
	}
	calls__deinit(&calls);
}

#define EXITS(name, ...)                                                                           \
	do {                                                                                       \
		const struct want_exit want[] = { __VA_ARGS__ };                                   \
		expect_exits("main." #name, want, sizeof(want) / sizeof(want[0]));                 \
	} while (0)

#define RETURN(name)                                                                               \
	do {                                                                                       \
		LABEL(x_##name);                                                                   \
		EXITS(name, { x_##name, 0, SITE_STEPPED });                                        \
	} while (0)

TEST(emulated_exits)
{
	LABEL(x_nop);
	LABEL(x_last);
	LABEL(x_branch);
	LABEL(x_join1);
	LABEL(x_join2);
	LABEL(x_near);
	LABEL(x_tail);

	EXITS(nop, { x_nop, 8, SITE_EMULATED });
	EXITS(last, { x_last, 0, SITE_EMULATED });
	EXITS(branch, { x_branch, 8, SITE_EMULATED });
	EXITS(join, { x_join1, 8, SITE_EMULATED }, { x_join2, 8, SITE_EMULATED });
	EXITS(near, { x_near, 8, SITE_EMULATED });
	EXITS(tail, { x_tail, 0, SITE_EMULATED });
}

TEST(returns)
{
	LABEL(x_one_way1);
	LABEL(x_one_way2);

	RETURN(call);
	EXITS(one_way, { x_one_way1, 0, SITE_STEPPED }, { x_one_way2, 0, SITE_STEPPED });
	RETURN(half);
	RETURN(loop);
	RETURN(memory);
	RETURN(rep);
	RETURN(locked);
	RETURN(divides);
	RETURN(table);
	RETURN(into);
	RETURN(far);
	RETURN(leaf);
	RETURN(first);
	RETURN(no_frame);
	RETURN(wrong);
	RETURN(fan);
}

/* The second branch only is passed by no call that goes on. */
TEST(a_chain_of_branches)
{
	LABEL(x_chain1);
	LABEL(x_chain2);

	EXITS(chain, { x_chain1, 8, SITE_EMULATED }, { x_chain2, 0, SITE_STEPPED });
}

TEST(never_returns)
{
	expect_exits("main.forever", NULL, 0);
}

static void expect_refusal(const char *pattern, int code, const char *reason)
{
	struct calls calls = {};
	struct error error;

	assert_int_equal(add(&calls, pattern, &error), code);
	assert_string_equal(error.text, reason);
	assert_int_equal(calls.n, 0);
	assert_int_equal(calls.nsites, 0);
	calls__deinit(&calls);
}

TEST(refusals)
{
	struct calls calls = {};
	struct error error;

	assert_int_equal(add(&calls, "main.64", &error), 0);
	assert_int_equal(calls.nsites, 65);
	calls__deinit(&calls);
	expect_refusal("main.65", -E2BIG, "main.65 cannot be a region: it has more than 64 exits");
	expect_refusal(
		"main.again", -ENOTSUP,
		"main.again cannot be a region: it has no instruction at which its entry can be "
		"probed");
	expect_refusal("main.damaged", -ENOTSUP,
		       "main.damaged cannot be a region: it cannot be disassembled");
	expect_refusal("main.assembly", -ENOTSUP,
		       "main.assembly cannot be a region: it is written in assembly, where no "
		       "register is certain to hold the goroutine");
	expect_refusal("main.nothing", -ENOENT, "the program has no function main.nothing");
	expect_refusal("/(/", -EINVAL, "invalid pattern /(/: Unmatched ( or \\(");
}

TEST(patterns)
{
	struct calls calls = {};
	struct error error;

	assert_int_equal(add(&calls, "main.f[ao]*", &error), 0);
	assert_int_equal(calls.n, 3); /* far, forever, fan */
	assert_int_equal(add(&calls, "/^main\\.(far|nop)$/", &error), 0);
	assert_int_equal(calls.n, 4);
	assert_string_equal(calls.func[3].name, "main.nop");
	assert_int_equal(calls.skipped, 0);
	assert_int_equal(add(&calls, "/^main\\.(65|call)$/", &error), 0);
	assert_int_equal(calls.n, 5);
	assert_int_equal(calls.skipped, 1);
	assert_int_equal(add(&calls, "/^main\\.(65|again)$/", &error), -ENOTSUP);
	assert_int_equal(calls.n, 5);
	/* the last function's sites are numbered by it */
	assert_int_equal(calls.func[4].n, 2);
	assert_int_equal(GT_COOKIE_CALL_FUNC(calls.site[calls.func[4].first].cookie), 4);
	calls__deinit(&calls);
}

TEST(recovery)
{
	LABEL(x_recovery);
	struct calls calls = {};
	struct error error;

	assert_int_equal(add(&calls, "main.call", &error), 0);
	assert_int_equal(calls.nsites, 2);
	assert_int_equal(calls__add_recovery(&calls, program.elf, program.pt, &error), 0);
	assert_int_equal(calls.nsites, 3);
	assert_int_equal(calls.func[0].n, 2);
	assert_int_equal(calls.site[2].addr, MADE_ADDR_OF(x_recovery));
	assert_int_equal(calls.site[2].cookie, GT_SITE_CALL_RECOVERED);
	assert_int_equal(calls.site[2].cost, SITE_EMULATED);
	calls__deinit(&calls);
}

// SPDX-License-Identifier: GPL-2.0
/* Tests of target/probe/site_find*.c: search limits and similar code, assembled. */
#include "unit/test.h"
#include "target/probe/site_find.h"

#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

/* clang-format off */
asm(MADE_TEXT
    "f_cleared: mov qword ptr [rip + 200], 0; mov qword ptr [rsp + 200], 0; "
    "mov dword ptr [rcx + 200], 0; "
    "mov qword ptr [rcx + 200], 1; mov [rcx + 200], rax; mov qword ptr [rcx + rax + 200], 0; "
    "mov qword ptr [rcx + 208], 0; and qword ptr [rcx + 200], 0; "
    "i_cleared: mov qword ptr [rcx + 200], 0; "
    "f_swaps: lock cmpxchg [rip + 144], ecx; lock cmpxchg [rsp + 144], ecx; "
    "lock cmpxchg [rdx + rax + 144], ecx; "
    "cmpxchg [rdx + 144], ecx; lock cmpxchg [rdx + 144], rcx; lock cmpxchg [rdx + 152], ecx; "
    "i_swap: lock cmpxchg [rdx + 144], ecx; "
    /* a constant 64 instructions before, and 65 */
    "f_near: mov ebx, 7; .rept 63; mov eax, edx; .endr; i_near: ret; "
    "f_far: mov ebx, 7; .rept 64; mov eax, edx; .endr; i_far: ret; "
    "f_stored: mov qword ptr [rdx + 8], 7; .rept 63; mov eax, edx; .endr; i_stored: ret; "
    "f_stored_far: mov qword ptr [rdx + 8], 7; .rept 64; mov eax, edx; .endr; i_stored_far: ret; "
    "f_stored_ret: mov qword ptr [rdx + 8], 7; ret; i_stored_ret: ret; "
    "f_stored_cas: mov qword ptr [rdx + 8], 7; lock cmpxchg [rdx + 144], ecx; i_stored_cas: ret; "
    "f_stored_call: mov qword ptr [rdx + 8], 7; call f_near; i_stored_call: ret; "
    /* a branch 12 instructions before the call, and 13 */
    "f_guard: i_guard: je 1f; .rept 11; mov eax, edx; .endr; i_guarded: call f_near; 1: ret; "
    "f_guard_far: je 1f; .rept 12; mov eax, edx; .endr; i_guarded_far: call f_near; 1: ret; "
    "f_guard_to: je i_guarded_to; i_guarded_to: call f_near; ret; "
    "f_guard_ret: je 1f; ret; i_guarded_ret: call f_near; 1: ret; "
    "f_guard_jmp: je 1f; jmp 1f; i_guarded_jmp: call f_near; 1: ret; "
    /* a branch 8 instructions behind the addition, and 9 */
    "f_sum: lock xadd [rdi], rbx; add rbx, r8; .rept 6; mov eax, edx; .endr; i_sum: je 1f; 1: ret; "
    "f_sum_far: lock xadd [rdi], rbx; add rbx, r8; .rept 7; mov eax, edx; .endr; je 1f; 1: ret; "
    "f_sum_narrow: lock xadd [rdi], ebx; add rbx, r8; je 1f; 1: ret; "
    "f_sum_call: lock xadd [rdi], rbx; add rbx, r8; call f_near; je 1f; 1: ret; "
    "f_sum_gone: lock xadd [rdi], rbx; mov ebx, 1; add rbx, r8; je 1f; 1: ret; "
    /* the branch on a swap's result is the fifth instruction behind it, or the sixth */
    "f_done: i_done_swap: lock cmpxchg [rdx + 144], ecx; .rept 4; nop; .endr; i_done: je 1f; "
    "1: ret; "
    "f_done_far: i_far_swap: lock cmpxchg [rdx + 144], ecx; i_next: .rept 5; nop; .endr; "
    "je 1f; 1: ret; "
    /* a nop 24 instructions before the swap, and 25 */
    "f_before: i_before: nop; i_before1: .rept 22; mov esi, edx; .endr; i_near1: mov esi, edx; "
    "i_before_swap: lock cmpxchg [rdx], rcx; ret; "
    "f_before_far: nop; .rept 23; mov esi, edx; .endr; i_near2: mov esi, edx; "
    "i_before_far_swap: lock cmpxchg [rdx], rcx; ret; "
    /* a prologue with 9 instructions before its push, and with 10 */
    "f_entry: .rept 9; cmp rsp, [r14 + 16]; .endr; i_entry: push rbp; mov rbp, rsp; ret; "
    "f_entry_far: .rept 10; cmp rsp, [r14 + 16]; .endr; push rbp; mov rbp, rsp; ret; "
    "f_test: i_test: jne 1f; xor eax, eax; jmp 2f; 1: call f_near; 2: .rept 62; mov eax, edx; "
    ".endr; "
    "i_traced: call f_far; ret; "
    "f_test_ret: jne 1f; ret; 1: call f_near; i_traced_ret: call f_far; ret; "
    "f_none: ret; "
    MADE_TEXT_END);
/* clang-format on */

extern const unsigned char made_text[], made_text_end[], f_none[];

static struct elf_image *elf;
static int fd;

static int setup(void **state)
{
	const struct made_section sec = { .name = ".text",
					  .data = made_text,
					  .len = (size_t)(made_text_end - made_text) };

	fd = elf_made(&sec, 1);
	return elf_image__open(&elf, fd, "made", NULL);
}

static int teardown(void **state)
{
	elf_image__destroy(elf);
	return close(fd);
}

GROUP(setup, teardown)

#define ADDR(label) (MADE_FIRST + (uint64_t)((label) - made_text))

/* The function's code, up to the ret that ends it or, if that is `end`, up to there. */
static struct code read_code(const unsigned char *from, const unsigned char *end)
{
	struct go_func func = { .entry = ADDR(from), .end = ADDR(end) };
	struct code code;

	assert_true(code__read(&code, elf, &func));
	return code;
}

static size_t index_of(const struct code *c, const unsigned char *label)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->insn[i].addr == ADDR(label))
			return i;
	}
	fail_msg("no instruction at +%td", label - made_text);
	return 0;
}

#define LABEL(name) extern const unsigned char name[]

/* Runs the body with the code from label f_NAME up to label f_NEXT. */
#define WITH(name, next)                                                                           \
	LABEL(f_##name);                                                                           \
	LABEL(f_##next);                                                                           \
	for (struct code c = read_code(f_##name, f_##next); c.n; code__deinit(&c))

#define AT(label) index_of(&c, label)

TEST(members)
{
	LABEL(i_cleared);
	LABEL(i_swap);

	WITH(cleared, swaps) assert_int_equal(find__cleared(&c, 200, 0), AT(i_cleared));
	WITH(swaps, near)
	{
		assert_int_equal(find__cas(&c, 144, 4, 0), AT(i_swap));
		assert_int_equal(find__cas(&c, -1, 8, 0), AT(i_swap) - 2);
	}
}

TEST(constants)
{
	LABEL(i_near);
	LABEL(i_far);
	int64_t v = 0;

	WITH(near, far)
	{
		assert_true(find__constant(&c, AT(i_near), GPR_BX, &v));
		assert_int_equal(v, 7);
	}
	WITH(far, stored) assert_false(find__constant(&c, AT(i_far), GPR_BX, &v));
}

TEST(stores)
{
	LABEL(i_stored);
	LABEL(i_stored_far);
	LABEL(i_stored_ret);
	LABEL(i_stored_cas);
	LABEL(i_stored_call);

	WITH(stored, stored_far) assert_true(find__stored(&c, AT(i_stored), 8, 7));
	WITH(stored_far, stored_ret) assert_false(find__stored(&c, AT(i_stored_far), 8, 7));
	WITH(stored_ret, stored_cas) assert_false(find__stored(&c, AT(i_stored_ret), 8, 7));
	WITH(stored_cas, stored_call) assert_false(find__stored(&c, AT(i_stored_cas), 8, 7));
	/* a call of another function does not matter */
	WITH(stored_call, guard) assert_true(find__stored(&c, AT(i_stored_call), 8, 7));
}

TEST(guards)
{
	LABEL(i_guard);
	LABEL(i_guarded);
	LABEL(i_guarded_far);
	LABEL(i_guarded_to);
	LABEL(i_guarded_ret);
	LABEL(i_guarded_jmp);

	WITH(guard, guard_far)
	assert_int_equal(find__guard(&c, AT(i_guarded), false), AT(i_guard));
	WITH(guard_far, guard_to)
	assert_true(find__guard(&c, AT(i_guarded_far), false) == NO_INSN);
	WITH(guard_to, guard_ret)
	assert_true(find__guard(&c, AT(i_guarded_to), false) == NO_INSN);
	WITH(guard_ret, guard_jmp)
	assert_true(find__guard(&c, AT(i_guarded_ret), true) == NO_INSN);
	WITH(guard_jmp, sum) assert_true(find__guard(&c, AT(i_guarded_jmp), true) == NO_INSN);
}

TEST(sums)
{
	LABEL(i_sum);
	enum gpr sum = GPR_NONE;

	WITH(sum, sum_far) assert_int_equal(find__added(&c, 0, &sum), AT(i_sum));
	assert_int_equal(sum, GPR_BX);
	WITH(sum_far, sum_narrow) assert_true(find__added(&c, 0, &sum) == NO_INSN);
	WITH(sum_narrow, sum_call) assert_true(find__added(&c, 0, &sum) == NO_INSN);
	WITH(sum_call, sum_gone) assert_true(find__added(&c, 0, &sum) == NO_INSN);
	WITH(sum_gone, done) assert_true(find__added(&c, 0, &sum) == NO_INSN);
}

TEST(around_swaps)
{
	LABEL(i_done_swap);
	LABEL(i_done);
	LABEL(i_far_swap);
	LABEL(i_next);
	LABEL(i_before);
	LABEL(i_before_swap);
	LABEL(i_before_far_swap);
	LABEL(i_near2);
	bool flag = false;

	WITH(done, done_far)
	assert_int_equal(find__cas_done(&c, AT(i_done_swap), &flag), AT(i_done));
	WITH(done_far, before)
	assert_int_equal(find__cas_done(&c, AT(i_far_swap), &flag), AT(i_next));
	WITH(before, before_far)
	assert_int_equal(find__before_cas(&c, AT(i_before_swap)), AT(i_before));
	WITH(before_far, entry)
	assert_int_equal(find__before_cas(&c, AT(i_before_far_swap)), AT(i_near2));
}

TEST(prologues_and_tests)
{
	LABEL(f_near);
	LABEL(i_entry);
	LABEL(i_test);
	LABEL(i_traced);
	LABEL(i_traced_ret);

	WITH(entry, entry_far) assert_int_equal(find__entry(&c), AT(i_entry));
	WITH(entry_far, test) assert_true(find__entry(&c) == NO_INSN);
	WITH(test, test_ret)
	{
		size_t call = AT(i_traced);

		/* within 64 instructions: the call of acquire, but not its branch */
		assert_true(find__trace_test(&c, call, ADDR(f_near)) == NO_INSN);
		assert_int_equal(find__trace_test(&c, call - 3, ADDR(f_near)), AT(i_test));
	}
	WITH(test_ret, none)
	assert_true(find__trace_test(&c, AT(i_traced_ret), ADDR(f_near)) == NO_INSN);
}

// SPDX-License-Identifier: GPL-2.0
/* Tests of target/probe/: recognized shapes of code, and the sites of whole programs. */
#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/probe/site.h"
#include "target/probe/site_find.h"

#include "unit/programs.h"

#define INSN(...) { .len = 1, __VA_ARGS__ }

/* Each instruction has one byte; the first address is 100. */
static struct code code_of(struct insn *insn, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		insn[i].addr = 100 + i;
		if (!insn[i].set_reg) /* a constant in AX is not needed here */
			insn[i].set_reg = GPR_NONE;
	}
	return (struct code){ .func = { .entry = 100, .end = 100 + n }, .insn = insn, .n = n };
}

#define CODE(insn) code_of(insn, sizeof(insn) / sizeof((insn)[0]))

TEST(prologues)
{
	struct insn plain[] = {
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 150),
		INSN(.kind = INSN_PUSH_BP, .emulated = true),
		INSN(.writes = 1u << GPR_BP),
	};
	struct insn large[] = {
		/* lea r12, [rsp - N] */
		INSN(.writes = 1u << GPR_R12), INSN(.kind = INSN_CMP),	     INSN(.kind = INSN_JCC),
		INSN(.kind = INSN_PUSH_BP),    INSN(.writes = 1u << GPR_BP),
	};
	struct insn clobbered[] = {
		INSN(.writes = 1u << GPR_AX),
		INSN(.kind = INSN_PUSH_BP),
		INSN(.writes = 1u << GPR_BP),
	};
	struct insn spilled[] = {
		/* a store before the push */
		INSN(.stores = true),
		INSN(.kind = INSN_PUSH_BP),
		INSN(.writes = 1u << GPR_BP),
	};
	struct insn frame_by_sub[] = {
		/* <= 1.20 */
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 150),
		INSN(.writes = 1u << GPR_SP),
		INSN(.stores = true),
		INSN(.writes = 1u << GPR_BP),
	};
	struct insn unchecked[] = {
		/* the same of a nosplit function */
		INSN(.writes = 1u << GPR_SP),
		INSN(.stores = true),
		INSN(.writes = 1u << GPR_BP),
	};
	struct insn other[] = { INSN(.kind = INSN_PUSH_BP), INSN(.writes = 1u << GPR_AX) };
	struct insn none[] = { INSN(.kind = INSN_CMP), INSN(.kind = INSN_RET) };
	struct code c;

	c = CODE(plain);
	assert_int_equal(find__entry(&c), 2);
	c = CODE(large);
	assert_int_equal(find__entry(&c), 3);
	c = CODE(frame_by_sub);
	assert_int_equal(find__entry(&c), 1);
	frame_by_sub[4].writes = 1u << GPR_AX;
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(unchecked);
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(clobbered);
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(spilled);
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(other);
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(none);
	assert_true(find__entry(&c) == NO_INSN);
	c = CODE(plain);
	c.n = 3;
	assert_true(find__entry(&c) == NO_INSN);
}

TEST(behind_a_call)
{
	struct insn insn[] = {
		INSN(.kind = INSN_CALL, .target = 7),
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 104),
		INSN(.writes = 1u << GPR_AX),
		INSN(.kind = INSN_RET),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__call(&c, 7, 0), 0);
	assert_true(find__call(&c, 7, 1) == NO_INSN);
	assert_true(find__call(&c, 8, 0) == NO_INSN);
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 2);
	insn[4] = (struct insn)INSN(.kind = INSN_JMP, .addr = 104, .target = 102);
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX),
			 1); /* instruction 2 is reached without the call */
	insn[4].kind = INSN_JCC;
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 1);
	insn[4].kind = INSN_RET;
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 2);
	insn[1].writes = 1u << GPR_AX; /* the result is gone at the jump */
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 1);
	insn[1].writes = 0;
	insn[4] = (struct insn){
		.addr = insn[4].addr, .len = insn[4].len, .kind = INSN_JMP, .target = insn[2].addr
	};
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 1); /* 2 is jumped to */
	insn[4].kind = INSN_RET;
	insn[1].writes = 1u << GPR_AX;
	insn[2].target = 101; /* it is reached without the call, too */
	assert_true(find__after_call(&c, 0, 1u << GPR_AX) == NO_INSN);
	c.n = 1;
	assert_true(find__after_call(&c, 0, 1u << GPR_AX) == NO_INSN);
}

/* Code after the function's end, or more than six instructions away, is ignored. */
TEST(not_far_behind_a_call)
{
	struct insn insn[] = {
		INSN(.kind = INSN_CALL), INSN(.kind = INSN_CMP), INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_CMP),	 INSN(.kind = INSN_CMP), INSN(.kind = INSN_CMP),
		INSN(.emulated = true),	 INSN(.emulated = true),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 6);
	c.n = 6;
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 1);
	c.n = 8;
	insn[6].emulated = false;
	assert_int_equal(find__after_call(&c, 0, 1u << GPR_AX), 1);
}

TEST(trace_test)
{
	/* jne slow; off; jmp on; slow: call acquire; on: test; je end; call tracer; end: */
	struct insn insn[] = {
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .target = 104),
		INSN(.kind = INSN_OTHER),
		INSN(.kind = INSN_JMP, .target = 105),
		INSN(.kind = INSN_CALL, .target = 7),
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .target = 108),
		INSN(.kind = INSN_CALL, .target = 9),
		INSN(.kind = INSN_RET),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__trace_test(&c, 7, 7), 1);
	assert_true(find__trace_test(&c, 7, 8) == NO_INSN);
	insn[1].target = 106;
	assert_true(find__trace_test(&c, 7, 7) == NO_INSN);
	insn[1].target = 103; /* to a nop before the call */
	assert_true(find__trace_test(&c, 7, 7) == NO_INSN);
	insn[2].kind = INSN_JMP;
	insn[3].kind = INSN_NOP;
	assert_int_equal(find__trace_test(&c, 7, 7), 1);
	insn[2].kind = INSN_OTHER;
	insn[3].kind = INSN_JMP;
	insn[1].target = 104;
	insn[2].kind = INSN_CALL; /* a call in between: not the test */
	assert_true(find__trace_test(&c, 7, 7) == NO_INSN);
}

TEST(guards)
{
	/* je end; je end; call tracer; end: */
	struct insn insn[] = {
		INSN(.kind = INSN_CMP),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 105),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 105),
		INSN(.kind = INSN_OTHER),
		INSN(.kind = INSN_CALL, .target = 9),
		INSN(.kind = INSN_RET),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__guard(&c, 4, false), 1);
	insn[1].target = 107; /* another condition's */
	assert_int_equal(find__guard(&c, 4, false), 2);
	insn[3].kind = INSN_CALL;
	assert_true(find__guard(&c, 4, false) == NO_INSN);
	assert_int_equal(find__guard(&c, 4, true), 2);
	insn[2].target = 103; /* not around the call */
	assert_true(find__guard(&c, 4, true) == NO_INSN);
}

TEST(added)
{
	/* lock xadd [rdi], rbx; lea rdi, [r8 + rbx]; test rdx, rdx; je */
	struct insn insn[] = {
		INSN(.kind = INSN_XADD, .width = 8, .src = GPR_BX, .writes = 1u << GPR_BX),
		INSN(.kind = INSN_SUM, .base = GPR_R8, .src = GPR_BX, .writes = 1u << GPR_DI),
		INSN(.kind = INSN_TEST, .src = GPR_DX),
		INSN(.kind = INSN_JCC, .emulated = true, .target = 150),
		INSN(.kind = INSN_XADD, .width = 8, .src = GPR_CX, .writes = 1u << GPR_CX),
		INSN(.kind = INSN_JMP, .target = 150),
	};
	struct code c = CODE(insn);
	enum gpr sum = GPR_NONE;

	assert_int_equal(find__added(&c, 0, &sum), 3);
	assert_int_equal(sum, GPR_DI);
	assert_true(find__added(&c, 1, &sum) == NO_INSN); /* nothing is added to the second one's */
	insn[2].writes = 1u << GPR_DI;
	assert_true(find__added(&c, 0, &sum) == NO_INSN);
	insn[2].writes = 0;
	insn[1].src = GPR_CX; /* a sum of others */
	assert_true(find__added(&c, 0, &sum) == NO_INSN);
	insn[1].src = GPR_BX;
	insn[5].target = 102; /* the jump is also reached otherwise */
	assert_true(find__added(&c, 0, &sum) == NO_INSN);
}

/* lock cmpxchg [r9 + 144], r10; and what compilers make of "did it?" */
#define CAS_INSN                                                                                   \
	INSN(.kind = INSN_CAS, .stores = true, .width = 4, .disp = 144, .base = GPR_R9,            \
	     .src = GPR_R10, .writes = 1u << GPR_AX)

TEST(compare_and_swap)
{
	struct insn branch[] = {
		CAS_INSN,
		INSN(.kind = INSN_JCC, .jump_on_zero_flag = true, .target = 150),
	};
	struct insn test[] = {
		CAS_INSN,
		INSN(.kind = INSN_SETZ, .src = GPR_R11, .writes = 1u << GPR_R11),
		INSN(.kind = INSN_NOP),
		INSN(.kind = INSN_TEST, .src = GPR_R11),
		INSN(.kind = INSN_JCC, .jump_on_zero_flag = true, .target = 150),
	};
	bool flag = false;
	struct code c;

	c = CODE(branch);
	assert_int_equal(find__cas(&c, 144, 4, 0), 0);
	assert_int_equal(find__cas(&c, -1, 4, 0), 0);
	assert_true(find__cas(&c, 152, 4, 0) == NO_INSN);
	assert_true(find__cas(&c, 144, 8, 0) == NO_INSN);
	assert_true(find__cas(&c, 144, 4, 1) == NO_INSN);
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	assert_true(flag); /* je is taken, jne not: it took place */
	branch[1].target = 101;
	assert_true(find__cas_done(&c, 0, &flag) == NO_INSN); /* reached without the swap, too */
	c.n = 1;
	assert_true(find__cas_done(&c, 0, &flag) == NO_INSN);

	c = CODE(test);
	c.n = 4; /* the branch is another function's */
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	c.n = 5;
	assert_int_equal(find__cas_done(&c, 0, &flag), 4);
	assert_false(flag);	       /* test r, r: not zero is yes */
	test[2].writes = 1u << GPR_R9; /* the goroutine is gone at the branch */
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	assert_true(flag);
	test[2].writes = 0;
	test[3].src = GPR_R12; /* another register is tested */
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	test[3].src = GPR_R11;
	test[4].jump_on_zero_flag = false; /* jbe and the like look at more */
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	test[4].jump_on_zero_flag = true;
	test[4].target = 103; /* the branch is reached by another way */
	assert_int_equal(find__cas_done(&c, 0, &flag), 1);
	test[0].base = GPR_SP; /* a local variable is not a goroutine */
	assert_true(find__cas(&c, 144, 4, 0) == NO_INSN);
}

/* nop; mov rax, [next]; retry: lock cmpxchg [r9 + 144], r10; jne retry */
TEST(before_a_swap)
{
	struct insn insn[] = {
		INSN(.kind = INSN_OTHER),
		INSN(.kind = INSN_NOP, .emulated = true),
		INSN(.writes = 1u << GPR_AX),
		CAS_INSN,
		INSN(.kind = INSN_JCC, .target = 102),
		INSN(.kind = INSN_RET),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__before_cas(&c, 3), 1);
	insn[1].emulated = false;
	assert_int_equal(find__before_cas(&c, 3), 2);
	insn[1].emulated = true;
	insn[2].writes = 1u << GPR_R10; /* only then it is the goroutine */
	assert_true(find__before_cas(&c, 3) == NO_INSN);
	insn[2].writes = 1u << GPR_AX;
	insn[0].kind = INSN_JCC;
	insn[0].target = 102; /* past the nop */
	assert_int_equal(find__before_cas(&c, 3), 2);
	insn[0].target = 103; /* past everything */
	assert_true(find__before_cas(&c, 3) == NO_INSN);
	insn[0].target = 101; /* to the nop */
	assert_int_equal(find__before_cas(&c, 3), 1);
	insn[2].kind = INSN_JCC; /* not all who pass the nop come here */
	insn[2].target = 105;
	assert_true(find__before_cas(&c, 3) == NO_INSN);
}

TEST(cleared_members)
{
	struct insn insn[] = {
		INSN(.stores = true, .stores_constant = true, .width = 8, .disp = 200,
		     .base = GPR_SP),
		INSN(.stores = true, .stores_constant = true, .width = 8, .disp = 200, .imm = 1,
		     .base = GPR_CX),
		INSN(.stores = true, .width = 8, .disp = 200, .base = GPR_CX),
		INSN(.stores = true, .stores_constant = true, .width = 4, .disp = 200,
		     .base = GPR_CX),
		INSN(.stores = true, .stores_constant = true, .width = 8, .disp = 200,
		     .base = GPR_CX),
	};
	struct code c = CODE(insn);

	assert_int_equal(find__cleared(&c, 200, 0), 4);
	assert_true(find__cleared(&c, 208, 0) == NO_INSN);
}

/* A cookie must be decoded as it was encoded: each field has its own width. */
TEST(cookies)
{
	uint64_t c = GT_SITE_CAS(GPR_R9, GPR_R15, false, 2, 0x1009) | GT_VIA_REFUSED;

	assert_int_equal(GT_COOKIE_VALUE(c), GT_VIA_REFUSED);
	assert_int_equal(GT_COOKIE_OBJECT(c), GPR_R9 + 1);
	assert_int_equal(GT_COOKIE_NEW_REG(c), GPR_R15 + 1);
	assert_int_equal(GT_COOKIE_OLD_REG(c), GPR_AX + 1);
	assert_int_equal(GT_COOKIE_ZERO_FLAG(c), 1);
	assert_int_equal(GT_COOKIE_OLD(c), 2);
	assert_int_equal(GT_COOKIE_NEW(c), 0x1009);
	assert_int_equal(GT_COOKIE_PROBE(GT_COOKIE(GT_PROBE_COUNT - 1, c)), GT_PROBE_COUNT - 1);
	assert_int_equal(GT_COOKIE_SITE(GT_COOKIE(GT_PROBE_COUNT - 1, c)), c);
	c = GT_SITE_CALL(4, 1);
	assert_int_equal(GT_COOKIE_OLD_REG(c), GPR_BX + 1);
	assert_int_equal(GT_COOKIE_NEW_REG(c), GPR_CX + 1);
	assert_int_equal(GT_COOKIE_ZERO_FLAG(c), 0);
	c = GT_COOKIE(GT_PROBE_COUNT - 1, GT_SITE_PLACE(0x401000, 0x7f0000402000));
	assert_int_equal(GT_COOKIE_PLACE(GT_COOKIE_SITE(c), 0x7f0000402000), 0x401000);
	c = GT_COOKIE(GT_PROBE_COUNT - 1, GT_SITE_PLACE(0x402000, 0x401000));
	assert_int_equal(GT_COOKIE_PLACE(GT_COOKIE_SITE(c), 0x501000), 0x502000);
}

TEST(constants)
{
	struct insn insn[] = {
		INSN(.stores = true, .disp = 0x1240, .imm = 3),
		INSN(.set_reg = GPR_BX, .writes = 1u << GPR_BX, .imm = 4),
		INSN(.writes = 1u << GPR_CX),
		INSN(.kind = INSN_CALL, .target = 7, .writes = 0xffff),
		INSN(.kind = INSN_CALL, .target = 7, .writes = 0xffff),
	};
	struct code c = CODE(insn);
	int64_t v = 0;

	assert_true(find__constant(&c, 3, GPR_BX, &v));
	assert_int_equal(v, 4);
	assert_false(find__constant(&c, 3, GPR_CX, &v));
	assert_false(find__constant(&c, 3, GPR_DI, &v));
	assert_false(find__constant(&c, 4, GPR_BX, &v));
	assert_true(find__stored(&c, 3, 0x1240, 3));
	assert_false(find__stored(&c, 3, 0x1240, 2));
	assert_false(find__stored(&c, 3, 0x1238, 3));
	assert_false(find__stored(&c, 4, 0x1240, 3)); /* belongs to the call before */
}

struct program {
	int fd;
	struct elf_image *elf;
	struct go_buildinfo info;
	struct pclntab *pt;
	struct layout layout;
};

static void open_program(struct program *p, const char *path)
{
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image__open(&p->elf, p->fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(p->elf, &p->info, NULL), 0);
	assert_int_equal(pclntab__open(&p->pt, p->elf, &p->info.version, NULL), 0);
	assert_int_equal(layout__read(p->elf, p->pt, &p->info.version, NULL, &p->layout, NULL), 0);
}

static void close_program(struct program *p)
{
	pclntab__destroy(p->pt);
	elf_image__destroy(p->elf);
	close(p->fd);
}

static void check_site(const struct program *p, const struct site *s)
{
	unsigned char a[6], b[6];
	struct go_func f;

	assert_true(pclntab__find(p->pt, s->addr, &f));
	assert_string_equal(f.name, s->func);
	assert_int_equal(s->addr, f.entry + s->func_offset);
	assert_int_equal(elf_image__read(p->elf, s->addr, a, sizeof(a)), sizeof(a));
	assert_int_equal(pread(p->fd, b, sizeof(b), (off_t)s->offset), sizeof(b));
	assert_memory_equal(a, b, sizeof(a));
	assert_true(s->why[0] && s->text[0]);
	if (s->probe == GT_PROBE_SYSCALL_AT) { /* not probed */
		assert_memory_equal(a, "\x0f\x05", 2);
		return;
	}
	/* push rbp, call rel32, conditional jumps (near or far), nops: what the kernel emulates */
	assert_true(a[0] == 0x55 || a[0] == 0xe8 || a[0] == 0x90 || (a[0] & 0xf0) == 0x70 ||
		    (a[0] == 0x0f && (a[1] & 0xf0) == 0x80) || (a[0] == 0x66 && a[1] == 0x90));
	/* on a condition that is no event's own: je and jne, but where a result is awaited */
	if ((a[0] & 0xf0) == 0x70 && (a[0] & 0xfe) != 0x74 && p->layout.version.minor > 20)
		assert_int_equal(s->probe, GT_PROBE_SWEEP_LEFT);
	assert_int_equal(s->cost, SITE_EMULATED);
}

static size_t count(const struct site_list *list, enum gt_probe probe, uint64_t cookie)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->site[i].probe == probe &&
		     GT_COOKIE_VALUE(list->site[i].cookie) == cookie;
	return n;
}

static void sites_of(const char *path)
{
	struct error err = { "" };
	struct site_list list;
	struct program p;
	bool tentative;

	open_program(&p, path);
	if (site_list__find(&list, p.elf, p.pt, &p.layout, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < list.n; i++) {
		check_site(&p, &list.site[i]);
		assert_true(list.has[list.site[i].probe]);
		for (size_t k = 0; k < i; k++)
			assert_true(list.site[k].addr != list.site[i].addr);
	}
	tentative = p.layout.exit_is_tentative;
	for (int probe = 0; probe < GT_PROBE_COUNT; probe++) {
		bool expected =
			probe == GT_PROBE_SYSCALL_EXIT	   ? !tentative :
			probe == GT_PROBE_SYSCALL_TRY_EXIT ? tentative :
			probe == GT_PROBE_SYSCALL_AT || probe == GT_PROBE_SYSCALL_CALL ?
							     p.layout.derives_syscalls :
			probe == GT_PROBE_SYSCALL_RETURN ? tentative :
			probe == GT_PROBE_CREATE_SYSCALL || probe == GT_PROBE_DESTROY_SYSCALL ?
							   p.layout.version.minor >= 22 :
			probe == GT_PROBE_FUNC_CALL ? false : /* calls.c finds its sites */
			probe == GT_PROBE_REQUEST ? false :   /* presets.c does */
			probe == GT_PROBE_PLUGIN_MAPPED ? false : /* it loads none */
			probe == GT_PROBE_LABELS ? false : /* the program sets none */
						      true;

		if (probe != GT_PROBE_SWITCH && probe != GT_PROBE_CREATE_BLOCKED)
			assert_int_equal(list.has[probe], expected);
	}
	assert_int_equal(list.nmissing, 0);
	if (p.layout.derives_syscalls) {
		/* cgocall; notetsleepg too, whose system call begins at syscall_block */
		assert_int_equal(count(&list, GT_PROBE_SYSCALL_AT, 0), 1);
		assert_int_equal(count(&list, GT_PROBE_SYSCALL_CALL, GT_SYSCALL_OF_CALL), 1);
		assert_int_equal(count(&list, GT_PROBE_SYSCALL_CALL, 0), 0);
		assert_int_equal(count(&list, GT_PROBE_SYSCALL_RETURN, 0), tentative ? 2 : 0);
	}
	assert_int_equal(count(&list, GT_PROBE_ASSIST_END, 0), 3);
	assert_int_equal(count(&list, GT_PROBE_SWEEP_BEGIN, 0), 3);
	assert_int_equal(count(&list, GT_PROBE_SWEEP_END, 0), 4);
	assert_true(count(&list, GT_PROBE_CAS_RUNNABLE, GT_VIA_SCHEDULER) >= 4);
	assert_int_equal(count(&list, GT_PROBE_CAS_RUNNABLE, GT_VIA_GC_WORKER), 3);
	assert_int_equal(count(&list, GT_PROBE_CAS_RUNNABLE, GT_VIA_REFUSED), 1);
	if (p.layout.version.minor < 22) {
		assert_int_equal(count(&list, GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS), 2);
		assert_int_equal(count(&list, GT_PROBE_GOSCHED, GT_GOSCHED_PREEMPTED), 1);
	}
	site_list__deinit(&list);
	close_program(&p);
}

TEST(programs_have_sites)
{
	for_each_program(sites_of);
}

/* Rows of another release do not match: an error that names what is missing, no wrong site. */
static void other_release(const char *path)
{
	struct error err = { "" };
	struct site_list list;
	struct program p;

	open_program(&p, path);
	p.layout.version.minor = p.layout.version.minor >= 26 ? 24 : 26;
	assert_int_equal(site_list__find(&list, p.elf, p.pt, &p.layout, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "cannot observe when"));
	assert_non_null(strstr(err.text, "runtime."));
	/* Sites found and missing are reported nevertheless. */
	assert_true(list.n > 5 && list.nmissing && list.missing[0].needed);
	assert_non_null(strstr(err.text, list.missing[0].why));
	assert_non_null(strstr(err.text, list.missing[0].reason));
	site_list__deinit(&list);
	close_program(&p);
}

TEST(an_unfit_program_is_refused)
{
	for_each_program(other_release);
}

TEST(probes_have_names)
{
	for (int i = 0; i < GT_PROBE_COUNT; i++)
		assert_true(strlen(site__probe_name(i)) > 1);
	assert_string_equal(site__probe_name(GT_PROBE_EXECUTE), "execute");
	assert_string_equal(site__probe_name(GT_PROBE_COUNT), "?");
}

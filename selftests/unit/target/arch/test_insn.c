// SPDX-License-Identifier: GPL-2.0
/* Tests of target/arch/insn_x86.c: decoded instructions, and functions that are rejected. */
#include "unit/test.h"
#include "target/probe/code.h"
#include "target/symbols/pclntab_impl.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

#define NO_BASE .base = GPR_NONE
#define NO_SRC	.src = GPR_NONE
#define NO_SET	.set_reg = GPR_NONE
#define NONE	NO_BASE, NO_SRC, NO_SET
#define R(reg)	(1u << GPR_##reg)

/* An instruction as displayed, and its expected description without `addr` and `len`. */
struct expected {
	const char *text;
	struct insn insn;
};

static void check(const unsigned char *bytes, size_t len, const struct expected *want, size_t n)
{
	struct made_section sec = { .name = ".text", .data = bytes, .len = len };
	struct go_func func = { .entry = MADE_FIRST, .end = MADE_FIRST + len };
	uint64_t addr = func.entry;
	struct pclntab none = { 0 };
	struct elf_image *elf;
	struct code code;
	char text[64];
	int fd = elf_made(&sec, 1);

	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	assert_true(code__read(&code, elf, &func));
	for (size_t i = 0; i < code.n && i < n; i++) {
		struct insn got = code.insn[i];

		code__format(&code, i, &none, text, sizeof(text));
		print_message("# %zu: %s\n", i, text);
		assert_memory_equal(text, want[i].text,
				    strlen(want[i].text)); /* without addresses */
		assert_int_equal(got.addr, addr);
		addr += got.len;
		if (want[i].insn.target)
			got.target -= MADE_FIRST;
		got.addr = got.len = 0;
		assert_int_equal(got.kind, want[i].insn.kind);
		assert_int_equal(got.target, want[i].insn.target);
		assert_int_equal(got.emulated, want[i].insn.emulated);
		assert_int_equal(got.stores, want[i].insn.stores);
		assert_int_equal(got.stores_constant, want[i].insn.stores_constant);
		assert_int_equal(got.jump_on_zero_flag, want[i].insn.jump_on_zero_flag);
		assert_int_equal(got.base, want[i].insn.base);
		assert_int_equal(got.src, want[i].insn.src);
		assert_int_equal(got.width, want[i].insn.width);
		assert_int_equal(got.set_reg, want[i].insn.set_reg);
		assert_int_equal(got.writes, want[i].insn.writes);
		assert_int_equal(got.imm, want[i].insn.imm);
		assert_int_equal(got.disp, want[i].insn.disp);
	}
	assert_int_equal(code.n, n);
	assert_int_equal(addr, func.end);
	code__deinit(&code);
	elf_image__destroy(elf);
	close(fd);
}

#define CHECK(name, want)                                                                          \
	check(name, (size_t)(name##_end - (name)), want, sizeof(want) / sizeof((want)[0]))

#define CODE(name, text)                                                                           \
	extern const unsigned char name[], name##_end[];                                           \
	asm(".pushsection .rodata\n.intel_syntax noprefix\n" #name ":\n" text "\n" #name           \
	    "_end:\n.att_syntax\n.popsection\n")

CODE(branches, "call .+0x20; call rax; jmp .+0x10; jmp .+0x200; jmp rax; ret; je .+0x10; "
	       "jne .+0x300; jo .+0x10; jg .+0x10; jo .+0x300; jg .+0x300; loop .+0x10; seto al; "
	       "movq mm0, mm1; ");

/* Direct calls and jumps have a target; the kernel emulates all of them but LOOP. */
TEST(branches_are_read)
{
	static const struct expected want[] = {
		{ "call ",
		  { .kind = INSN_CALL, .target = 0x20, .emulated = true, .writes = 0xffff, NONE } },
		{ "call rax", { .kind = INSN_CALL, .writes = 0xffff, NONE } },
		{ "jmp ", { .kind = INSN_JMP, .target = 0x17, .emulated = true, NONE } },
		{ "jmp ", { .kind = INSN_JMP, .target = 0x209, .emulated = true, NONE } },
		{ "jmp rax", { .kind = INSN_JMP, NONE } },
		{ "ret", { .kind = INSN_RET, .writes = R(SP), NONE } },
		{ "jz ",
		  { .kind = INSN_JCC,
		    .target = 0x21,
		    .emulated = true,
		    .jump_on_zero_flag = true,
		    NONE } },
		{ "jnz ",
		  { .kind = INSN_JCC,
		    .target = 0x313,
		    .emulated = true,
		    .jump_on_zero_flag = true,
		    NONE } },
		{ "jo ", { .kind = INSN_JCC, .target = 0x29, .emulated = true, NONE } },
		{ "jnle ", { .kind = INSN_JCC, .target = 0x2b, .emulated = true, NONE } },
		{ "jo ", { .kind = INSN_JCC, .target = 0x31d, .emulated = true, NONE } },
		{ "jnle ", { .kind = INSN_JCC, .target = 0x323, .emulated = true, NONE } },
		{ "loop ", { .kind = INSN_JCC, .target = 0x39, .writes = R(CX), NONE } },
		{ "seto al", { .kind = INSN_OTHER, .writes = R(AX), NONE } },
		{ "movq mm0, mm1", { .kind = INSN_OTHER, NONE } },
	};

	CHECK(branches, want);
}

CODE(pushes, "push rbp; push rax; push rdi; push r8; push r15; pop rax; pop r8; push ax; "
	     "push 5; push [rbx+8]; nop; .byte 0x66,0x90; .byte 0x0f,0x1f,0x00; ");

/* A push of a whole register is emulated, and the nop of one byte, even with a prefix. */
TEST(pushes_are_read)
{
	static const struct expected want[] = {
		{ "push rbp", { .kind = INSN_PUSH_BP, .emulated = true, .writes = R(SP), NONE } },
		{ "push rax", { .kind = INSN_OTHER, .emulated = true, .writes = R(SP), NONE } },
		{ "push rdi", { .kind = INSN_OTHER, .emulated = true, .writes = R(SP), NONE } },
		{ "push r8", { .kind = INSN_OTHER, .emulated = true, .writes = R(SP), NONE } },
		{ "push r15", { .kind = INSN_OTHER, .emulated = true, .writes = R(SP), NONE } },
		{ "pop rax", { .kind = INSN_OTHER, .writes = R(AX) | R(SP), NONE } },
		{ "pop r8", { .kind = INSN_OTHER, .writes = R(SP) | R(R8), NONE } },
		{ "push ax", { .kind = INSN_OTHER, .writes = R(SP), NONE } },
		{ "push 0x05", { .kind = INSN_OTHER, .writes = R(SP), NONE } },
		{ "push [rbx+0x08]", { .kind = INSN_OTHER, .writes = R(SP), NONE } },
		{ "nop", { .kind = INSN_NOP, .emulated = true, NONE } },
		{ "nop", { .kind = INSN_NOP, .emulated = true, NONE } },
		{ "nop [rax], eax", { .kind = INSN_NOP, NONE } },
	};

	CHECK(pushes, want);
}

CODE(atomics, "lock cmpxchg [r9+144], r10d; cmpxchg [r9+144], r10d; "
	      "lock cmpxchg [r9+r8+144], r10; lock xadd [rdi], rbx; xadd [rdi], rbx; ");

/* Compare-and-swap and atomic addition, which both need the lock prefix. */
TEST(atomics_are_read)
{
	static const struct expected want[] = {
		{ "lock cmpxchg [r9+0x90], r10d",
		  { .kind = INSN_CAS,
		    .stores = true,
		    .width = 4,
		    .disp = 144,
		    .writes = R(AX),
		    .base = GPR_R9,
		    .src = GPR_R10,
		    NO_SET } },
		{ "cmpxchg [r9+0x90], r10d",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 4,
		    .disp = 144,
		    .writes = R(AX),
		    .base = GPR_R9,
		    NO_SRC,
		    NO_SET } },
		{ "lock cmpxchg [r9+r8*1+0x90], r10",
		  { .kind = INSN_CAS,
		    .stores = true,
		    .width = 8,
		    .disp = 144,
		    .writes = R(AX),
		    NO_BASE,
		    .src = GPR_R10,
		    NO_SET } },
		{ "lock xadd [rdi], rbx",
		  { .kind = INSN_XADD,
		    .stores = true,
		    .width = 8,
		    .writes = R(BX),
		    .base = GPR_DI,
		    .src = GPR_BX,
		    NO_SET } },
		{ "xadd [rdi], rbx",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 8,
		    .writes = R(BX),
		    .base = GPR_DI,
		    NO_SRC,
		    NO_SET } },
	};

	CHECK(atomics, want);
}

CODE(tests, "cmp rsp,[r14+16]; sete r11b; sete [rax]; setne al; test r11b, r11b; test al, cl; "
	    "test al, 1; test [rax], al; ");

/* What a branch may be on. A register tested with itself is the result of a SETZ. */
TEST(tests_are_read)
{
	static const struct expected want[] = {
		{ "cmp rsp, [r14+0x10]", { .kind = INSN_CMP, NONE } },
		{ "setz r11b",
		  { .kind = INSN_SETZ, .writes = R(R11), NO_BASE, .src = GPR_R11, NO_SET } },
		{ "setz [rax]",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 1,
		    .base = GPR_AX,
		    NO_SRC,
		    NO_SET } },
		{ "setnz al", { .kind = INSN_OTHER, .writes = R(AX), NONE } },
		{ "test r11b, r11b", { .kind = INSN_TEST, NO_BASE, .src = GPR_R11, NO_SET } },
		{ "test al, cl", { .kind = INSN_OTHER, NONE } },
		{ "test al, 0x01", { .kind = INSN_OTHER, NONE } },
		{ "test [rax], al", { .kind = INSN_OTHER, NONE } },
	};

	CHECK(tests, want);
}

CODE(sums, "lea rdi, [r8+rbx]; lea rdi, [r8+rbx+8]; lea rdi, [r8+rbx*2]; lea rdi, [r8]; "
	   "lea edi, [r8+rbx]; add rdi, rbx; add rdi, 8; add edi, ebx; add rdi, [rax]; "
	   "add [rax], rdi; sub rdi, rbx; ");

/* The sum of two whole registers and nothing else. */
TEST(sums_are_read)
{
	static const struct expected want[] = {
		{ "lea rdi, [r8+rbx*1]",
		  { .kind = INSN_SUM, .writes = R(DI), .base = GPR_R8, .src = GPR_BX, NO_SET } },
		{ "lea rdi, [r8+rbx*1+0x08]", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "lea rdi, [r8+rbx*2]", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "lea rdi, [r8]", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "lea edi, [r8+rbx*1]", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "add rdi, rbx",
		  { .kind = INSN_SUM, .writes = R(DI), .base = GPR_DI, .src = GPR_BX, NO_SET } },
		{ "add rdi, 0x08", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "add edi, ebx", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "add rdi, [rax]", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
		{ "add [rax], rdi",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 8,
		    .base = GPR_AX,
		    NO_SRC,
		    NO_SET } },
		{ "sub rdi, rbx", { .kind = INSN_OTHER, .writes = R(DI), NONE } },
	};

	CHECK(sums, want);
}

CODE(stores, "mov dword ptr [rsp+8], 3; mov qword ptr [rcx+200], 0; mov [rcx+rdx*8], rax; "
	     "mov byte ptr [rip+8], 1; add qword ptr [rax], 5; xor [rax], eax; "
	     "movups [rax+3], xmm0; xchg rax, [rbx]; rep stosq; ");

/* Where memory is written, and with which constant. */
TEST(stores_are_read)
{
	static const struct expected want[] = {
		{ "mov dword ptr [rsp+0x08], 0x03",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .stores_constant = true,
		    .width = 4,
		    .disp = 8,
		    .imm = 3,
		    .base = GPR_SP,
		    NO_SRC,
		    NO_SET } },
		{ "mov qword ptr [rcx+0xC8], 0x00",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .stores_constant = true,
		    .width = 8,
		    .disp = 200,
		    .base = GPR_CX,
		    NO_SRC,
		    NO_SET } },
		{ "mov [rcx+rdx*8], rax",
		  { .kind = INSN_OTHER, .stores = true, .width = 8, NONE } },
		{ "mov byte ptr ",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .stores_constant = true,
		    .width = 1,
		    .disp = 8,
		    .imm = 1,
		    NONE } },
		{ "add qword ptr [rax], 0x05",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 8,
		    .base = GPR_AX,
		    NO_SRC,
		    NO_SET } },
		{ "xor [rax], eax",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 4,
		    .base = GPR_AX,
		    NO_SRC,
		    NO_SET } },
		{ "movups [rax+0x03], xmm0",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 16,
		    .disp = 3,
		    .base = GPR_AX,
		    NO_SRC,
		    NO_SET } },
		{ "xchg [rbx], rax",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 8,
		    .writes = R(AX),
		    .base = GPR_BX,
		    NO_SRC,
		    NO_SET } },
		{ "rep stosq",
		  { .kind = INSN_OTHER,
		    .stores = true,
		    .width = 8,
		    .writes = R(CX) | R(DI),
		    .base = GPR_DI,
		    NO_SRC,
		    NO_SET } },
	};

	CHECK(stores, want);
}

CODE(constants, "mov ebx, 4; mov r15, -1; movabs rax, 0x123456789a; xor ecx, ecx; xor ecx, eax; "
		"lea rax, [rip+16]; lea rax, [rbx+16]; mov rax, [rbx]; movups xmm0, [rax]; "
		"mul rbx; mulx rax, rbx, rcx; ");

/* Registers that are set to a constant or an address, and all those that are written. */
TEST(constants_are_read)
{
	static const struct expected want[] = {
		{ "mov ebx, 0x04",
		  { .kind = INSN_OTHER,
		    .imm = 4,
		    .writes = R(BX),
		    NO_BASE,
		    NO_SRC,
		    .set_reg = GPR_BX } },
		{ "mov r15, 0xFFFFFFFFFFFFFFFF",
		  { .kind = INSN_OTHER,
		    .imm = -1,
		    .writes = R(R15),
		    NO_BASE,
		    NO_SRC,
		    .set_reg = GPR_R15 } },
		{ "mov rax, 0x123456789A",
		  { .kind = INSN_OTHER,
		    .imm = 0x123456789a,
		    .writes = R(AX),
		    NO_BASE,
		    NO_SRC,
		    .set_reg = GPR_AX } },
		{ "xor ecx, ecx",
		  { .kind = INSN_OTHER, .writes = R(CX), NO_BASE, NO_SRC, .set_reg = GPR_CX } },
		{ "xor ecx, eax", { .kind = INSN_OTHER, .writes = R(CX), NONE } },
		{ "lea rax, ",
		  { .kind = INSN_OTHER,
		    .imm = MADE_FIRST + 49,
		    .writes = R(AX),
		    NO_BASE,
		    NO_SRC,
		    .set_reg = GPR_AX } },
		{ "lea rax, [rbx+0x10]", { .kind = INSN_OTHER, .writes = R(AX), NONE } },
		{ "mov rax, [rbx]", { .kind = INSN_OTHER, .writes = R(AX), NONE } },
		{ "movups xmm0, [rax]", { .kind = INSN_OTHER, NONE } },
		{ "mul rbx", { .kind = INSN_OTHER, .writes = R(AX) | R(DX), NONE } },
		{ "mulx rax, rbx, rcx", { .kind = INSN_OTHER, .writes = R(AX) | R(BX), NONE } },
	};

	CHECK(constants, want);
}

/* Reads `len` bytes at `from` of a section of `size` bytes, all of them nops but the last. */
static bool reads(uint64_t from, uint64_t len, size_t size, unsigned char last)
{
	unsigned char *bytes = malloc(size);
	struct made_section sec = { .name = ".text", .data = bytes, .len = size };
	struct go_func func = { .entry = MADE_FIRST + from, .end = MADE_FIRST + from + len };
	struct elf_image *elf;
	struct code code = { .n = 0 };
	bool read;
	int fd;

	memset(bytes, 0x90, size);
	bytes[size - 1] = last;
	fd = elf_made(&sec, 1);
	free(bytes);
	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	read = code__read(&code, elf, &func);
	if (read) {
		assert_int_equal(code.n, len);
		assert_int_equal(code.func.entry, func.entry);
		code__deinit(&code);
		assert_true(!code.insn && !code.bytes && !code.n);
	}
	elf_image__destroy(elf);
	close(fd);
	return read;
}

TEST(what_is_no_function_is_refused)
{
	assert_true(reads(0, 64, 64, 0x90));
	assert_true(reads(63, 1, 64, 0xc3));
	assert_false(reads(0, 64, 64, 0xe8)); /* an instruction that is cut */
	assert_true(reads(0, 63, 64, 0xe8));
	assert_false(reads(0, 64, 64, 0x06)); /* none in 64-bit mode */
	assert_false(reads(16, 0, 64, 0x90));
	assert_false(reads(16, (uint64_t)-1, 64, 0x90));
	assert_false(reads(0, 4096, 64, 0x90)); /* more than the file has */
	assert_false(reads(1 << 20, 16, 64, 0x90));
}

TEST(up_to_256_kib)
{
	assert_true(reads(0, 256 << 10, 257 << 10, 0x90));
	assert_false(reads(0, (256 << 10) + 1, 257 << 10, 0x90));
}

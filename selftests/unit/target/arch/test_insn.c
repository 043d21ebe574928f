// SPDX-License-Identifier: GPL-2.0
/* Tests of target/arch/insn_x86.c: decoded instructions, and functions that are rejected. */
#include "unit/test.h"
#include "target/probe/code.h"
#include "target/symbols/pclntab_impl.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

#define NAME(name) #name,

static const char *const registers[] = { ARCH_REGISTERS(NAME) };
static const char *const kinds[] = {
	[INSN_OTHER] = "other", [INSN_CALL] = "call", [INSN_JMP] = "jmp",
	[INSN_JCC] = "jcc",	[INSN_RET] = "ret",   [INSN_CMP] = "cmp",
	[INSN_NOP] = "nop",	[INSN_CAS] = "cas",   [INSN_PUSH_BP] = "push bp",
	[INSN_SETZ] = "setz",	[INSN_TEST] = "test", [INSN_SYSCALL] = "syscall",
	[INSN_XADD] = "xadd",	[INSN_SUM] = "sum",
};

/* An instruction as displayed, and what is read of it, by describe(). */
struct expected {
	const char *text, *insn;
};

static void put(FILE *f, const char *name, int64_t value)
{
	if (value)
		fprintf(f, ", %s %" PRId64, name, value);
}

static void put_register(FILE *f, const char *name, uint8_t reg)
{
	if (reg != GPR_NONE)
		fprintf(f, ", %s %s", name, registers[reg]);
}

/* All members but `addr` and `len`; addresses are relative to the function. */
static void describe(const struct insn *in, char *ret, size_t size)
{
	FILE *f = fmemopen(ret, size, "w");

	fputs(kinds[in->kind], f);
	put(f, "to", in->target ? (int64_t)(in->target - MADE_FIRST) : 0);
	fputs(in->emulated ? ", emulated" : "", f);
	fputs(in->jump_on_zero_flag ? ", on zero flag" : "", f);
	fputs(in->stores ? ", stores" : "", f);
	fputs(in->stores_constant ? ", constant" : "", f);
	put(f, "width", in->width);
	put_register(f, "base", in->base);
	put(f, "disp", in->disp);
	put_register(f, "src", in->src);
	put_register(f, "sets", in->set_reg);
	if (in->imm >= (int64_t)MADE_FIRST && in->imm < (int64_t)MADE_FIRST + 1000)
		fprintf(f, ", imm first+%d", (int)(in->imm - (int64_t)MADE_FIRST));
	else
		put(f, "imm", in->imm);
	fputs(in->writes == 0xffff ? ", writes all" : in->writes ? ", writes" : "", f);
	for (unsigned int i = 0; i < 32 && in->writes != 0xffff; i++)
		if (in->writes & 1u << i)
			fprintf(f, " %s", i < 16 ? registers[i] : "?");
	fclose(f);
}

static void check(const unsigned char *bytes, size_t len, const struct expected *want, size_t n)
{
	struct made_section sec = { .name = ".text", .data = bytes, .len = len };
	struct go_func func = { .entry = MADE_FIRST, .end = MADE_FIRST + len };
	uint64_t addr = func.entry;
	struct pclntab none = { 0 };
	struct elf_image *elf;
	struct code code;
	char text[200];
	int fd = elf_made(&sec, 1);

	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	assert_true(code__read(&code, elf, &func));
	for (size_t i = 0; i < code.n && i < n; i++) {
		code__format(&code, i, &none, text, sizeof(text));
		print_message("# %zu: %s\n", i, text);
		assert_memory_equal(text, want[i].text,
				    strlen(want[i].text)); /* without addresses */
		assert_int_equal(code.insn[i].addr, addr);
		addr += code.insn[i].len;
		describe(&code.insn[i], text, sizeof(text));
		assert_string_equal(text, want[i].insn);
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
		{ "call ", "call, to 32, emulated, writes all" },
		{ "call rax", "call, writes all" },
		{ "jmp ", "jmp, to 23, emulated" },
		{ "jmp ", "jmp, to 521, emulated" },
		{ "jmp rax", "jmp" },
		{ "ret", "ret, writes SP" },
		{ "jz ", "jcc, to 33, emulated, on zero flag" },
		{ "jnz ", "jcc, to 787, emulated, on zero flag" },
		{ "jo ", "jcc, to 41, emulated" },
		{ "jnle ", "jcc, to 43, emulated" },
		{ "jo ", "jcc, to 797, emulated" },
		{ "jnle ", "jcc, to 803, emulated" },
		{ "loop ", "jcc, to 57, writes CX" },
		{ "seto al", "other, writes AX" },
		{ "movq mm0, mm1", "other" },
	};

	CHECK(branches, want);
}

CODE(pushes, "push rbp; push rax; push rdi; push r8; push r15; pop rax; pop r8; push ax; "
	     "push 5; push [rbx+8]; nop; .byte 0x66,0x90; .byte 0x0f,0x1f,0x00; ");

/* A push of a whole register is emulated, and the nop of one byte, even with a prefix. */
TEST(pushes_are_read)
{
	static const struct expected want[] = {
		{ "push rbp", "push bp, emulated, writes SP" },
		{ "push rax", "other, emulated, writes SP" },
		{ "push rdi", "other, emulated, writes SP" },
		{ "push r8", "other, emulated, writes SP" },
		{ "push r15", "other, emulated, writes SP" },
		{ "pop rax", "other, writes AX SP" },
		{ "pop r8", "other, writes SP R8" },
		{ "push ax", "other, writes SP" },
		{ "push 0x05", "other, writes SP" },
		{ "push [rbx+0x08]", "other, writes SP" },
		{ "nop", "nop, emulated" },
		{ "nop", "nop, emulated" },
		{ "nop [rax], eax", "nop" },
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
		  "cas, stores, width 4, base R9, disp 144, src R10, writes AX" },
		{ "cmpxchg [r9+0x90], r10d",
		  "other, stores, width 4, base R9, disp 144, writes AX" },
		{ "lock cmpxchg [r9+r8*1+0x90], r10",
		  "cas, stores, width 8, disp 144, src R10, writes AX" },
		{ "lock xadd [rdi], rbx", "xadd, stores, width 8, base DI, src BX, writes BX" },
		{ "xadd [rdi], rbx", "other, stores, width 8, base DI, writes BX" },
	};

	CHECK(atomics, want);
}

CODE(tests, "cmp rsp,[r14+16]; sete r11b; sete [rax]; setne al; test r11b, r11b; test al, cl; "
	    "test al, 1; test [rax], al; ");

/* What a branch may be on. A register tested with itself is the result of a SETZ. */
TEST(tests_are_read)
{
	static const struct expected want[] = {
		{ "cmp rsp, [r14+0x10]", "cmp" },
		{ "setz r11b", "setz, src R11, writes R11" },
		{ "setz [rax]", "other, stores, width 1, base AX" },
		{ "setnz al", "other, writes AX" },
		{ "test r11b, r11b", "test, src R11" },
		{ "test al, cl", "other" },
		{ "test al, 0x01", "other" },
		{ "test [rax], al", "other" },
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
		{ "lea rdi, [r8+rbx*1]", "sum, base R8, src BX, writes DI" },
		{ "lea rdi, [r8+rbx*1+0x08]", "other, writes DI" },
		{ "lea rdi, [r8+rbx*2]", "other, writes DI" },
		{ "lea rdi, [r8]", "other, writes DI" },
		{ "lea edi, [r8+rbx*1]", "other, writes DI" },
		{ "add rdi, rbx", "sum, base DI, src BX, writes DI" },
		{ "add rdi, 0x08", "other, writes DI" },
		{ "add edi, ebx", "other, writes DI" },
		{ "add rdi, [rax]", "other, writes DI" },
		{ "add [rax], rdi", "other, stores, width 8, base AX" },
		{ "sub rdi, rbx", "other, writes DI" },
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
		  "other, stores, constant, width 4, base SP, disp 8, imm 3" },
		{ "mov qword ptr [rcx+0xC8], 0x00",
		  "other, stores, constant, width 8, base CX, disp 200" },
		{ "mov [rcx+rdx*8], rax", "other, stores, width 8" },
		{ "mov byte ptr ", "other, stores, constant, width 1, disp 8, imm 1" },
		{ "add qword ptr [rax], 0x05", "other, stores, width 8, base AX" },
		{ "xor [rax], eax", "other, stores, width 4, base AX" },
		{ "movups [rax+0x03], xmm0", "other, stores, width 16, base AX, disp 3" },
		{ "xchg [rbx], rax", "other, stores, width 8, base BX, writes AX" },
		{ "rep stosq", "other, stores, width 8, base DI, writes CX DI" },
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
		{ "mov ebx, 0x04", "other, sets BX, imm 4, writes BX" },
		{ "mov r15, 0xFFFFFFFFFFFFFFFF", "other, sets R15, imm -1, writes R15" },
		{ "mov rax, 0x123456789A", "other, sets AX, imm 78187493530, writes AX" },
		{ "xor ecx, ecx", "other, sets CX, writes CX" },
		{ "xor ecx, eax", "other, writes CX" },
		{ "lea rax, ", "other, sets AX, imm first+49, writes AX" },
		{ "lea rax, [rbx+0x10]", "other, writes AX" },
		{ "mov rax, [rbx]", "other, writes AX" },
		{ "movups xmm0, [rax]", "other" },
		{ "mul rbx", "other, writes AX DX" },
		{ "mulx rax, rbx, rcx", "other, writes AX BX" },
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

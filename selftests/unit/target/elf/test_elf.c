// SPDX-License-Identifier: GPL-2.0
/* Tests of target/elf/elf.c (rejected files, sections, symbols, bytes) and of lib/buf.h. */
#include <elf.h>
#include <time.h>

#include "unit/test.h"
#include "lib/buf.h"
#include "target/elf/elf.h"

#include "unit/programs.h"
#include "unit/elf_made.h"

TEST(reads_stop_at_the_end)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 'h', 'i', 0, 'x' };
	struct buf b = buf__make(bytes, sizeof(bytes));
	uint32_t v = 7;

	assert_int_equal(buf__u32(&b), 0x04030201);
	assert_int_equal(buf__u8(&b), 5);
	buf__skip(&b, 4);
	assert_int_equal(buf__u8(&b), 'h');
	assert_false(b.bad);
	assert_int_equal(buf__u32(&b), 0);
	assert_true(b.bad);
	assert_int_equal(buf__u8(&b), 0); /* bad permanently, though bytes are left */
	assert_int_equal(buf__left(&b), 3);

	assert_true(buf__u32_at(&b, 9, &v));
	assert_false(buf__u32_at(&b, 10, &v));
	assert_false(buf__u32_at(&b, UINT64_MAX - 1, &v));
	assert_string_equal(buf__string_at(&b, 9), "hi");
	assert_null(buf__string_at(&b, 12));
	assert_null(buf__string_at(&b, 13));
	assert_true(buf__slice(&b, 4, UINT64_MAX - 2).bad);
	assert_int_equal(buf__left(&(struct buf){ 0 }), 0);
}

static uint64_t uleb(const char *bytes, size_t len, bool *bad)
{
	struct buf b = buf__make(bytes, len);
	uint64_t v = buf__uleb(&b);

	*bad = b.bad;
	return v;
}

TEST(variable_length_numbers)
{
	bool bad;

	assert_int_equal(uleb("\xe5\x8e\x26", 3, &bad), 624485);
	assert_false(bad);
	assert_true(uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &bad) == UINT64_MAX);
	assert_false(bad);
	uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &bad);
	assert_true(bad);
	uleb("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 11, &bad);
	assert_true(bad);
	uleb("\x80\x80", 2, &bad);
	assert_true(bad);
}

static void refuse(const void *bytes, size_t len, const char *reason)
{
	struct elf_image *elf = NULL;
	struct error err = { "" };
	int fd = file__of(bytes, len);

	assert_true(elf_image__open(&elf, fd, "./x", &err) < 0);
	assert_null(elf);
	if (!strstr(err.text, reason))
		fail_msg("\"%s\" should say \"%s\"", err.text, reason);
	close(fd);
}

TEST(other_files_are_refused)
{
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phentsize = sizeof(Elf64_Phdr),
	};

	refuse("", 0, "not an ELF program");
	refuse("#!/bin/sh\n", 10, "not an ELF program");
	refuse(&eh, 40, "not an ELF program");
	eh.e_machine = EM_AARCH64;
	refuse(&eh, sizeof(eh), "a program for arm64");
	eh.e_machine = EM_386;
	eh.e_ident[EI_CLASS] = ELFCLASS32;
	refuse(&eh, sizeof(eh), "a program for 386");
	eh.e_machine = EM_X86_64;
	refuse(&eh, sizeof(eh), "only linux/amd64");
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2MSB;
	refuse(&eh, sizeof(eh), "big-endian");
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_type = ET_REL;
	refuse(&eh, sizeof(eh), "not an executable");
	eh.e_type = ET_EXEC;
	eh.e_phnum = 3;
	eh.e_phoff = UINT64_MAX - 8;
	refuse(&eh, sizeof(eh), "truncated ELF headers");
	eh.e_phnum = 60000;
	refuse(&eh, sizeof(eh), "invalid ELF header");
}

static void sections_and_bytes(const char *path)
{
	struct elf_image *elf;
	struct elf_section text, bss;
	unsigned char a[64], *whole;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t addr;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_true(elf_image__section(elf, ".text", &text));
	assert_true(text.in_file);
	assert_false(elf_image__section(elf, ".tex", &text));
	whole = elf_image__load(elf, &text);
	assert_non_null(whole);
	assert_int_equal(elf_image__read(elf, text.addr + 100, a, sizeof(a)), sizeof(a));
	assert_memory_equal(a, whole + 100, sizeof(a));
	assert_int_equal(elf_image__offset(elf, text.addr + 5), text.offset + 5);
	assert_int_equal(elf_image__offset(elf, 0x10), -1);
	assert_int_equal(elf_image__read(elf, UINT64_MAX - 4, a, sizeof(a)), 0);

	assert_true(elf_image__section(elf, ".noptrbss", &bss));
	assert_false(bss.in_file);
	assert_null(elf_image__load(elf, &bss));
	assert_int_equal(elf_image__read(elf, bss.addr + bss.size - 8, a, 8), 0);

	addr = elf_image__symbol(elf, "runtime.execute");
	assert_in_range(addr, text.addr, text.addr + text.size);
	assert_int_equal(elf_image__symbol(elf, "runtime.executes"), 0);
	assert_int_equal(elf_image__symbol(elf, ""), 0);
	elf_image__forget_symbols(elf);
	assert_int_equal(elf_image__symbol(elf, "runtime.execute"), addr);
	assert_non_null(elf_image__go_build_id(elf));
	free(whole);
	elf_image__destroy(elf);
	close(fd);
}

TEST(programs_are_read)
{
	for_each_program(sections_and_bytes);
}

static void truncated_later(const char *path)
{
	struct elf_section text;
	struct elf_image *elf;
	unsigned char a[16];
	int fd = program__copy(path);

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_true(elf_image__section(elf, ".text", &text));
	assert_int_equal(ftruncate(fd, (off_t)text.offset + 8), 0);
	assert_null(elf_image__load(elf, &text));
	assert_int_equal(elf_image__read(elf, text.addr, a, sizeof(a)), 0);
	assert_int_equal(elf_image__symbol(elf, "runtime.execute"), 0);
	elf_image__destroy(elf);
	close(fd);
}

TEST(a_file_cut_while_open_is_no_signal)
{
	for_each_program(truncated_later);
}

#define EQUALS 200000

/* Symbols of one name, one of a name that is too long to be looked up, and `last`. */
static int many_equal_symbols(void)
{
	Elf64_Sym *sym = calloc(EQUALS + 2, sizeof(*sym));
	char names[512] = "\0equal\0last"; /* the long one is at 64 */
	const struct made_section sec[] = {
		{ .name = ".strtab", .data = names, .len = sizeof(names), .type = SHT_STRTAB },
		{ .name = ".symtab",
		  .data = sym,
		  .len = (EQUALS + 2) * sizeof(*sym),
		  .type = SHT_SYMTAB,
		  .link = MADE_LINK },
	};
	int fd;

	assert_non_null(sym);
	memset(names + 64, 'x', 256);
	for (size_t i = 0; i < EQUALS + 2; i++)
		sym[i] = (Elf64_Sym){
			.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 1000 + i
		};
	sym[EQUALS].st_name = 64;
	sym[EQUALS + 1].st_name = 7;
	fd = elf_made(sec, 2);
	free(sym);
	return fd;
}

/* The first one is used, and they cost no more than others: at most a second of CPU time. */
TEST(equal_symbols)
{
	int fd = many_equal_symbols();
	clock_t begin = clock();
	struct elf_image *elf;
	char long_name[257];

	assert_int_equal(elf_image__open(&elf, fd, "equal", NULL), 0);
	assert_int_equal(elf_image__symbol(elf, "equal"), 1000);
	assert_int_equal(elf_image__symbol(elf, "last"), 1000 + EQUALS + 1);
	memset(long_name, 'x', 256);
	long_name[256] = 0;
	assert_int_equal(elf_image__symbol(elf, long_name), 0);
	assert_true(clock() - begin < CLOCKS_PER_SEC);
	elf_image__destroy(elf);
	close(fd);
}

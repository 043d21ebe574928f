// SPDX-License-Identifier: GPL-2.0
/* Tests of target/process/csymbols_func.c with synthetic symbol tables. */
#include "unit/test.h"
#include "target/process/csymbols_impl.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

#define CODE 3 /* sections: these two and code */
#define DATA 2

struct symbol {
	const char *name;
	uint64_t addr, size;
	unsigned char bind, type;
	uint16_t section;
};

static struct elf_image *elf;
static struct cfuncs *funcs;
static int fd;

static void open_symbols(const char *table, const struct symbol *s, size_t n)
{
	Elf64_Sym sym[32] = { { 0 } };
	char names[512] = "";
	size_t len = 1;
	const struct made_section sec[] = {
		{ .name = ".strtab", .data = names, .len = sizeof(names) },
		{ .name = ".text", .data = names, .len = 16, .flags = SHF_EXECINSTR | SHF_ALLOC },
		{ .name = table,
		  .data = sym,
		  .len = n * sizeof(*sym),
		  .type = SHT_SYMTAB,
		  .link = MADE_LINK },
	};

	for (size_t i = 0; i < n; i++) {
		sym[i] = (Elf64_Sym){
			.st_name = (Elf64_Word)len,
			.st_info = ELF64_ST_INFO(s[i].bind, s[i].type),
			.st_shndx = s[i].section,
			.st_value = s[i].addr,
			.st_size = s[i].size,
		};
		len += (size_t)sprintf(names + len, "%s", s[i].name) + 1;
	}
	fd = elf_made(sec, 3);
	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	funcs = cfuncs__create(elf);
}

static void close_symbols(void)
{
	cfuncs__destroy(funcs);
	elf_image__destroy(elf);
	close(fd);
}

static void expect_name(uint64_t addr, const char *name)
{
	size_t len = 0;
	const char *found = cfuncs__find(funcs, addr, &len);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(len, strlen(name));
	assert_memory_equal(found, name, len);
}

TEST(by_address)
{
	static const struct symbol s[] = {
		{ "last", 0x300, 16, STB_GLOBAL, STT_FUNC, CODE },
		{ "first", 0x100, 16, STB_GLOBAL, STT_FUNC, CODE },
		{ "open", 0x200, 0, STB_GLOBAL, STT_FUNC, CODE },
		{ "other", 0x120, 8, STB_LOCAL, STT_GNU_IFUNC, CODE },
		{ "versioned@@GLIBC_2.2.5", 0x400, 8, STB_GLOBAL, STT_FUNC, CODE },
	};

	open_symbols(".symtab", s, 5);
	expect_name(0xff, NULL);
	expect_name(0x100, "first");
	expect_name(0x10f, "first");
	expect_name(0x110, NULL);
	expect_name(0x11f, NULL);
	expect_name(0x120, "other");
	expect_name(0x128, NULL);
	expect_name(0x200, "open"); /* up to the next one */
	expect_name(0x2ff, "open");
	expect_name(0x300, "last");
	expect_name(0x30f, "last");
	expect_name(0x310, NULL);
	expect_name(0x407, "versioned");
	expect_name(UINT64_MAX, NULL);
	close_symbols();
}

/* Data are not functions; a label is one only in an executable section. */
TEST(no_functions)
{
	static const struct symbol s[] = {
		{ "undefined", 0x100, 16, STB_GLOBAL, STT_FUNC, SHN_UNDEF },
		{ "absolute", 0x200, 16, STB_GLOBAL, STT_FUNC, SHN_ABS },
		{ "object", 0x300, 16, STB_GLOBAL, STT_OBJECT, CODE },
		{ "label", 0x400, 0, STB_GLOBAL, STT_NOTYPE, CODE },
		{ "end", 0x500, 0, STB_GLOBAL, STT_NOTYPE, DATA },
		{ "", 0x600, 0, STB_GLOBAL, STT_FUNC, CODE },
		{ "nowhere", 0x700, 0, STB_GLOBAL, STT_NOTYPE, 100 },
		{ "reserved", 0x800, 0, STB_GLOBAL, STT_FUNC, SHN_LORESERVE },
	};

	open_symbols(".symtab", s, 8);
	expect_name(0x100, NULL);
	expect_name(0x300, NULL);
	for (uint64_t addr = 0x400; addr <= 0x800; addr += 0x100)
		expect_name(addr, "label");
	close_symbols();
	open_symbols(".symtab", s, 3);
	assert_null(funcs);
	close_symbols();
}

/* At one address: functions before labels, global before local names, and the plainest of them. */
TEST(the_best_name)
{
	static const struct symbol s[] = {
		{ "__write", 0x100, 8, STB_GLOBAL, STT_FUNC, CODE },
		{ "write", 0x100, 8, STB_GLOBAL, STT_FUNC, CODE },
		{ "_write", 0x100, 8, STB_GLOBAL, STT_FUNC, CODE },
		{ "label", 0x200, 0, STB_GLOBAL, STT_NOTYPE, CODE },
		{ "____local", 0x200, 8, STB_LOCAL, STT_FUNC, CODE },
		{ "aaa", 0x300, 8, STB_LOCAL, STT_FUNC, CODE },
		{ "__global", 0x300, 8, STB_GLOBAL, STT_FUNC, CODE },
		{ "one", 0x400, 8, STB_GLOBAL, STT_FUNC, CODE },
		{ "two", 0x400, 8, STB_GLOBAL, STT_FUNC, CODE },
	};

	open_symbols(".symtab", s, 9);
	expect_name(0x104, "write");
	expect_name(0x204, "____local");
	expect_name(0x304, "__global");
	expect_name(0x404, "one"); /* in the table's order */
	close_symbols();
}

TEST(tables)
{
	static const struct symbol s[] = { { "f", 0x100, 8, STB_GLOBAL, STT_FUNC, CODE } };
	char name[300];
	const struct symbol long_name[] = { { name, 0x100, 8, STB_GLOBAL, STT_FUNC, CODE } };

	open_symbols(".dynsym", s, 1);
	expect_name(0x100, "f");
	close_symbols();
	open_symbols(".other", s, 1);
	assert_null(funcs);
	close_symbols();
	open_symbols(".symtab", s, 0);
	assert_null(funcs);
	close_symbols();
	memset(name, 'x', sizeof(name));
	name[299] = 0;
	open_symbols(".symtab", long_name, 1);
	name[256] = 0; /* no more than that is shown */
	expect_name(0x100, name);
	close_symbols();
}

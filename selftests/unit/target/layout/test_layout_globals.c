// SPDX-License-Identifier: GPL-2.0
/* Tests of globals found in the symbol table and in the machine code of a program. */
#include <elf.h>

#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/layout/layout.h"
#include "target/symbols/pclntab.h"

#include "unit/programs.h"

/* Reads the program with its machine code, as `record` does. */
static int read_code(int fd, struct layout *ret, struct error *err)
{
	struct go_buildinfo info;
	struct elf_image *elf;
	struct pclntab *pt;
	int r;

	assert_int_equal(elf_image__open(&elf, fd, "copy", NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	assert_int_equal(pclntab__open(&pt, elf, &info.version, NULL), 0);
	r = layout__read(elf, pt, &info.version, NULL, ret, err);
	pclntab__destroy(pt);
	elf_image__destroy(elf);
	return r;
}

/* Moves the symbol of a variable. */
static void move_symbol(int fd, uint64_t from, uint64_t to)
{
	struct elf_section sec;
	struct elf_image *elf;
	unsigned char *data;
	Elf64_Sym sym;

	assert_int_equal(elf_image__open(&elf, fd, "copy", NULL), 0);
	assert_true(elf_image__section(elf, ".symtab", &sec));
	data = elf_image__load(elf, &sec);
	for (size_t i = 0; i < sec.size / sizeof(sym); i++) {
		memcpy(&sym, data + i * sizeof(sym), sizeof(sym));
		if (sym.st_value != from)
			continue;
		sym.st_value = to;
		assert_int_equal(
			pwrite(fd, &sym, sizeof(sym), (off_t)(sec.offset + i * sizeof(sym))),
			sizeof(sym));
	}
	free(data);
	elf_image__destroy(elf);
}

/* Symbols and machine code must agree on globals; each of them alone is enough. */
static void globals_of(const char *path)
{
	int fd = program__copy(path);
	struct error err = { "" };
	struct layout both, l;

	assert_int_equal(read_code(fd, &both, &err), 0);
	assert_non_null(strstr(both.source, "; globals: symbol table, machine code"));
	move_symbol(fd, both.allm, both.allm + 8);
	assert_int_equal(read_code(fd, &l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "runtime.allm is at "));
	move_symbol(fd, both.allm + 8, 0); /* no symbol left */
	assert_int_equal(read_code(fd, &l, &err), 0);
	assert_int_equal(l.allm, both.allm);
	close(fd);
}

TEST(globals_by_two_sources)
{
	for_each_program(globals_of);
}

// SPDX-License-Identifier: GPL-2.0
/* Tests of where function table and module data are found, and of rejected tables. */
#include "unit/test.h"
#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

asm(MADE_TEXT ".skip 16, 0xcc; f_a: .skip 32, 0x90; f_b: .skip 32, 0x90; " MADE_TEXT_END);

extern const unsigned char made_text[], made_text_end[], f_a[], f_b[];

static const struct made_func funcs[] = {
	{ .name = "main.a",
	  .code = f_a,
	  .tree = { { "main.inner", 31, 63 } },
	  .inlined = { { 8, -1 }, { 12, 0 } } },
	{ .name = "main.b", .code = f_b, .wraps = f_b + 31 },
};

static const struct made_program program = { made_text, 80, funcs, 2 };

static struct go_made p;
static struct error err;

#define RECORD(i) (MADE_FUNCS + 24 + 88 * (i)) /* of two functions */

/* Opens the tables that a test has made: 0, or an error with its reason in `err`. */
static int opened(void)
{
	int r;

	go_made__image(&p, &program);
	err.text[0] = 0;
	r = pclntab__open(&p.pt, p.elf, &p.version, &err);
	assert_int_equal(!r, !err.text[0]);
	return r;
}

static void refused(int code, const char *why)
{
	assert_int_equal(opened(), code);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

TEST(headers)
{
	static const size_t parts[] = { 6, 7 };

	go_made__init(&p, "go1.25.0", &program);
	assert_int_equal(opened(), 0);
	for (size_t i = 0; i < 2; i++) { /* an instruction's quantum, a pointer's size */
		go_made__init(&p, "go1.25.0", &program);
		p.tab[parts[i]]++;
		refused(-EBADMSG, "invalid header");
	}
	/* A magic of its own: what the module data say, but before 1.20 there is another format. */
	go_made__init(&p, "go1.20.0", &program);
	go_made__u32(&p, 0, 0x12345678);
	assert_int_equal(opened(), 0);
	go_made__init(&p, "go1.19.0", &program);
	assert_int_equal(opened(), 0);
	go_made__init(&p, "go1.19.0", &program);
	go_made__u32(&p, 0, 0x12345678);
	refused(-EBADMSG, "0x12345678");
}

TEST(function_lists)
{
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.tab + 8, 0);
	refused(-EBADMSG, "no functions");
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.tab + 8, (1 << 24) + 1);
	refused(-EBADMSG, "no functions");
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.tab + 64, MADE_TAB_SIZE + 1);
	refused(-EBADMSG, "no functions");
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.tab + 64, MADE_TAB_SIZE);
	refused(-EBADMSG, "corrupt");
	/* as many as the table has bytes for, and no more */
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.tab + 8, 1 << 24);
	refused(-EBADMSG, "corrupt");
	/* not in order: the second, and the end of it */
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_FUNCS + 8, 15);
	refused(-EBADMSG, "corrupt");
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_FUNCS + 16, 47);
	refused(-EBADMSG, "corrupt");
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_FUNCS + 16, 48); /* an empty function */
	assert_int_equal(opened(), 0);
	/* the last place where a record fits, and one further */
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_FUNCS + 12, MADE_TAB_SIZE - 44 - MADE_FUNCS);
	assert_int_equal(opened(), 0);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_FUNCS + 12, MADE_TAB_SIZE - 43 - MADE_FUNCS);
	refused(-EBADMSG, "corrupt");
}

/* The module data must agree with the table. */
TEST(module_data)
{
	static const struct {
		size_t at;
		uint64_t v;
	} wrong[] = {
		{ 0, MADE_TAB_ADDR + 8 },
		{ 8, MADE_TAB_ADDR + MADE_NAMES_AT + 8 },
		{ 128, MADE_TAB_ADDR + MADE_FUNCS + 8 },
		{ 136, 2 },
		{ 136, 4 },
		{ 160, MADE_TEXT_ADDR },
		{ 176, MADE_TEXT_ADDR + 8 },
		{ 184, MADE_TEXT_ADDR - 1 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		go_made__init(&p, "go1.25.0", &program);
		go_made__u64(p.module + wrong[i].at, wrong[i].v);
		refused(-ENOENT, "module data");
	}
	/* In 1.26 the table does not have the text's address any more. */
	go_made__init(&p, "go1.26.0", &program);
	go_made__u64(p.tab + 24, 0);
	assert_int_equal(opened(), 0);
	assert_int_equal(p.pt->text, MADE_TEXT_ADDR);
	assert_int_equal(p.pt->etext, MADE_TEXT_ADDR + 80);
	assert_int_equal(p.pt->gofunc, MADE_TAB_ADDR);
}

/* Function data are at one of several offsets, by release: the one with valid data is used. */
static uint64_t gofunc(void)
{
	uint64_t found;

	assert_int_equal(opened(), 0);
	found = p.pt->gofunc;
	return found;
}

TEST(function_data)
{
	static const unsigned int since_1_20[] = { 320, 328, 336, 344 };
	const size_t tree = MADE_TREES, wrap = MADE_TREES + INL_ENTRY_SIZE;

	for (size_t i = 0; i < 4; i++) {
		go_made__init(&p, "go1.25.0", &program);
		for (size_t k = 0; k < 4; k++)
			go_made__u64(p.module + since_1_20[k], k == i ? MADE_TAB_ADDR : 0x10);
		assert_int_equal(gofunc(), MADE_TAB_ADDR);
	}
	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.module + 320, 0);
	go_made__u64(p.module + 304, MADE_TAB_ADDR);
	assert_int_equal(gofunc(), 0);
	go_made__init(&p, "go1.19.0", &program);
	assert_int_equal(gofunc(), MADE_TAB_ADDR);

	/* What is no tree: a function's number, where its parent is, its name. */
	go_made__init(&p, "go1.25.0", &program);
	assert_int_equal(p.tab[tree], 63);
	p.tab[tree] = 64;
	assert_int_equal(gofunc(), 0);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, tree + 8, 32);
	assert_int_equal(gofunc(), 0);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, tree + 4, 0); /* an empty name: as garble has them */
	assert_int_equal(gofunc(), MADE_TAB_ADDR);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, tree + 4, MADE_TAB_SIZE);
	assert_int_equal(gofunc(), 0);

	/* What is no wrapped function: it is behind the text. */
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, wrap, 79);
	assert_int_equal(gofunc(), MADE_TAB_ADDR);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, wrap, 80);
	assert_int_equal(gofunc(), 0);
	/* One of the two is enough. */
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, RECORD(0) + 56 + 4 * FUNCDATA_INL_TREE, UINT32_MAX);
	assert_int_equal(gofunc(), MADE_TAB_ADDR);
	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, RECORD(1) + 56 + 4 * FUNCDATA_WRAP_INFO, UINT32_MAX);
	assert_int_equal(gofunc(), MADE_TAB_ADDR);
	go_made__u32(&p, RECORD(0) + 56 + 4 * FUNCDATA_INL_TREE, UINT32_MAX);
	assert_int_equal(gofunc(), 0);
}

/* Without function data inlining is unknown: an error, not an empty result. */
TEST(no_function_data)
{
	const char *name = "main.inner";
	const char *chain[2];

	go_made__init(&p, "go1.25.0", &program);
	go_made__u64(p.module + 320, 0);
	assert_int_equal(opened(), 0);
	assert_int_equal(pclntab__inlined(p.pt, &name, 1, NULL, NULL), -ENOENT);
	assert_int_equal(pclntab__inlined_at(p.pt, MADE_ADDR_OF(f_a) + 9, chain, 2), 0);
}

/* Tables by the number of a function: what is behind the last of them, or absent, is none. */
TEST(tables_of_a_function)
{
	struct func_info f;

	go_made__init(&p, "go1.25.0", &program);
	assert_int_equal(opened(), 0);
	assert_true(pclntab__info(p.pt, 0, &f));
	assert_int_equal(f.npcdata, 3);
	assert_int_equal(f.nfuncdata, 8);
	assert_int_not_equal(pclntab__pcdata(p.pt, &f, 2), 0);
	assert_int_equal(pclntab__pcdata(p.pt, &f, 3), 0);
	assert_int_equal(pclntab__funcdata(p.pt, &f, 3), MADE_TAB_ADDR + MADE_TREES);
	assert_int_equal(pclntab__funcdata(p.pt, &f, 2), 0);
	f.nfuncdata = 3;
	assert_int_equal(pclntab__funcdata(p.pt, &f, 3), 0);
	assert_false(pclntab__info(p.pt, 2, &f));
	/* A record whose end is cut off. */
	go_made__init(&p, "go1.25.0", &program);
	memset(p.tab + MADE_TAB_SIZE - 44, 0, 44);
	go_made__u32(&p, MADE_FUNCS + 12, MADE_TAB_SIZE - 44 - MADE_FUNCS);
	assert_int_equal(opened(), 0);
	assert_true(pclntab__info(p.pt, 1, &f));
	f.npcdata = 1;
	assert_int_equal(pclntab__pcdata(p.pt, &f, 0), 0);
}

/* ---- where they are ---- */

struct place {
	const char *table, *module;
	size_t before_table, before_module; /* bytes of other data in the same section */
};

static int open_at(const struct place *where, size_t after_module)
{
	size_t tab = where->before_table + MADE_TAB_SIZE;
	size_t mod = where->before_module + MADE_MODULE_SIZE + after_module;
	unsigned char *data = calloc(1, tab + mod), *module = data + tab + where->before_module;
	struct made_section sec[] = {
		{ .name = where->table, .data = data, .len = tab },
		{ .name = where->module, .data = data + tab, .len = mod },
	};
	uint64_t at = MADE_FIRST + where->before_table;
	int r;

	go_made__init(&p, "go1.25.0", &program);
	memcpy(data + where->before_table, p.tab, sizeof(p.tab));
	memcpy(module, p.module, sizeof(p.module));
	go_made__u64(module, at);
	go_made__u64(module + 8, at + MADE_NAMES_AT);
	go_made__u64(module + 128, at + MADE_FUNCS);
	go_made__u64(module + 320, at);
	p.fd = elf_made(sec, 2);
	free(data);
	assert_int_equal(elf_image__open(&p.elf, p.fd, "made", NULL), 0);
	p.pt = NULL;
	r = pclntab__open(&p.pt, p.elf, &p.version, NULL);
	if (!r) {
		assert_int_equal(p.pt->addr, at);
		assert_int_equal(p.pt->nfunc, 2);
		assert_int_equal(p.pt->gofunc, at);
	}
	return r;
}

TEST(sections)
{
	static const struct {
		struct place place;
		int code;
	} of[] = {
		{ { ".gopclntab", ".noptrdata", 0, 0 }, 0 },
		{ { ".data.rel.ro.gopclntab", ".data", 0, 8 }, 0 },
		{ { ".gopclntab", ".bss", 0, 0 }, -ENOENT },
		{ { ".data.rel.ro", ".go.module", 64, 0 }, 0 },
		{ { ".rodata", ".go.module", 8, 0 }, 0 },
		{ { ".rodata", ".go.module", 12, 0 }, -ENOENT }, /* not aligned */
		{ { ".text", ".go.module", 64, 0 }, -ENOENT },
		{ { ".gopclntab", ".go.module", 64, 0 }, -EBADMSG }, /* nothing is searched there */
		{ { ".gopclntab", ".go.module", 0, 4 }, -ENOENT },   /* not aligned */
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_int_equal(open_at(&of[i].place, 0), of[i].code);
}

/* A section is searched in parts of 4 MiB, which overlap. */
TEST(large_sections)
{
	static const size_t before[] = { (4 << 20) - 352, (4 << 20) - 344, (4 << 20) - 8, 4 << 20 };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		struct place place = { ".gopclntab", ".noptrdata", 0, before[i] };

		assert_int_equal(open_at(&place, 0), 0);
	}
}

/* Of a section that is too large nothing is read. */
TEST(too_large)
{
	const struct made_section sec = {
		.name = ".gopclntab", .data = "x", .len = 1, .size = ELF_LOAD_MAX + 1
	};

	go_made__init(&p, "go1.25.0", &program);
	p.fd = elf_made(&sec, 1);
	assert_int_equal(elf_image__open(&p.elf, p.fd, "made", NULL), 0);
	assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, &err), -EFBIG);
	assert_non_null(strstr(err.text, "512 MiB"));
	p.pt = NULL;
}

#define RELATIVE(where, what)                                                                      \
	(Elf64_Rela)                                                                               \
	{                                                                                          \
		where, ELF64_R_INFO(0, R_X86_64_RELATIVE), (Elf64_Sxword)(what)                    \
	}

/* An external linker leaves zeroes: the pointers are in relocations alone. */
static int open_relocated(const Elf64_Rela *rela, size_t n, uint32_t type)
{
	const struct made_section sec[] = {
		{ .name = ".gopclntab", .data = p.tab, .len = sizeof(p.tab) },
		{ .name = ".data.rel.ro", .data = p.module, .len = sizeof(p.module) },
		{ .name = ".rela.dyn", .data = rela, .len = n * sizeof(*rela), .type = type },
	};
	int r;

	go_made__close(&p);
	p.fd = elf_made(sec, 3);
	assert_int_equal(elf_image__open(&p.elf, p.fd, "made", NULL), 0);
	r = pclntab__open(&p.pt, p.elf, &p.version, NULL);
	if (!r)
		assert_int_equal(p.pt->gofunc, MADE_TAB_ADDR);
	return r;
}

TEST(relocations)
{
	static const size_t pointers[] = { 128, 160, 176, 184, 320 };
	Elf64_Rela rela[8], other;
	size_t n = 0;

	go_made__init(&p, "go1.25.0", &program);
	rela[n++] = RELATIVE(MADE_MODULE_ADDR, MADE_TAB_ADDR);
	rela[n++] = (Elf64_Rela){ 0x10, ELF64_R_INFO(1, R_X86_64_64), (Elf64_Sxword)MADE_TAB_ADDR };
	memset(p.module, 0, 16);
	for (size_t i = 0; i < 5; i++) {
		uint64_t v;

		memcpy(&v, p.module + pointers[i], 8);
		rela[n++] = RELATIVE(MADE_MODULE_ADDR + pointers[i], v);
		memset(p.module + pointers[i], 0, 8);
	}
	assert_int_equal(open_relocated(rela, n, SHT_RELA), 0);
	assert_int_equal(open_relocated(rela, n, SHT_PROGBITS), -ENOENT);
	other = rela[0];
	rela[0] = rela[1]; /* of another kind, before it */
	rela[1] = other;
	assert_int_equal(open_relocated(rela, n, SHT_RELA), 0);
	rela[1] = rela[0];
	rela[0] = other;
	rela[2].r_info = ELF64_R_INFO(1, R_X86_64_64); /* functions: by another symbol */
	assert_int_equal(open_relocated(rela, n, SHT_RELA), -ENOENT);
	rela[2].r_info = rela[0].r_info;
	rela[2].r_offset = MADE_MODULE_ADDR + 352; /* behind the module data */
	assert_int_equal(open_relocated(rela, n, SHT_RELA), -ENOENT);
	rela[2].r_offset = MADE_MODULE_ADDR - 8;
	assert_int_equal(open_relocated(rela, n, SHT_RELA), -ENOENT);
	rela[2].r_offset = MADE_MODULE_ADDR + 128;
	assert_int_equal(open_relocated(rela, n, SHT_RELA), 0);
	rela[0].r_addend++; /* nowhere */
	assert_int_equal(open_relocated(rela, n, SHT_RELA), -ENOENT);
}

/* A table that is read on the first question; one that is damaged by then has no functions. */
TEST(later)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct symbolizer s;
	struct go_func f;

	for (int damaged = 0; damaged < 2; damaged++) {
		go_made__init(&p, "go1.25.0", &program);
		go_made__u64(p.module + (damaged ? 136 : 0), MADE_TAB_ADDR);
		go_made__image(&p, &program);
		assert_int_equal(pclntab__open_later(&p.pt, p.elf, &p.version, NULL), 0);
		assert_int_equal(p.pt->nfunc, 0);
		assert_int_equal(pclntab__find(p.pt, MADE_ADDR_OF(f_a), &f), !damaged);
		assert_int_equal(p.pt->nfunc, damaged ? 0 : 2);
		assert_int_equal(pclntab__named(p.pt, "main.a", &f), !damaged);
		assert_int_equal(pclntab__func(p.pt, 0, &f), !damaged);
		pclntab__symbolizer(p.pt, 0, &s);
		assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_a) + 2, frames), !damaged);
	}
}

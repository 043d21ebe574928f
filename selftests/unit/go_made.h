/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes a Go program for a test: machine code, and the function table that Go's linker would write
 * for it. Include it after programs.h and elf_made.h.
 *
 *	asm(MADE_TEXT "f_execute: push rbp; mov rbp, rsp; ret; " MADE_TEXT_END);
 *	extern const unsigned char made_text[], made_text_end[], f_execute[];
 *	static const struct made_func funcs[] = { { "runtime.execute", f_execute } };
 *	go_made__open(&p, "go1.25.3", &(struct made_program){ MADE_BYTES, funcs, 1 });
 *
 * A function ends where the next one begins. The code is assembled as one piece, so that calls and
 * references within it are correct at any load address. Tables contain only what a test defines.
 */
#ifndef UNIT_GO_MADE_H
#define UNIT_GO_MADE_H

#include "unit/test.h"
#include "target/elf/elf.h"
#include "target/infer/buildinfo.h"
#include "target/symbols/pclntab_impl.h"

#define MADE_TEXT	 ".pushsection .rodata\n.intel_syntax noprefix\nmade_text:\n"
#define MADE_TEXT_END	 "\nmade_text_end:\n.att_syntax\n.popsection\n"

#define MADE_MODULE_SIZE 512
#define MADE_TAB_ADDR	 MADE_FIRST
#define MADE_MODULE_ADDR (MADE_TAB_ADDR + MADE_TAB_SIZE)
#define MADE_TEXT_ADDR	 (MADE_MODULE_ADDR + MADE_MODULE_SIZE)
#define MADE_DATA_ADDR	 (MADE_TEXT_ADDR + MADE_TEXT_SIZE) /* of .rodata, a copy of the table */
#define MADE_TREE_MAX	 8
#define MADE_RANGES_MAX	 8

/* Where the parts of the table are. */
enum {
	MADE_FUNCS = 128,
	MADE_NAMES_AT = 16 << 10,
	MADE_PCS = 24 << 10,
	MADE_TREES = 28 << 10,
	MADE_CUS = 31 << 10,
	MADE_FILES = MADE_CUS + 8,
	MADE_TAB_SIZE = 32 << 10,
	MADE_TEXT_SIZE = 256 << 10, /* mostly a hole */
};

/* An inlined call. Its parent is the call or function at `parent_pc` from the entry. */
struct made_inline {
	const char *name;
	uint32_t parent_pc;
	uint8_t func_id;
};

/* A value of a table, valid up to `end` bytes from the entry; an end of 0 ends the table. */
struct made_range {
	uint32_t end;
	int32_t value;
};

struct made_func {
	const char *name;
	const unsigned char *code;
	int32_t args;
	uint8_t func_id, flags;
	struct made_inline tree[MADE_TREE_MAX];
	struct made_range inlined[MADE_RANGES_MAX]; /* indices into the tree; -1: none */
	struct made_range lines[MADE_RANGES_MAX];
	struct made_range pushed[MADE_RANGES_MAX]; /* bytes on the stack */
	const unsigned char *wraps; /* the function that a `go` statement's wrapper calls */
};

struct made_program {
	const unsigned char *text;
	size_t len;
	const struct made_func *func;
	size_t n;
};

#define MADE_BYTES made_text, (size_t)(made_text_end - made_text)

struct go_made {
	unsigned char tab[MADE_TAB_SIZE], module[MADE_MODULE_SIZE];
	size_t names, pcs, trees; /* end of each part */
	bool old;		  /* before 1.20 */
	bool apart;		  /* function data are in .rodata, as up to 1.25 */
	int fd;
	struct go_version version;
	struct elf_image *elf;
	struct pclntab *pt;
};

static inline void go_made__u32(struct go_made *p, size_t at, uint32_t v)
{
	memcpy(p->tab + at, &v, sizeof(v));
}

static inline void go_made__u64(unsigned char *to, uint64_t v)
{
	memcpy(to, &v, sizeof(v));
}

static inline void go_made__uleb(struct go_made *p, uint32_t v)
{
	for (; v > 0x7f; v >>= 7)
		p->tab[p->pcs++] = (unsigned char)(v | 0x80);
	p->tab[p->pcs++] = (unsigned char)v;
}

/* As Go's linker: the change of the value, and the number of code bytes for which it holds. */
static inline uint32_t go_made__table(struct go_made *p, const struct made_range *r)
{
	uint32_t at = (uint32_t)(p->pcs - MADE_PCS), from = 0;
	int32_t last = -1;

	if (!r[0].end)
		return 0;
	for (; r->end; from = r->end, last = r->value, r++) {
		uint32_t by = (uint32_t)(r->value - last);

		go_made__uleb(p, r->value < last ? ~(by << 1) : by << 1);
		go_made__uleb(p, r->end - from);
	}
	go_made__uleb(p, 0);
	assert_true(p->pcs <= MADE_TREES);
	return at;
}

/* The offset of a name; each name is stored once. */
static inline uint32_t go_made__name(struct go_made *p, const char *name)
{
	size_t at = MADE_NAMES_AT, len = strlen(name) + 1;

	while (at < p->names && strcmp((char *)p->tab + at, name))
		at += strlen((char *)p->tab + at) + 1;
	if (at == p->names) {
		assert_true(at + len <= MADE_PCS);
		memcpy(p->tab + at, name, len);
		p->names += len;
	}
	return (uint32_t)(at - MADE_NAMES_AT);
}

static inline uint32_t go_made__tree(struct go_made *p, const struct made_inline *tree)
{
	uint32_t first = (uint32_t)p->trees;

	for (size_t i = 0; i < MADE_TREE_MAX && tree[i].name; i++) {
		p->tab[p->trees + (p->old ? 2 : 0)] = tree[i].func_id;
		go_made__u32(p, p->trees + (p->old ? 12 : 4), go_made__name(p, tree[i].name));
		go_made__u32(p, p->trees + (p->old ? 16 : 8), tree[i].parent_pc);
		p->trees += p->old ? INL_ENTRY_SIZE_1_18 : INL_ENTRY_SIZE;
	}
	assert_true(p->trees <= MADE_CUS);
	return first;
}

/*
 * A _func with three tables and eight function data, which are relative to the start of the table.
 */
static inline void go_made__record(struct go_made *p, const unsigned char *text,
				   const struct made_func *f, size_t at)
{
	size_t data = at + (p->old ? 40 : 44), id = at + (p->old ? 36 : 40);

	go_made__u32(p, at, (uint32_t)(f->code - text));
	go_made__u32(p, at + 4, go_made__name(p, f->name));
	go_made__u32(p, at + 8, (uint32_t)f->args);
	go_made__u32(p, at + 16, go_made__table(p, f->pushed));
	go_made__u32(p, at + 20, f->lines[0].end ? 1 : 0); /* all functions are in one file */
	go_made__u32(p, at + 24, go_made__table(p, f->lines));
	go_made__u32(p, at + 28, 3);
	p->tab[id] = f->func_id;
	p->tab[id + 1] = f->flags;
	p->tab[id + 3] = 8;
	go_made__u32(p, data + 4 * PCDATA_INL_TREE, go_made__table(p, f->inlined));
	memset(p->tab + data + 12, 0xff, 32);
	if (f->tree[0].name)
		go_made__u32(p, data + 12 + 4 * FUNCDATA_INL_TREE, go_made__tree(p, f->tree));
	if (f->wraps) {
		go_made__u32(p, data + 12 + 4 * FUNCDATA_WRAP_INFO, (uint32_t)p->trees);
		go_made__u32(p, p->trees, (uint32_t)(f->wraps - text));
		p->trees += 4;
	}
}

static inline void go_made__write_table(struct go_made *p, const struct made_program *from)
{
	static const struct made_range one_file[] = { { 1 << 20, 0 }, { 0, 0 } };
	size_t record = MADE_FUNCS + 8 * (from->n + 1);

	go_made__u32(p, 0, p->old ? 0xfffffff0 : 0xfffffff1);
	p->tab[6] = 1;
	p->tab[7] = 8;
	go_made__u64(p->tab + 8, from->n);
	go_made__u64(p->tab + 24, MADE_TEXT_ADDR);
	go_made__u64(p->tab + 32, MADE_NAMES_AT);
	go_made__u64(p->tab + 40, MADE_CUS);
	go_made__u64(p->tab + 48, MADE_FILES);
	go_made__u64(p->tab + 56, MADE_PCS);
	go_made__u64(p->tab + 64, MADE_FUNCS);
	memcpy(p->tab + MADE_FILES, "made.go", sizeof("made.go"));
	p->names = MADE_NAMES_AT + 1; /* offset 0 is the empty name, and "no table" */
	p->pcs = MADE_PCS + 1;
	p->trees = MADE_TREES;
	assert_int_equal(go_made__table(p, one_file), 1);
	for (size_t i = 0; i < from->n; i++, record += 88) {
		assert_true(record + 88 <= MADE_NAMES_AT);
		go_made__u32(p, MADE_FUNCS + 8 * i, (uint32_t)(from->func[i].code - from->text));
		go_made__u32(p, MADE_FUNCS + 8 * i + 4, (uint32_t)(record - MADE_FUNCS));
		go_made__record(p, from->text, &from->func[i], record);
	}
	go_made__u32(p, MADE_FUNCS + 8 * from->n, (uint32_t)from->len);
}

/* runtime.moduledata, as far as it is used. */
static inline void go_made__write_module(struct go_made *p, const struct made_program *from)
{
	const uint64_t begin = MADE_TEXT_ADDR + (uint64_t)(from->func[0].code - from->text);

	go_made__u64(p->module, MADE_TAB_ADDR);
	go_made__u64(p->module + 8, MADE_TAB_ADDR + MADE_NAMES_AT);
	go_made__u64(p->module + 128, MADE_TAB_ADDR + MADE_FUNCS);
	go_made__u64(p->module + 136, from->n + 1);
	go_made__u64(p->module + 160, begin);
	go_made__u64(p->module + 176, MADE_TEXT_ADDR);
	go_made__u64(p->module + 184, MADE_TEXT_ADDR + from->len);
	go_made__u64(p->module + (p->old ? 304 : 320), MADE_TAB_ADDR);
}

/* Makes the tables: a test may change p->tab and p->module before go_made__image() writes them. */
static inline void go_made__close(struct go_made *p)
{
	if (!p->elf)
		return;
	pclntab__destroy(p->pt);
	elf_image__destroy(p->elf);
	close(p->fd);
	p->pt = NULL;
	p->elf = NULL;
}

/* *p is zero or from an earlier call: then it is closed first, as by go_made__image(). */
static inline void go_made__init(struct go_made *p, const char *release,
				 const struct made_program *from)
{
	go_made__close(p);
	memset(p, 0, sizeof(*p));
	assert_true(go_version__parse(release, &p->version));
	p->old = p->version.minor < 20;
	go_made__write_table(p, from);
	go_made__write_module(p, from);
}

static inline void go_made__image(struct go_made *p, const struct made_program *from)
{
	const struct made_section sec[] = {
		{ .name = ".gopclntab", .data = p->tab, .len = sizeof(p->tab) },
		{ .name = ".go.module", .data = p->module, .len = sizeof(p->module) },
		{ .name = ".text", .data = from->text, .len = from->len, .size = MADE_TEXT_SIZE },
		{ .name = ".rodata", .data = p->tab, .len = sizeof(p->tab) },
	};

	assert_true(from->len <= MADE_TEXT_SIZE);
	if (p->apart)
		go_made__u64(p->module + (p->old ? 304 : 320), MADE_DATA_ADDR);
	go_made__close(p);
	p->fd = elf_made(sec, p->apart ? 4 : 3);
	assert_int_equal(elf_image__open(&p->elf, p->fd, "made", NULL), 0);
}

static inline void go_made__open(struct go_made *p, const char *release,
				 const struct made_program *from)
{
	struct error err = { "" };

	go_made__init(p, release, from);
	go_made__image(p, from);
	if (pclntab__open(&p->pt, p->elf, &p->version, &err))
		fail_msg("%s", err.text);
}

#define MADE_ADDR_OF(label) (MADE_TEXT_ADDR + (uint64_t)((label) - made_text))

#endif

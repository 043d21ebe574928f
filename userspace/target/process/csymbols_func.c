// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of one ELF file by address: its .symtab, or .dynsym if it was stripped.
 *
 * Upstream: elf/elf.c. Downstream: csymbols.c, at the first PC in the file. Sizes and offsets in
 * the file are untrusted, so each one is checked.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/process/csymbols_impl.h"

#define TABLE_MAX    (64u << 20) /* bytes of either section: 2.8 million symbols */
#define NAME_MAX_LEN 256

struct cfunc {
	uint64_t addr, size;
	uint32_t name; /* offset into strs */
	uint32_t rank; /* among functions at one address the lowest is used */
};

struct cfuncs {
	struct cfunc *func;
	size_t n;
	char *strs; /* ends with NUL */
};

static bool is_code(const struct elf_image *elf, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	struct elf_section sec;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Labels of assembly code have no type. */
	return type == STT_NOTYPE && elf_image__nth_section(elf, sym->st_shndx, &sec) &&
	       sec.flags & SHF_EXECINSTR;
}

/* libc has write, __write and __GI___write at one address; functions precede labels. */
static uint32_t rank_of(const Elf64_Sym *sym, const char *name)
{
	uint32_t rank = ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE ? 100 : 0;

	rank += ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? 50 : 0;
	for (size_t i = 0; i < NAME_MAX_LEN && name[i] && strchr("_.$", name[i]); i++)
		rank++;
	return rank;
}

static int by_address(const void *a, const void *b)
{
	const struct cfunc *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool load(struct cfuncs *f, const struct elf_image *elf, const char *section)
{
	struct elf_section tab, str;
	unsigned char *syms;
	Elf64_Sym sym;

	if (!elf_image__section(elf, section, &tab) || tab.size > TABLE_MAX ||
	    !elf_image__nth_section(elf, tab.link, &str) || !str.size || str.size > TABLE_MAX)
		return false;
	syms = elf_image__load(elf, &tab);
	f->strs = (char *)elf_image__load(elf, &str);
	f->func = calloc(tab.size / sizeof(sym) + 1, sizeof(*f->func));
	if (syms && f->strs && f->func) {
		f->strs[str.size - 1] = 0;
		for (size_t i = 0; i < tab.size / sizeof(sym); i++) {
			memcpy(&sym, syms + i * sizeof(sym), sizeof(sym));
			if (sym.st_name >= str.size || !f->strs[sym.st_name] || !is_code(elf, &sym))
				continue;
			f->func[f->n++] = (struct cfunc){
				.addr = sym.st_value,
				.size = sym.st_size,
				.name = sym.st_name,
				.rank = rank_of(&sym, f->strs + sym.st_name),
			};
		}
		array__sort(f->func, f->n, sizeof(*f->func), by_address);
	}
	free(syms);
	return f->n;
}

struct cfuncs *cfuncs__create(const struct elf_image *elf)
{
	static const char *const sections[] = { ".symtab", ".dynsym" };

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		struct cfuncs *f = calloc(1, sizeof(*f));

		if (f && load(f, elf, sections[i]))
			return f;
		cfuncs__destroy(f);
	}
	return NULL;
}

void cfuncs__destroy(struct cfuncs *f)
{
	if (!f)
		return;
	free(f->func);
	free(f->strs);
	free(f);
}

const char *cfuncs__find(const struct cfuncs *f, uint64_t addr, size_t *ret_len)
{
	size_t lo = 0, hi = f->n;
	const struct cfunc *c;

	while (lo < hi) { /* first function after addr */
		size_t mid = lo + (hi - lo) / 2;

		if (f->func[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	for (lo--; lo && f->func[lo - 1].addr == f->func[lo].addr; lo--)
		;
	c = &f->func[lo];
	/* Functions of assembly code have size 0: they extend to the next symbol. */
	if (c->size && addr - c->addr >= c->size)
		return NULL;
	for (*ret_len = 0; *ret_len < NAME_MAX_LEN; ++*ret_len) {
		if (!f->strs[c->name + *ret_len] || f->strs[c->name + *ret_len] == '@')
			break; /* a version follows */
	}
	return *ret_len ? f->strs + c->name : NULL;
}

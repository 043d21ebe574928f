// SPDX-License-Identifier: GPL-2.0
/*
 * The symbol index behind elf_image__symbol(): an open-addressing hash of symbol numbers.
 *
 * Asked by target/layout_dwarf.c for the addresses of the runtime's globals.
 */
#include "target/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "lib/buf.h"
#include "target/elf.h"

struct elf_symbols {
	unsigned char *syms, *strs;
	struct buf names;
	size_t nsyms;
	uint32_t *slot;		/* symbol number + 1; 0: free */
	size_t mask;
};

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;	/* FNV-1a */

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static Elf64_Sym symbol(const struct elf_symbols *s, size_t i)
{
	Elf64_Sym sym;

	memcpy(&sym, s->syms + i * sizeof(sym), sizeof(sym));
	return sym;
}

/*
 * The string of a symbol. strtab ends with NUL (checked when it was loaded), so that any offset
 * within it is a string, without looking for its end 100,000 times.
 */
static const char *symbol_name(const struct elf_symbols *s, size_t i)
{
	uint32_t off = symbol(s, i).st_name;

	return off < (size_t)(s->names.end - s->names.start) ?
	       (const char *)s->names.start + off : "";
}

static bool load(struct elf_symbols *s, const struct elf_image *elf)
{
	struct elf_section tab, str;

	if (!elf_image__section(elf, ".symtab", &tab) || tab.type != SHT_SYMTAB ||
	    !elf_image__nth_section(elf, tab.link, &str) || !str.size)
		return false;
	s->syms = elf_image__load(elf, &tab);
	s->strs = elf_image__load(elf, &str);
	if (!s->syms || !s->strs || s->strs[str.size - 1])
		return false;
	s->names = buf__make(s->strs, str.size);
	s->nsyms = tab.size / sizeof(Elf64_Sym);
	return s->nsyms < UINT32_MAX / 4;
}

static bool build(struct elf_symbols *s)
{
	size_t size = 16;

	while (size < 2 * s->nsyms)
		size *= 2;
	s->mask = size - 1;
	s->slot = calloc(size, sizeof(*s->slot));
	if (!s->slot)
		return false;
	for (size_t i = 0; i < s->nsyms; i++) {
		Elf64_Sym sym = symbol(s, i);
		size_t h;

		if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) > STT_FUNC)
			continue;
		h = hash(symbol_name(s, i)) & s->mask;
		while (s->slot[h])
			h = (h + 1) & s->mask;
		s->slot[h] = (uint32_t)i + 1;
	}
	return true;
}

struct elf_symbols *elf_symbols__create(const struct elf_image *elf)
{
	struct elf_symbols *s = calloc(1, sizeof(*s));

	if (s && (!load(s, elf) || !build(s))) {
		elf_symbols__destroy(s);
		s = NULL;
	}
	return s;
}

void elf_symbols__destroy(struct elf_symbols *s)
{
	if (!s)
		return;
	free(s->syms);
	free(s->strs);
	free(s->slot);
	free(s);
}

uint64_t elf_symbols__find(const struct elf_symbols *s, const char *name)
{
	for (size_t h = hash(name) & s->mask; s->slot[h]; h = (h + 1) & s->mask) {
		if (!strcmp(symbol_name(s, s->slot[h] - 1), name))
			return symbol(s, s->slot[h] - 1).st_value;
	}
	return 0;
}

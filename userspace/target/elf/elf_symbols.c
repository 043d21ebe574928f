// SPDX-License-Identifier: GPL-2.0
/*
 * The symbol index behind elf_image__symbol(): an open-addressing hash of symbol numbers.
 *
 * Upstream: elf/elf.c. Downstream: layout/layout.c, for the addresses of the runtime's globals. A
 * forged table costs no more than any other of its size: of symbols with the same name only the
 * first is in the index, overlong names are skipped, and the hash is seeded.
 */
#include "target/elf/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "lib/buf.h"
#include "lib/hash.h"
#include "target/elf/elf.h"

#define TABLE_MAX    (256u << 20) /* bytes of either section: 10 million symbols */
#define NAME_MAX_LEN 255

struct slot {
	uint32_t number; /* number of the symbol + 1; 0: free */
	uint32_t hash;
};

struct elf_symbols {
	unsigned char *syms, *strs;
	struct buf names;
	size_t nsyms;
	struct slot *slot;
	size_t mask;
};

static uint32_t hash(const char *name, size_t len)
{
	uint64_t h = hash__bytes(name, len);

	return (uint32_t)(h ^ h >> 32);
}

static Elf64_Sym symbol(const struct elf_symbols *s, size_t i)
{
	Elf64_Sym sym;

	memcpy(&sym, s->syms + i * sizeof(sym), sizeof(sym));
	return sym;
}

/*
 * The name of a symbol. strtab ends with NUL (checked when it was loaded), so any offset within it
 * is a string, without searching for its end 100,000 times.
 */
static const char *symbol_name(const struct elf_symbols *s, size_t i)
{
	uint32_t off = symbol(s, i).st_name;

	return off < (size_t)(s->names.end - s->names.start) ? (const char *)s->names.start + off :
							       "";
}

static bool load(struct elf_symbols *s, const struct elf_image *elf)
{
	struct elf_section tab, str;

	if (!elf_image__section(elf, ".symtab", &tab) || tab.type != SHT_SYMTAB ||
	    !elf_image__nth_section(elf, tab.link, &str) || !str.size || tab.size > TABLE_MAX ||
	    str.size > TABLE_MAX)
		return false;
	s->syms = elf_image__load(elf, &tab);
	s->strs = elf_image__load(elf, &str);
	if (!s->syms || !s->strs || s->strs[str.size - 1])
		return false;
	s->names = buf__make(s->strs, str.size);
	s->nsyms = tab.size / sizeof(Elf64_Sym);
	return s->nsyms < UINT32_MAX / 4;
}

/* The slot with this name, or the free slot where it belongs. */
static struct slot *find_slot(const struct elf_symbols *s, const char *name, uint32_t h)
{
	size_t i = h & s->mask;

	while (s->slot[i].number &&
	       (s->slot[i].hash != h || strcmp(symbol_name(s, s->slot[i].number - 1), name)))
		i = (i + 1) & s->mask;
	return &s->slot[i];
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
		const char *name = symbol_name(s, i);
		size_t len = strnlen(name, NAME_MAX_LEN + 1);
		struct slot *slot;
		uint32_t h;

		if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) > STT_FUNC ||
		    len > NAME_MAX_LEN)
			continue;
		h = hash(name, len);
		slot = find_slot(s, name, h);
		if (!slot->number)
			*slot = (struct slot){ .number = (uint32_t)i + 1, .hash = h };
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
	const struct slot *slot = find_slot(s, name, hash(name, strlen(name)));

	return slot->number ? symbol(s, slot->number - 1).st_value : 0;
}

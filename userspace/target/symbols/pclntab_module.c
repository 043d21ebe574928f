// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the program's module data, which contain the base addresses for gopclntab.
 *
 * A step of pclntab__open(). runtime.moduledata begins with a pointer to gopclntab, followed by one
 * to the function names within it; these identify it in stripped programs, too. It is in .noptrdata
 * (up to 1.25) or .go.module (1.26). Go's own linker writes the pointers of a position-independent
 * program into the file; an external linker may leave zeroes there and only a relocation with the
 * address as its addend. Offsets: Go's runtime/symtab.go.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/arch/arch.h"
#include "target/symbols/pclntab_impl.h"

#define MODULE_SIZE	352
#define MODULE_FTAB	128 /* offset of the slice functab */
#define MODULE_MINPC	160
#define MODULE_TEXT	176
#define MODULE_ETEXT	184
#define TREES		64 /* inline trees checked */
#define FUNC_ID_MAX	64
#define PART		(4u << 20)   /* bytes of a section searched at a time */
#define RELOCATIONS_MAX (256u << 20) /* bytes, of all sections: 11 million */

/* Offset of moduledata.gofunc by size of a _func: up to 1.19; 1.20 and later, with spare ones. */
static const unsigned int gofunc_1_18[] = { 304, 0 };
static const unsigned int gofunc_1_20[] = { 320, 344, 328, 336, 0 };

static bool is_tree(const struct pclntab *pt, uint64_t tree, uint32_t size)
{
	struct inl_entry e;

	/* garble -tiny gives all names that are not exported an empty name, at offset 0. */
	return pclntab__inl_entry(pt, tree, 0, &e) && e.func_id < FUNC_ID_MAX &&
	       e.parent_pc < size &&
	       (pclntab__name(pt, e.name)[0] || (!e.name && !pclntab__name(pt, 0)[0]));
}

/* Whether a `go` statement's wrapper has a valid offset of the wrapped function in the text. */
static bool is_wrap(const struct pclntab *pt, uint64_t wrap)
{
	uint32_t offset;

	return pclntab__data_u32(pt, wrap, &offset) && offset < pt->etext - pt->text;
}

/*
 * Whether inline trees are valid with pt->gofunc as their base. Programs without inlining (-N -l)
 * have none: then the data of wrappers must be valid.
 */
static bool has_function_data(const struct pclntab *pt)
{
	unsigned int trees = 0, wraps = 0;
	struct func_info info;
	struct go_func func;

	for (size_t i = 0; i < pt->nfunc && trees < TREES; i++) {
		uint64_t tree, wrap;

		if (!pclntab__info(pt, i, &info) || !pclntab__func(pt, i, &func))
			continue;
		tree = pclntab__funcdata(pt, &info, FUNCDATA_INL_TREE);
		wrap = pclntab__funcdata(pt, &info, FUNCDATA_WRAP_INFO);
		if ((tree && !is_tree(pt, tree, (uint32_t)(func.end - func.entry))) ||
		    (wrap && !is_wrap(pt, wrap)))
			return false;
		trees += tree != 0;
		wraps += wrap != 0;
	}
	return trees || wraps;
}

static void find_gofunc(struct pclntab *pt, const unsigned char *module)
{
	const unsigned int *at = pt->header_size == 44 ? gofunc_1_20 : gofunc_1_18;

	for (; *at; at++) {
		memcpy(&pt->gofunc, module + *at, sizeof(pt->gofunc));
		if (pt->gofunc && has_function_data(pt))
			return;
	}
	pt->gofunc = 0;
}

/* Accepts the fields only if they agree with the table. */
static bool accept(struct pclntab *pt, const unsigned char *module)
{
	struct buf b = buf__make(module, MODULE_SIZE);
	uint64_t ftab, nftab, minpc, text, etext;
	uint32_t first;

	if (!buf__u64_at(&b, MODULE_FTAB, &ftab) || !buf__u64_at(&b, MODULE_FTAB + 8, &nftab) ||
	    !buf__u64_at(&b, MODULE_MINPC, &minpc) || !buf__u64_at(&b, MODULE_TEXT, &text) ||
	    !buf__u64_at(&b, MODULE_ETEXT, &etext) || !buf__u32_at(&pt->tab, pt->at.funcs, &first))
		return false;
	if (ftab != pt->addr + pt->at.funcs || nftab != pt->nfunc + 1 || text + first != minpc ||
	    etext < text)
		return false;
	pt->text = text;
	pt->etext = etext;
	find_gofunc(pt, module);
	return true;
}

static bool search_part(struct pclntab *pt, const struct elf_section *sec)
{
	unsigned char *data = elf_image__load(pt->elf, sec);
	uint64_t want[2] = { pt->addr, pt->addr + pt->at.names };
	bool found = false;

	for (size_t i = 0; data && !found && i + MODULE_SIZE <= sec->size; i += 8) {
		if (!memcmp(data + i, want, sizeof(want)) && accept(pt, data + i)) {
			pt->module = sec->addr + i;
			found = true;
		}
	}
	free(data);
	return found;
}

/* Searches in overlapping parts, since a section may have gigabytes. */
static bool search_section(struct pclntab *pt, const struct elf_section *sec)
{
	for (uint64_t at = 0; at < sec->size; at += PART - MODULE_SIZE) {
		struct elf_section part = *sec;

		part.addr += at;
		part.offset += at;
		part.size = sec->size - at < PART ? sec->size - at : PART;
		if (search_part(pt, &part))
			return true;
	}
	return false;
}

static uint64_t find_relocation(const unsigned char *rela, size_t n, uint64_t addend)
{
	Elf64_Rela r;

	for (size_t i = 0; i < n; i++) {
		memcpy(&r, rela + i * sizeof(r), sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == ARCH_RELATIVE && (uint64_t)r.r_addend == addend)
			return r.r_offset;
	}
	return 0;
}

/* Applies the relocations to the module data as the dynamic linker does. */
static bool search_relocations(struct pclntab *pt, const struct elf_section *sec)
{
	unsigned char *rela = elf_image__load(pt->elf, sec), module[MODULE_SIZE];
	size_t n = sec->size / sizeof(Elf64_Rela);
	uint64_t where = rela ? find_relocation(rela, n, pt->addr) : 0;
	bool found = false;
	Elf64_Rela r;

	if (where && elf_image__read(pt->elf, where, module, sizeof(module)) == sizeof(module)) {
		for (size_t i = 0; i < n; i++) {
			memcpy(&r, rela + i * sizeof(r), sizeof(r));
			if (ELF64_R_TYPE(r.r_info) == ARCH_RELATIVE && r.r_offset >= where &&
			    r.r_offset - where <= MODULE_SIZE - 8)
				memcpy(module + (r.r_offset - where), &r.r_addend, 8);
		}
		found = accept(pt, module);
		pt->module = where;
	}
	free(rela);
	return found;
}

int pclntab__find_module(struct pclntab *pt, struct error *error)
{
	static const char *const likely[] = { ".go.module", ".noptrdata", ".data" };
	uint64_t left = RELOCATIONS_MAX;
	struct elf_section sec;

	for (size_t i = 0; i < sizeof(likely) / sizeof(likely[0]); i++) {
		if (elf_image__section(pt->elf, likely[i], &sec) && sec.in_file &&
		    search_section(pt, &sec))
			return 0;
	}
	for (size_t i = 0; elf_image__nth_section(pt->elf, i, &sec); i++) {
		if (sec.type != SHT_RELA || sec.size > left)
			continue;
		left -= sec.size; /* thousands of section headers may refer to the same bytes */
		if (search_relocations(pt, &sec))
			return 0;
	}
	return error__set(error, -ENOENT,
			  "the program's module data (runtime.firstmoduledata) was "
			  "not found: a plugin, or an unusual linker");
}

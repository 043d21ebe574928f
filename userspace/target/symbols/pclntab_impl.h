/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that read gopclntab: pclntab.c (functions, names, lines), pclntab_names.c
 * (lookup by name), pclntab_module.c (base addresses), pclntab_inline.c (inlining),
 * pclntab_frames.c (the symbolizer), and their unit test.
 */
#ifndef TARGET_PCLNTAB_IMPL_H
#define TARGET_PCLNTAB_IMPL_H

#include "lib/buf.h"
#include "target/elf/elf.h"
#include "target/elf/go_version.h"
#include "target/symbols/pclntab.h"

#define PCDATA_INL_TREE	    2
#define FUNCDATA_INL_TREE   3
#define FUNCDATA_WRAP_INFO  7
#define FUNC_FLAG_ASM	    4  /* internal/abi.FuncFlagAsm */
#define INL_ENTRY_SIZE	    16 /* bytes */
#define INL_ENTRY_SIZE_1_18 20 /* in 1.18 and 1.19 */

/* Offsets in `tab` of the parts of the table. */
struct pclntab_parts {
	uint64_t names, cus, files, pcs, funcs;
};

struct pclntab {
	const struct elf_image *elf;
	bool later; /* not loaded yet: see pclntab__open_later() */
	unsigned char *data;
	struct buf tab; /* the whole section */
	uint64_t addr;	/* its link-time address */
	struct pclntab_parts at;
	size_t nfunc;
	uint64_t text, etext; /* base of function entries, and its end */
	uint64_t gofunc;      /* base of function data */
	uint64_t module;      /* link-time address of its runtime.moduledata */
	uint32_t header_size; /* bytes of a _func: 40 before 1.20, then 44 */
	uint32_t func_id_at;
	bool since_1_20, since_1_21, since_1_27; /* determined by the release, not by the magic */
	uint8_t id_wrapper, id_gopanic, id_panicwrap, id_sigpanic;

	/* the functions by name, built at the first lookup: see pclntab_names.c */
	struct pclntab_names *names;

	/* a window of the program's read-only data, around the inline tree read last */
	unsigned char *window;
	uint64_t window_addr;
	size_t window_len;

	/* for the symbolizer: the load bias, and names as Go prints them (owned) */
	uint64_t bias;
	struct printed_name {
		const char *name; /* in the table */
		char *text;
	} *printed;
	size_t nprinted, printed_cap;
};

/* The members of a _func that are used. */
struct func_info {
	uint64_t entry;
	uint32_t record; /* offset of the _func in `tab` */
	int32_t name, args;
	uint32_t pcsp, pcfile, pcln, npcdata, cu;
	uint8_t func_id, flags, nfuncdata;
};

struct inl_entry {
	uint8_t func_id;
	int32_t name;	    /* offset into the names */
	uint32_t parent_pc; /* offset from the function's entry */
};

/* Iterates over a pc-value table: `value` applies to code addresses from `start` up to `end`. */
struct pcvalue_walk {
	struct buf b;
	uint64_t entry, start, end;
	int32_t value;
	uint32_t steps;
};

bool pcvalue_walk__start(struct pcvalue_walk *w, const struct pclntab *pt, uint32_t table,
			 uint64_t entry);

#define PCVALUE_STEPS_MAX (1 << 20)

/* As runtime.step(): zigzag delta of the value, then the number of bytes of code that have it. */
static inline bool pcvalue_walk__next(struct pcvalue_walk *w)
{
	uint32_t delta = (uint32_t)buf__uleb(&w->b);

	if (w->b.bad || (!delta && w->end != w->entry) || ++w->steps > PCVALUE_STEPS_MAX)
		return false;
	w->value = (int32_t)((uint32_t)w->value + ((0u - (delta & 1)) ^ (delta >> 1)));
	w->start = w->end;
	w->end += (uint32_t)buf__uleb(&w->b);
	return !w->b.bad;
}

/* Loads the table if that was deferred; every function of pclntab.h calls it first. */
void pclntab__load(struct pclntab *pt);

static inline void pclntab__need(const struct pclntab *pt)
{
	if (pt->later)
		pclntab__load((struct pclntab *)pt);
}

bool pclntab__info(const struct pclntab *pt, size_t index, struct func_info *ret);
const char *pclntab__name(const struct pclntab *pt, int32_t offset);
/* The value of a pc-value table (offset into the pcs part) at `pc`; -1: none. */
int32_t pclntab__pcvalue(const struct pclntab *pt, uint32_t table, uint64_t entry, uint64_t pc);
uint32_t pclntab__pcdata(const struct pclntab *pt, const struct func_info *f, unsigned int which);
/* Link-time address of function data number `which`; 0: none. */
uint64_t pclntab__funcdata(const struct pclntab *pt, const struct func_info *f, unsigned int which);
/* File and *ret_line; "?" and 0 where the table has none. */
const char *pclntab__line(const struct pclntab *pt, const struct func_info *f, uint64_t pc,
			  uint32_t *ret_line);
bool pclntab__inl_entry(const struct pclntab *pt, uint64_t tree, uint32_t index,
			struct inl_entry *ret);
/* The innermost call that was inlined at `pc`; false: none. */
bool pclntab__inl_entry_at(const struct pclntab *pt, const struct func_info *f, uint64_t pc,
			   struct inl_entry *ret);
/* Reads a number in the program's read-only data, by link-time address. */
bool pclntab__data_u32(const struct pclntab *pt, uint64_t addr, uint32_t *ret);
/* Finds the index of the function that contains `pc`. */
bool pclntab__search(const struct pclntab *pt, uint64_t pc, size_t *ret);

/* pclntab_names.c */
void pclntab_names__destroy(struct pclntab_names *names);

/* pclntab_module.c: finds text, etext and gofunc in the program's module data. */
int pclntab__find_module(struct pclntab *pt, struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that read gopclntab: pclntab.c (functions, names, lines), pclntab_names.c (the
 * way back from names), pclntab_module.c (what they are relative to), pclntab_inline.c (inlining) and
 * pclntab_frames.c (the symbolizer). Nobody else includes it but their unit test.
 */
#ifndef TARGET_PCLNTAB_IMPL_H
#define TARGET_PCLNTAB_IMPL_H

#include "lib/buf.h"
#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/pclntab.h"

#define PCDATA_INL_TREE	    2
#define FUNCDATA_INL_TREE   3
#define FUNCDATA_WRAP_INFO  7
#define INL_ENTRY_SIZE	    16 /* in 1.18 and 1.19: */
#define INL_ENTRY_SIZE_1_18 20

/* Where the parts of the table begin in `tab`. */
struct pclntab_parts {
	uint64_t names, cus, files, pcs, funcs;
};

struct pclntab {
	const struct elf_image *elf;
	bool later; /* nothing below is there yet: pclntab__open_later() */
	unsigned char *data;
	struct buf tab; /* the whole section */
	uint64_t addr;	/* its link-time address */
	struct pclntab_parts at;
	size_t nfunc;
	uint64_t text, etext; /* what function entries are relative to */
	uint64_t gofunc;      /* what function data are relative to */
	uint32_t header_size; /* of a _func: 40 before 1.20, then 44 */
	uint32_t func_id_at;
	bool since_1_20, since_1_21; /* by the release, not by the magic */
	uint8_t id_wrapper, id_gopanic, id_panicwrap, id_sigpanic;

	/* the functions by name, made when first asked for: see pclntab_names.c */
	struct pclntab_names *names;

	/* a window of the program's read-only data, around the last inline tree read */
	unsigned char *window;
	uint64_t window_addr;
	size_t window_len;

	/* for the symbolizer: the bias, and names as Go prints them (owned) */
	uint64_t bias;
	struct printed_name {
		const char *name; /* in the table */
		char *text;
	} *printed;
	size_t nprinted, printed_cap;
};

/* The parts of a _func that are used. */
struct func_info {
	uint64_t entry;
	uint32_t record; /* offset of the _func in `tab` */
	int32_t name, args;
	uint32_t pcsp, pcfile, pcln, npcdata, cu;
	uint8_t func_id, nfuncdata;
};

struct inl_entry {
	uint8_t func_id;
	int32_t name;	    /* offset into the names */
	uint32_t parent_pc; /* offset from the function's entry */
};

/* A run through a pc-value table: `value` holds for code addresses from `start` up to `end`. */
struct pcvalue_walk {
	struct buf b;
	uint64_t entry, start, end;
	int32_t value;
	uint32_t steps;
};

bool pcvalue_walk__start(struct pcvalue_walk *w, const struct pclntab *pt, uint32_t table,
			 uint64_t entry);

#define PCVALUE_STEPS_MAX (1 << 20)

/* As runtime.step(): zigzag delta of the value, then how many bytes of code it holds for. */
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

/* What each function of pclntab.h begins with. */
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
/* Link-time address of a function's data; 0: none. */
uint64_t pclntab__funcdata(const struct pclntab *pt, const struct func_info *f, unsigned int which);
/* "?" and 0 where the table does not know. */
const char *pclntab__line(const struct pclntab *pt, const struct func_info *f, uint64_t pc,
			  uint32_t *ret_line);
bool pclntab__inl_entry(const struct pclntab *pt, uint64_t tree, uint32_t index,
			struct inl_entry *ret);
/* A number in the program's read-only data, by link-time address. */
bool pclntab__data_u32(const struct pclntab *pt, uint64_t addr, uint32_t *ret);
/* Index of the function that holds `pc`. */
bool pclntab__search(const struct pclntab *pt, uint64_t pc, size_t *ret);

/* pclntab_names.c */
void pclntab_names__destroy(struct pclntab_names *names);

/* pclntab_module.c: text, etext and gofunc, from the program's module data. */
int pclntab__find_module(struct pclntab *pt, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's own symbol table: functions, file:line and inlining of any Go program, stripped or not.
 *
 * Read by target/pclntab.c from the section that target/elf.c loads; used by target/site.c (where a
 * function begins, where it was inlined) and by sequence/stacks.c through a symbolizer. Addresses
 * are link-time virtual addresses here; pclntab__symbolizer() adds the load bias.
 * Format: Go's runtime/symtab.go, runtime/symtabinl.go, internal/abi/symtab.go (1.20 to 1.26).
 */
#ifndef TARGET_PCLNTAB_H
#define TARGET_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "target/symbolize.h"

struct elf_image;
struct go_version;
struct pclntab;

struct go_func {
	uint64_t entry, end; /* link-time addresses */
	const char *name;    /* valid as long as the pclntab */
	uint32_t index;
	int32_t args;	 /* bytes of the caller's frame that it may write; < 0: not known */
	uint8_t func_id; /* internal/abi.FuncID */
};

/* Borrows the image, which must outlive it. Refuses a table that makes no sense, with a reason. */
int pclntab__open(struct pclntab **ret, const struct elf_image *elf,
		  const struct go_version *version, struct error *err);
/*
 * The same for a program that was found good before (target/cache.c): the table, which may have 90
 * MB, is read when something of it is asked for, at the latest by pclntab__symbolizer(). Should it
 * make no sense then, a message says so, and it has no functions.
 */
int pclntab__open_later(struct pclntab **ret, const struct elf_image *elf,
			const struct go_version *version, struct error *err);
void pclntab__destroy(struct pclntab *pt);

/* The functions by address, from 0; false behind the last, and for one that makes no sense. */
bool pclntab__func(const struct pclntab *pt, size_t index, struct go_func *ret);
bool pclntab__find(const struct pclntab *pt, uint64_t pc, struct go_func *ret);
bool pclntab__named(const struct pclntab *pt, const char *name, struct go_func *ret);

/*
 * Calls `fn` for each function of the program into which a function of one of the `n` names was
 * inlined, once for each inlined call (`at`: the address range's first PC of that inlined body).
 */
typedef void (*pclntab_inlined_fn)(void *ctx, const char *name, const struct go_func *into,
				   uint64_t at);
int pclntab__inlined(const struct pclntab *pt, const char *const *names, size_t n,
		     pclntab_inlined_fn fn, void *ctx);

/*
 * The functions whose inlined bodies hold the instruction at `pc`, the innermost first, without the
 * function that `pc` lies in. Returns how many, at most `max`.
 */
size_t pclntab__inlined_at(const struct pclntab *pt, uint64_t pc, const char **ret_names,
			   size_t max);

/* A symbolizer for a process whose program is loaded `bias` above its link-time addresses. */
void pclntab__symbolizer(struct pclntab *pt, uint64_t bias, struct symbolizer *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's own symbol table: functions, file:line and inlining of any Go program, even stripped.
 *
 * Upstream: target/elf/elf.c. Downstream: target/probe/site.c (entries of functions, where they
 * were inlined) and, through a symbolizer, sequence/stacks.c. Addresses are link-time addresses;
 * pclntab__symbolizer() adds the load bias. Format: Go's runtime/symtab.go, runtime/symtabinl.go,
 * internal/abi/symtab.go (1.20 to 1.26).
 */
#ifndef TARGET_PCLNTAB_H
#define TARGET_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "target/symbols/symbolize.h"

struct elf_image;
struct go_version;
struct pclntab;

struct go_func {
	uint64_t entry, end; /* link-time addresses */
	const char *name;    /* valid as long as the pclntab */
	uint32_t index;
	int32_t args;	 /* bytes of the caller's frame that it may write; < 0: unknown */
	uint8_t func_id; /* internal/abi.FuncID */
	bool assembly;	 /* not compiled: written in assembly */
};

/*
 * The machine code of a function, which the caller frees. NULL: above `max` bytes, not in the file,
 * no memory.
 */
unsigned char *go_func__load(const struct go_func *func, const struct elf_image *elf, size_t max);

/* Borrows the image. Negative errno with a reason: no table, or a corrupt one. */
int pclntab__open(struct pclntab **ret, const struct elf_image *elf,
		  const struct go_version *version, struct error *error);
/*
 * The same for a program whose table was valid before (target/process/cache.c): the table, up to 90
 * MB, is loaded at the first access, at the latest by pclntab__symbolizer(). If it is corrupt by
 * then, a message reports that, and it has no functions.
 */
int pclntab__open_later(struct pclntab **ret, const struct elf_image *elf,
			const struct go_version *version, struct error *error);
void pclntab__destroy(struct pclntab *pt);

/*
 * Function number `index` in order of address; false after the last one, and for a corrupt record.
 */
bool pclntab__func(const struct pclntab *pt, size_t index, struct go_func *ret);
bool pclntab__find(const struct pclntab *pt, uint64_t pc, struct go_func *ret);
bool pclntab__named(const struct pclntab *pt, const char *name, struct go_func *ret);

/*
 * Bytes from the stack pointer to the return address before the instruction at `pc` is executed;
 * negative: unknown.
 */
int32_t pclntab__frame_size(const struct pclntab *pt, uint64_t pc);

/*
 * The link-time addresses of the runtime.moduledata that describes the table, and of the code from its
 * first to the last function. All are 0 if the table is corrupt.
 */
struct pclntab_module {
	uint64_t data, text, etext;
};

struct pclntab_module pclntab__module(const struct pclntab *pt);

/* Whether the compiler made it to call another function, which often has the same name. */
bool pclntab__is_wrapper(const struct pclntab *pt, const struct go_func *func);

/*
 * Calls `fn` for each function of the program into which a function of one of the `n` names was
 * inlined, once per inlined call. Returns 0, -ENOENT without function data, -ENOMEM, or -EBADMSG for
 * tables that need too much work.
 */
typedef void (*pclntab_inlined_fn)(void *ctx, const char *name, const struct go_func *into);
int pclntab__inlined(const struct pclntab *pt, const char *const *names, size_t n,
		     pclntab_inlined_fn fn, void *ctx);

/*
 * The functions whose inlined bodies contain the instruction at `pc`, innermost first, without the
 * function at `pc` itself. Returns how many, at most `max`.
 */
size_t pclntab__inlined_at(const struct pclntab *pt, uint64_t pc, const char **ret_names,
			   size_t max);

/*
 * The name of a function as stacks show it, which runtime.funcNameForPrint() makes: without type
 * arguments, "main.gen[...]". To be freed; NULL: it is the same, or there is no memory.
 */
char *pclntab__shown(const struct pclntab *pt, const char *name);
/* A symbolizer for a process whose program is loaded `bias` above its link-time addresses. */
void pclntab__symbolizer(struct pclntab *pt, uint64_t bias, struct symbolizer *ret);

#endif

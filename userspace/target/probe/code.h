/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One function's machine code as a list of instructions, in which target/probe/ searches for sites.
 */
#ifndef TARGET_CODE_H
#define TARGET_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "target/arch/insn.h"
#include "target/elf/elf.h"
#include "target/symbols/pclntab.h"

struct code {
	struct go_func func;
	struct insn *insn;
	size_t n;
	unsigned char *bytes;
};

/*
 * Loads and decodes a function. False: unreadable, too large, or invalid instructions. The caller
 * releases *ret with code__deinit().
 */
bool code__read(struct code *ret, const struct elf_image *elf, const struct go_func *func);
void code__deinit(struct code *code);
/* Formats the instruction for display; a call names its callee. */
void code__format(const struct code *code, size_t i, const struct pclntab *pt, char *ret,
		  size_t size);

#endif

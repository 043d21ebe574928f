/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An index of the ELF symbol table by name: made once by target/elf.c when the first symbol is
 * asked for, since a look-up by scanning 30 times over the table of a large program takes longer
 * than everything else before the probes are live.
 */
#ifndef TARGET_ELF_SYMBOLS_H
#define TARGET_ELF_SYMBOLS_H

#include <stdint.h>

struct elf_image;
struct elf_symbols;

/* NULL: the program is stripped, or there is no memory. */
struct elf_symbols *elf_symbols__create(const struct elf_image *elf);
void elf_symbols__destroy(struct elf_symbols *syms);
uint64_t elf_symbols__find(const struct elf_symbols *syms, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An index of the ELF symbol table by name, built by target/elf/elf.c at the first lookup: 30
 * linear searches of a large table take longer than all other steps before probing.
 */
#ifndef TARGET_ELF_SYMBOLS_H
#define TARGET_ELF_SYMBOLS_H

#include <stdint.h>

struct elf_image;
struct elf_symbols;

/* NULL: the program is stripped, or no memory. */
struct elf_symbols *elf_symbols__create(const struct elf_image *elf);
void elf_symbols__destroy(struct elf_symbols *syms);
uint64_t elf_symbols__find(const struct elf_symbols *syms, const char *name);

#endif

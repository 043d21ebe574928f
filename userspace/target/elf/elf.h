/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program's ELF file: segments, sections, and symbols by name.
 *
 * First step of target analysis. Everything that reads bytes of the program goes through elf.c,
 * which bounds every offset that a hostile file contains. Nothing is mapped: reads of a truncated
 * file are short, without SIGBUS. Sections are loaded whole, code function by function.
 */
#ifndef TARGET_ELF_H
#define TARGET_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct elf_image;
struct stat;

struct elf_section {
	const char *name;
	uint64_t addr, offset, size, flags;
	uint32_t type, link;
	bool in_file; /* false: .bss */
};

/*
 * Opens the ELF file behind `fd`, which it duplicates; `name` is for messages. Returns -ENOEXEC
 * with a reason for anything but a 64-bit little-endian executable of this architecture, -ENOMEM,
 * or the errno of a system call. The caller frees *ret with elf_image__destroy().
 */
int elf_image__open(struct elf_image **ret, int fd, const char *name, struct error *error);
void elf_image__destroy(struct elf_image *elf);

bool elf_image__section(const struct elf_image *elf, const char *name, struct elf_section *ret);
/* Section number `n`; false after the last one. */
bool elf_image__nth_section(const struct elf_image *elf, size_t n, struct elf_section *ret);
/*
 * Loads a section into a buffer that the caller frees. NULL: not in the file, above ELF_LOAD_MAX,
 * or no memory. In programs of 200 MB the largest section read has about 60 MB.
 */
#define ELF_LOAD_MAX (512ull << 20)
unsigned char *elf_image__load(const struct elf_image *elf, const struct elf_section *sec);
/* Reads up to `len` bytes of the file at a link-time address. Returns how many it has there. */
size_t elf_image__read(const struct elf_image *elf, uint64_t addr, void *buf, size_t len);
/* File offset of a link-time address in an executable segment; -1: none. */
int64_t elf_image__offset(const struct elf_image *elf, uint64_t addr);

/* Looks up a symbol by exact name: its link-time address, or 0 if absent or stripped. */
uint64_t elf_image__symbol(const struct elf_image *elf, const char *name);
/* Frees the symbol index (tens of megabytes in a huge program); the next lookup builds it again. */
void elf_image__forget_symbols(const struct elf_image *elf);

/* Result of fstat() when the file was opened. */
const struct stat *elf_image__stat(const struct elf_image *elf);
/* On FUSE a process determines what fstat() reports. */
bool elf_image__is_on_fuse(const struct elf_image *elf);
/* The GNU build id as hex (NULL: none) and Go's own (.note.go.buildid). */
const char *elf_image__build_id(const struct elf_image *elf);
const char *elf_image__go_build_id(const struct elf_image *elf);
/* The GNU build id if there is one, else Go's. */
static inline const char *elf_image__any_build_id(const struct elf_image *elf)
{
	const char *id = elf_image__build_id(elf);

	return id ? id : elf_image__go_build_id(elf);
}
/* UPX has packed it. */
bool elf_image__is_packed(const struct elf_image *elf);
/* A position-independent executable (PIE) or shared object: loaded at any address. */
bool elf_image__is_relocatable(const struct elf_image *elf);
/* The first executable PT_LOAD: for the load bias, see process__find_bias(). */
bool elf_image__text_segment(const struct elf_image *elf, uint64_t *ret_vaddr,
			     uint64_t *ret_offset);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program's file: its segments, sections and symbols by name.
 *
 * First step of target analysis; everything that reads the program's bytes asks here, so that no
 * offset of a hostile file leads outside of it. Nothing is mapped: a file that is truncated under
 * us gives a short read, never SIGBUS. Sections are loaded whole when asked for, code is read
 * function by function.
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
 * Opens the ELF file behind `fd` (of which it makes its own); `name` is for messages. Refuses, with the
 * reason, what is not a 64-bit little-endian x86-64 executable (names the architecture it is for).
 */
int elf_image__open(struct elf_image **ret, int fd, const char *name, struct error *err);
void elf_image__destroy(struct elf_image *elf);

bool elf_image__section(const struct elf_image *elf, const char *name, struct elf_section *ret);
/* The sections one by one; false behind the last. */
bool elf_image__nth_section(const struct elf_image *elf, size_t n, struct elf_section *ret);
/*
 * A section's bytes in a buffer that the caller frees; NULL: not in the file, above ELF_LOAD_MAX,
 * or no memory. Of programs of 200 MB the largest section that is read has about 60 MB.
 */
#define ELF_LOAD_MAX (512ull << 20)
unsigned char *elf_image__load(const struct elf_image *elf, const struct elf_section *sec);
/* Bytes at a link-time address, as the file has them. Returns how many it has, at most `len`. */
size_t elf_image__read(const struct elf_image *elf, uint64_t addr, void *buf, size_t len);
/* File offset of a link-time address in an executable segment; -1: none. */
int64_t elf_image__offset(const struct elf_image *elf, uint64_t addr);

/* Symbol table look-up by exact name: address, 0 when absent or stripped. */
uint64_t elf_image__symbol(const struct elf_image *elf, const char *name);
/* Frees the symbol index (it comes back by itself): some tens of megabytes in a huge program. */
void elf_image__forget_symbols(const struct elf_image *elf);

/* What fstat() said of the file when it was opened. */
const struct stat *elf_image__stat(const struct elf_image *elf);
/* There, a process says what fstat() reports. */
bool elf_image__is_on_fuse(const struct elf_image *elf);
/* The GNU build id as hex (NULL: none) and Go's own (.note.go.buildid). */
const char *elf_image__build_id(const struct elf_image *elf);
const char *elf_image__go_build_id(const struct elf_image *elf);
/* The one, else the other. */
static inline const char *elf_image__any_build_id(const struct elf_image *elf)
{
	const char *id = elf_image__build_id(elf);

	return id ? id : elf_image__go_build_id(elf);
}
/* Loaded wherever the kernel likes (PIE), or a shared object. */
bool elf_image__is_relocatable(const struct elf_image *elf);
/* The first executable PT_LOAD: for the load bias, see process__find_bias(). */
bool elf_image__text_segment(const struct elf_image *elf, uint64_t *ret_vaddr,
			     uint64_t *ret_offset);

#endif

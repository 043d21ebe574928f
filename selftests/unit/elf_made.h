/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes an ELF program from sections that a test defines, as a file in memory. Include it after
 * programs.h.
 */
#ifndef UNIT_ELF_MADE_H
#define UNIT_ELF_MADE_H

#include <elf.h>

struct made_section {
	const char *name;
	const void *data;
	size_t len;  /* of data */
	size_t size; /* of the section, the rest is a hole; 0: len */
	uint64_t flags;
	uint32_t type; /* 0: SHT_PROGBITS */
	uint32_t link; /* another section, by index and MADE_LINK */
};

#define MADE_LINK  2
#define MADE_MAX   8
#define MADE_NAMES 256
#define MADE_ADDR  0x400000ull /* load address of the start of the file */

/* Address of the first section; the others follow one after the other. */
#define MADE_FIRST                                                                                 \
	(MADE_ADDR + sizeof(Elf64_Ehdr) + (MADE_MAX + 2) * sizeof(Elf64_Shdr) + MADE_NAMES)

/* The caller closes it. */
static inline int elf_made(const struct made_section *sec, size_t n)
{
	Elf64_Shdr sh[MADE_MAX + 2] = { { 0 } };
	char names[MADE_NAMES] = "\0.shstrtab";
	size_t name_at = sizeof(".shstrtab") + 1, at = sizeof(Elf64_Ehdr) + sizeof(sh);
	Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = MADE_ADDR };
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_phnum = 1,
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_shnum = (Elf64_Half)(n + 2),
		.e_shstrndx = 1,
	};
	int fd = memfd_create("made", MFD_CLOEXEC);

	assert_true(fd >= 0 && n <= MADE_MAX);
	sh[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof(names)
	};
	at += sizeof(names);
	for (size_t i = 0; i < n; i++) {
		sh[i + 2] = (Elf64_Shdr){ .sh_name = (Elf64_Word)name_at,
					  .sh_type = sec[i].type ? sec[i].type : SHT_PROGBITS,
					  .sh_flags = sec[i].flags,
					  .sh_addr = MADE_ADDR + at,
					  .sh_offset = at,
					  .sh_link = sec[i].link,
					  .sh_size = sec[i].size ? sec[i].size : sec[i].len };
		name_at += (size_t)sprintf(names + name_at, "%s", sec[i].name) + 1;
		assert_int_equal(pwrite(fd, sec[i].data, sec[i].len, (off_t)at),
				 (ssize_t)sec[i].len);
		at += sh[i + 2].sh_size;
	}
	at = (at + 7) & ~(size_t)7;
	eh.e_phoff = at;
	load.p_filesz = load.p_memsz = at;
	assert_int_equal(pwrite(fd, &load, sizeof(load), (off_t)at), sizeof(load));
	assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	assert_int_equal(pwrite(fd, sh, sizeof(sh), sizeof(eh)), sizeof(sh));
	assert_int_equal(pwrite(fd, names, sizeof(names), (off_t)sh[1].sh_offset), sizeof(names));
	return fd;
}

#endif

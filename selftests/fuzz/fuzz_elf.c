// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as a program: headers, sections, symbols, and both forms of Go's build
 * information. fuzz_target and others change real programs.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/elf/elf.h"
#include "target/infer/buildinfo.h"
#include "target/layout/layout_dwarf.h"
#include "target/symbols/pclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_sections(const struct elf_image *elf)
{
	unsigned char bytes[64];
	struct elf_section s;
	uint64_t vaddr, offset;

	for (size_t i = 0; elf_image__nth_section(elf, i, &s); i++) {
		free(elf_image__load(elf, &s));
		if (elf_image__read(elf, s.addr, bytes, sizeof(bytes)) > sizeof(bytes))
			abort();
		elf_image__offset(elf, s.addr + s.size);
	}
	elf_image__symbol(elf, "runtime.allgs");
	elf_image__symbol(elf, "");
	elf_image__forget_symbols(elf);
	elf_image__build_id(elf);
	elf_image__go_build_id(elf);
	elf_image__text_segment(elf, &vaddr, &offset);
}

static void use_program(const struct elf_image *elf)
{
	struct go_buildinfo info;
	struct error err = {};
	struct offsets offsets;
	struct pclntab *pt;

	use_sections(elf);
	if (buildinfo__read(elf, &info, &err)) {
		if (!err.text[0])
			abort();
		go_version__parse("go1.26.8", &info.version);
	} else if (!info.version.text[0] || strlen(info.path) >= sizeof(info.path)) {
		abort();
	}
	if (pclntab__open(&pt, elf, &info.version, NULL))
		pt = NULL;
	layout_dwarf__read_here(elf, &info.version, &offsets, NULL);
	pclntab__destroy(pt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct error err = {};
	struct elf_image *elf;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!elf_image__open(&elf, fd, "input", &err)) {
		use_program(elf);
		elf_image__destroy(elf);
	} else if (!err.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}

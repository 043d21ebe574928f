// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the program to be traced: everything that target analysis reads from a file.
 *
 * libFuzzer's entry. The input is put into a file in memory, as ELF is read by pread(); a step that
 * refuses it does not end the run, as far as the next one can do without.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/layout.h"
#include "target/pclntab.h"
#include "target/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_table(const struct elf_image *elf, struct pclntab *pt, const struct layout *layout)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct site_list sites;
	struct symbolizer s;
	struct go_func f;

	pclntab__symbolizer(pt, 0, &s);
	for (size_t i = 0; i < 4096; i++) {
		if (!pclntab__func(pt, i, &f))
			continue;
		s.frames(s.ctx, f.end, frames);
		s.start(s.ctx, f.entry, frames);
	}
	site_list__find(&sites, elf, pt, layout, NULL);
	site_list__deinit(&sites);
}

static void use_program(const struct elf_image *elf)
{
	struct go_buildinfo info;
	struct pclntab *pt;
	struct layout layout;

	if (buildinfo__read(elf, &info, NULL) || layout__for_version(&info.version, &layout, NULL))
		go_version__parse("go1.26.8", &info.version);
	layout__for_version(&info.version, &layout, NULL);
	layout__read(elf, &info.version, &layout, NULL);
	elf_image__build_id(elf);
	if (!pclntab__open(&pt, elf, &info.version, NULL)) {
		use_table(elf, pt, &layout);
		pclntab__destroy(pt);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct elf_image *elf;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !elf_image__open(&elf, fd, "input", NULL)) {
		use_program(elf);
		elf_image__destroy(elf);
	}
	close(fd);
	return 0;
}

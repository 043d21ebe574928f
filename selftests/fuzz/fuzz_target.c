// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs that were changed anywhere target analysis reads: all its steps, each with what the
 * one before made of it. A step that refuses the program does not end the run, as far as the next
 * one can do without.
 */
#include "target/elf/debug_file.h"
#include "target/infer/calibrate.h"
#include "target/layout/layout_dwarf.h"
#include "call_sites.h"
#include "patched.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_ALL);
	return 0;
}

static void use_table(const struct elf_image *elf, struct pclntab *pt, const struct layout *layout)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct offsets offsets;
	struct site_list sites;
	struct symbolizer s;
	struct go_func f;

	pclntab__symbolizer(pt, 0, &s);
	for (size_t i = 0; i < 4096; i += 37) {
		if (!pclntab__func(pt, i, &f))
			continue;
		s.frames(s.ctx, f.end, frames);
		s.start(s.ctx, f.entry, frames);
	}
	calibrate__read(elf, pt, &layout->version, &offsets, NULL);
	site_list__find(&sites, elf, pt, layout, NULL);
	check_sites(elf, pt, &sites);
	site_list__deinit(&sites);
	check_calls(elf, pt);
}

static void use_program(const struct elf_image *elf)
{
	struct go_buildinfo info;
	struct debug_file debug;
	struct offsets offsets;
	struct pclntab *pt;
	struct layout layout;

	if (buildinfo__read(elf, &info, NULL) || layout__for_version(&info.version, &layout, NULL))
		go_version__parse("go1.26.8", &info.version);
	layout__for_version(&info.version, &layout, NULL);
	layout_dwarf__read_here(elf, &info.version, &offsets, NULL);
	if (debug_file__open(&debug, elf, NULL))
		debug_file__deinit(&debug);
	elf_image__build_id(elf);
	if (!pclntab__open(&pt, elf, &info.version, NULL)) {
		use_table(elf, pt, &layout);
		pclntab__destroy(pt);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct patched *p = patched__apply(data, size);
	struct elf_image *elf;

	if (!p)
		return -1;
	if (!elf_image__open(&elf, p->fd, "input", NULL)) {
		use_program(elf);
		elf_image__destroy(elf);
	}
	patched__undo();
	return 0;
}

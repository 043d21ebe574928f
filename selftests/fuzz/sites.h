/* SPDX-License-Identifier: GPL-2.0 */
/* Conditions of every site, in any program, for a probe there to be harmless. */
#ifndef SELFTESTS_FUZZ_SITES_H
#define SELFTESTS_FUZZ_SITES_H

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf/elf.h"
#include "target/probe/site.h"
#include "target/symbols/pclntab.h"

/* Decoded from the function's first byte on, is there an instruction that begins at `offset`? */
static inline bool begins_instruction(const struct elf_image *elf, const struct go_func *f,
				      uint64_t offset)
{
	unsigned char bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	uint64_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < offset) {
		size_t len = elf_image__read(elf, f->entry + at, bytes, sizeof(bytes));

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, len, &in)))
			return false;
		at += in.length;
	}
	return at == offset;
}

/* Functions do not overlap, as the table of any program that is not refused has them. */
static inline bool is_in_its_function(const struct elf_image *elf, const struct pclntab *pt,
				      const struct site *s)
{
	struct go_func f;

	return pclntab__find(pt, s->addr, &f) && f.entry + s->func_offset == s->addr &&
	       !strncmp(f.name, s->func, sizeof(s->func) - 1) &&
	       begins_instruction(elf, &f, s->func_offset);
}

static inline void check_sites(const struct elf_image *elf, const struct pclntab *pt,
			       const struct site_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct site *s = &list->site[i];

		if ((int64_t)s->offset != elf_image__offset(elf, s->addr) ||
		    (int64_t)s->offset < 0 || !is_in_its_function(elf, pt, s)) {
			fprintf(stderr, "a site that is none: %s+%#x at %#lx (%s)\n", s->func,
				s->func_offset, s->addr, s->text);
			abort();
		}
		if (!list->has[s->probe])
			abort();
	}
}

#endif

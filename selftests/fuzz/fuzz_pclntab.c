// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with a changed table of functions, module data or inline trees: every function,
 * what is inlined where, and the frames of many PCs.
 */
#include <stdlib.h>
#include <string.h>

#include "target/elf/elf.h"
#include "patched.h"

#define STEP 61 /* of the functions: each of these is looked at */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_TABLE | PLACE_MODULE | PLACE_INLINING);
	return 0;
}

static void check_frames(const struct sym_frame *frames, int n)
{
	if (n < 0 || n > SYM_INLINE_MAX)
		abort();
	for (int i = 0; i < n; i++) { /* whole strings, for the sanitizer to read */
		if (strlen(frames[i].func) + strlen(frames[i].file) > 1 << 30)
			abort();
	}
}

static void symbolize(struct pclntab *pt)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct symbolizer s;
	struct go_func f, found;

	pclntab__symbolizer(pt, 0x10000, &s);
	for (size_t i = 0; i < 1 << 14; i += STEP) {
		if (!pclntab__func(pt, i, &f))
			continue;
		pclntab__find(pt, f.entry, &found);
		check_frames(frames, s.start(s.ctx, f.entry + 0x10000, frames));
		for (uint64_t pc = f.entry; pc <= f.end && pc - f.entry < 1024; pc += 67)
			check_frames(frames, s.frames(s.ctx, pc + 0x10000, frames));
	}
}

static void note(void *ctx, const char *name, const struct go_func *into)
{
	*(size_t *)ctx += strlen(name) + strlen(into->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "runtime.casgstatus", "runtime.releasem", "" };
	const struct patched *p = patched__apply(data, size);
	struct error err = {};
	struct pclntab *pt;
	size_t sum = 0;

	if (!p)
		return -1;
	if (!pclntab__open(&pt, p->elf, &p->version, &err)) {
		symbolize(pt);
		pclntab__inlined(pt, names, sizeof(names) / sizeof(names[0]), note, &sum);
		pclntab__destroy(pt);
	} else if (!err.text[0]) {
		abort();
	}
	patched__undo();
	return 0;
}

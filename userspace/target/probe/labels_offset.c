// SPDX-License-Identifier: GPL-2.0
/*
 * The offset of g.labels: see labels_offset.h.
 *
 * runtime/pprof.runtime_setProfLabel stores its argument there. Its only other stores of 8 bytes are
 * on its stack and, while the garbage collector runs, into the first words of a buffer. So this needs
 * neither DWARF nor a table.
 */
#include "target/probe/labels_offset.h"

#include "gotrace/config.h"
#include "target/probe/code.h"

#define BEHIND_SCHED 64	  /* g.sched, the first members, are in front of it in all releases */
#define G_SIZE_MAX   2048 /* more than any release has */

static bool stores_labels(const struct insn *in)
{
	return in->stores && in->kind == INSN_OTHER && in->width == 8 && !in->stores_constant &&
	       in->base < GPR_NONE && in->base != GPR_SP && in->base != GPR_FP &&
	       in->disp > BEHIND_SCHED && in->disp < G_SIZE_MAX && in->disp % 8 == 0;
}

uint32_t labels_offset__find(const struct elf_image *elf, const struct pclntab *pt)
{
	uint32_t found = GT_NO_OFFSET;
	struct go_func func;
	struct code code;

	if (!pclntab__named(pt, "runtime/pprof.runtime_setProfLabel", &func) ||
	    !code__read(&code, elf, &func))
		return GT_NO_OFFSET;
	for (size_t i = 0; i < code.n; i++) {
		if (!stores_labels(&code.insn[i]))
			continue;
		if (found != GT_NO_OFFSET && found != (uint32_t)code.insn[i].disp) {
			found = GT_NO_OFFSET; /* two: one of them is unknown */
			break;
		}
		found = (uint32_t)code.insn[i].disp;
	}
	code__deinit(&code);
	return found;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the functions to be probed and decodes their instructions.
 *
 * Upstream: elf/elf.c, arch/insn.h. Downstream: site.c and the other files of this folder.
 */
#include "target/probe/code.h"

#include <stdio.h>
#include <stdlib.h>

#define FUNCTION_MAX (1 << 18) /* bytes; findRunnable has about 5,000 */

bool code__read(struct code *ret, const struct elf_image *elf, const struct go_func *func)
{
	struct code code = { .func = *func, .bytes = go_func__load(func, elf, FUNCTION_MAX) };

	if (code.bytes)
		code.insn =
			insns__decode(code.bytes, func->end - func->entry, func->entry, &code.n);
	if (!code.insn) {
		code__deinit(&code);
		return false;
	}
	*ret = code;
	return true;
}

void code__deinit(struct code *code)
{
	free(code->bytes);
	free(code->insn);
	code->bytes = NULL;
	code->insn = NULL;
	code->n = 0;
}

void code__format(const struct code *code, size_t i, const struct pclntab *pt, char *ret,
		  size_t size)
{
	const struct insn *in = &code->insn[i];
	struct go_func to;

	if (in->kind == INSN_CALL && in->target && pclntab__find(pt, in->target, &to))
		snprintf(ret, size, "call %s", to.name);
	else
		insn__format(in, code->bytes + (in->addr - code->func.entry), ret, size);
}

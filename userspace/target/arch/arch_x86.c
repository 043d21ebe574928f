// SPDX-License-Identifier: GPL-2.0
/* The functions of arch.h for x86-64. */
#include "target/arch/arch.h"

#include <stddef.h>
#include <string.h>

const char *arch__syscall(uint32_t number)
{
	switch (number) {
	case 335:
		return "uretprobe";
	case 336:
		return "uprobe";
	case 453:
		return "map_shadow_stack";
	default:
		return NULL;
	}
}

enum gpr arch__barrier_value(const char *suffix)
{
	static const struct {
		const char *suffix;
		enum gpr reg;
	} by_name[] = {
		{ "", GPR_AX },	  { "CX", GPR_CX }, { "DX", GPR_DX }, { "BX", GPR_BX },
		{ "SI", GPR_SI }, { "R8", GPR_R8 }, { "R9", GPR_R9 },
	};

	for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++) {
		if (!strcmp(suffix, by_name[i].suffix))
			return by_name[i].reg;
	}
	return GPR_NONE;
}

__attribute__((naked, noinline, noclone)) void arch__trapped(void)
{
	asm volatile(".globl arch__trap_at\n"
		     ".hidden arch__trap_at\n"
		     "arch__trap_at:\n"
		     "	push %rbp\n"
		     "	pop %rbp\n"
		     "	ret");
}

__attribute__((naked, noinline, noclone)) void arch__stepped(void)
{
	asm volatile(".globl arch__step_at\n"
		     ".hidden arch__step_at\n"
		     "arch__step_at:\n"
		     "	ret");
}

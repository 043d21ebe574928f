// SPDX-License-Identifier: GPL-2.0
/*
 * The offset of g in thread-local storage, from the instructions that load it.
 *
 * Nothing in a stripped ELF file names it: Go's own linker makes it -8, the C linker lays it out beside
 * the thread-local data of C. But each Go function that called assembly loads g anew, into R14, and
 * linkers leave one of two forms there in an executable:
 *
 *	64 4c 8b 34 25 disp32				mov r14, fs:[disp32]
 *	49 c7 c6 imm32, 64 4d 8b 36			mov r14, imm32; mov r14, fs:[r14]	(PIE)
 */
#include "target/tls.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX (1 << 16)
#define ABSOLUTE_LEN 9
#define INDIRECT_LEN 11

static bool load_at(const unsigned char *p, size_t left, int32_t *ret)
{
	static const unsigned char absolute[] = { 0x64, 0x4c, 0x8b, 0x34, 0x25 };
	static const unsigned char constant[] = { 0x49, 0xc7, 0xc6 };
	static const unsigned char indirect[] = { 0x64, 0x4d, 0x8b, 0x36 };

	if (left >= ABSOLUTE_LEN && !memcmp(p, absolute, sizeof(absolute))) {
		memcpy(ret, p + sizeof(absolute), sizeof(*ret));
		return true;
	}
	if (left >= INDIRECT_LEN && !memcmp(p, constant, sizeof(constant)) &&
	    !memcmp(p + 7, indirect, sizeof(indirect))) {
		memcpy(ret, p + sizeof(constant), sizeof(*ret));
		return true;
	}
	return false;
}

/* All loads of a function must agree, and be of a word below FS, where an executable's data are. */
static bool in_function(const unsigned char *code, size_t len, int64_t *ret)
{
	bool found = false;
	int32_t offset;

	for (size_t i = 0; i < len; i++) {
		if (!load_at(code + i, len - i, &offset))
			continue;
		if (offset >= 0 || offset % 8 || (found && offset != *ret))
			return false;
		*ret = offset;
		found = true;
	}
	return found;
}

bool tls__offset_of_g(const struct elf_image *elf, const struct pclntab *pt, int64_t *ret)
{
	static const char *const likely[] = {
		"runtime.dropm",
		"runtime.needm",
		"runtime.mstart1",
		"runtime.newstack",
	};
	struct go_func func;

	for (size_t i = 0; i < sizeof(likely) / sizeof(likely[0]); i++) {
		unsigned char *code;
		int64_t offset = 0;
		size_t len;
		bool found;

		if (!pclntab__named(pt, likely[i], &func) || func.end <= func.entry ||
		    func.end - func.entry > FUNCTION_MAX)
			continue;
		len = func.end - func.entry;
		code = malloc(len);
		found = code && elf_image__read(elf, func.entry, code, len) == len &&
			in_function(code, len, &offset);
		free(code);
		if (!found)
			continue;
		*ret = offset;
		return true;
	}
	return false;
}

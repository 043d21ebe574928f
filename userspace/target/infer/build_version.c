// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the Go release in a program without build information: see build_version.h.
 *
 * Upstream: symbols/pclntab.c. Downstream: buildinfo.c. The linker sets the string variable
 * runtime.buildVersion. The symbol table has its address. In a stripped program, runtime.schedinit
 * reveals it: in every release this function compares the length of the string with 0, so that the
 * linker keeps the variable. An operand is accepted only if it leads to a Go string that begins as
 * a release does. The live checks of target/process/live.c verify the layout of that release.
 */
#include "target/infer/build_version.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "target/infer/buildinfo.h"
#include "target/infer/calibrate_code.h"
#include "target/symbols/pclntab.h"

#define TEXT_MAX    128
#define STRINGS_MAX (64 << 20) /* bytes of names searched for a compiler */
#define USER	    "runtime.schedinit"

/* In a position-independent program the pointer may be only in a relocation. */
static uint64_t relocated(const struct elf_image *elf, uint64_t addr)
{
	struct elf_section sec;
	uint64_t value = 0;
	Elf64_Rela r;

	for (size_t i = 0; !value && elf_image__nth_section(elf, i, &sec); i++) {
		unsigned char *rela = sec.type == SHT_RELA ? elf_image__load(elf, &sec) : NULL;

		for (size_t at = 0; rela && at + sizeof(r) <= sec.size; at += sizeof(r)) {
			memcpy(&r, rela + at, sizeof(r));
			if (r.r_offset == addr && ELF64_R_TYPE(r.r_info) == ARCH_RELATIVE)
				value = (uint64_t)r.r_addend;
		}
		free(rela);
	}
	return value;
}

/* Reads the release in the string variable at `addr`, if it contains one. */
static bool read_release(const struct elf_image *elf, uint64_t addr, struct go_version *ret)
{
	char text[TEXT_MAX] = "";
	uint64_t string[2]; /* pointer, length */

	if (elf_image__read(elf, addr, string, sizeof(string)) != sizeof(string) || !string[1] ||
	    string[1] >= sizeof(text))
		return false;
	if (!string[0])
		string[0] = relocated(elf, addr);
	if (elf_image__read(elf, string[0], text, string[1]) != string[1] ||
	    (strncmp(text, "go1.", 4) && strncmp(text, "devel ", 6)))
		return false;
	return go_version__parse(text, ret);
}

/* Finds the only release that the operands lead to: as the length of a string, or as its start. */
static bool search_code(const struct steps *code, const struct elf_image *elf,
			struct go_version *ret)
{
	struct go_version found = { 0 }, v;

	for (size_t i = 0; i < code->n; i++) {
		for (size_t k = 0; k < 3; k++) {
			const struct operand *op = &code->step[i].op[k];
			uint64_t addr = (uint64_t)op->value;

			if (op->kind != OPERAND_MEM || !op->absolute ||
			    (!read_release(elf, addr - 8, &v) && !read_release(elf, addr, &v)))
				continue;
			if (found.text[0] && strcmp(found.text, v.text))
				return false;
			found = v;
		}
	}
	*ret = found;
	return found.text[0];
}

static bool find_in_code(const struct elf_image *elf, const struct pclntab *pt,
			 struct go_version *ret)
{
	struct go_func func;
	struct steps code;
	bool found;

	if (!pclntab__named(pt, USER, &func) || !steps__read(&code, elf, &func))
		return false;
	found = search_code(&code, elf, ret);
	steps__deinit(&code);
	return found;
}

int build_version__find(const struct elf_image *elf, struct go_version *ret, struct error *error)
{
	/* Sufficient for names: details that depend on the release are not needed here. */
	static const struct go_version any = { .major = 1, .minor = UINT_MAX };
	struct error why = { "" };
	struct pclntab *pt;
	int err = pclntab__open(&pt, elf, &any, &why);
	uint64_t addr;
	bool found;

	if (err == -ENOENT)
		return error__set(error, err,
				  "it has no Go build information and no Go function table");
	if (err)
		return error__set(error, err, "it has no Go build information, and %s", why.text);
	addr = elf_image__symbol(elf, "runtime.buildVersion");
	found = (addr && read_release(elf, addr, ret)) || find_in_code(elf, pt, ret);
	pclntab__destroy(pt);
	elf_image__forget_symbols(elf);
	return found ? 0 :
		       error__set(error, -ENODATA,
				  "cannot determine the Go release: it is neither in build "
				  "information nor in symbols, and not in the code of " USER);
}

static bool section_has(const struct elf_image *elf, const char *name, const char *bytes,
			size_t len)
{
	struct elf_section sec;
	unsigned char *data;
	bool has;

	if (!elf_image__section(elf, name, &sec) || sec.size > STRINGS_MAX)
		return false;
	data = elf_image__load(elf, &sec);
	has = data && memmem(data, sec.size, bytes, len);
	free(data);
	return has;
}

#define SECTION_HAS(elf, name, bytes) section_has(elf, name, bytes, sizeof(bytes) - 1)

const char *build_version__other_compiler(const struct elf_image *elf)
{
	struct elf_section sec;

	/* gccgo's export data, which stripping keeps; its runtime as a shared library */
	if (elf_image__section(elf, ".go_export", &sec) ||
	    SECTION_HAS(elf, ".dynstr", "\0libgo.so."))
		return "gccgo";
	/* functions of its runtime, such as tinygo_startTask; the producer in its DWARF */
	if (SECTION_HAS(elf, ".strtab", "\0tinygo_") ||
	    SECTION_HAS(elf, ".debug_str", "\0TinyGo\0"))
		return "TinyGo";
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Reads offsets of the runtime's struct members from the program's DWARF, with libdw.
 *
 * Upstream: elf/elf.c. Downstream: layout.c. Given the program, libdw would inflate all of its
 * debug sections (tens of milliseconds for line tables and location lists), but two suffice. So
 * those are inflated here, with all sizes checked, and libdw gets a small ELF image in memory that
 * contains nothing else. The runtime's types are all in one unit, "runtime". This runs in a child
 * process with limits, so that hostile DWARF cannot harm the recorder.
 */
#include "target/layout/layout_dwarf.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/buf.h"
#include "lib/guarded.h"
#include "target/arch/arch.h"

#define NO_DWARF                                                                                   \
	"the program has no DWARF (built with -ldflags=-w or -s): build it without "               \
	"these flags"
#define DEBUG_MAX      (256ull << 20) /* inflated bytes of one section; 40 MB of a 150 MB program */
#define ZLIB_RATIO_MAX 1040	      /* the maximum of zlib */
#define NSECTIONS      5
#define OFFSET_MAX     (1 << 16) /* bytes; larger than any struct of the runtime */

struct section {
	const char *name; /* without ".debug_" */
	unsigned char *data;
	size_t size;
};

struct debug {
	struct section sec[NSECTIONS];
	unsigned char *image;
	size_t image_size;
};

static int inflate_section(const unsigned char *in, size_t in_len, uint64_t out_len,
			   struct section *ret)
{
	uLongf len = out_len;
	unsigned char *out;

	if (!out_len || out_len > DEBUG_MAX || out_len / ZLIB_RATIO_MAX > in_len)
		return -EBADMSG;
	out = malloc(out_len);
	if (!out)
		return -ENOMEM;
	if (uncompress(out, &len, in, in_len) != Z_OK || len != out_len) {
		free(out);
		return -EBADMSG;
	}
	ret->data = out;
	ret->size = out_len;
	return 0;
}

/*
 * SHF_COMPRESSED sections begin with an Elf64_Chdr, .zdebug_* with "ZLIB" and a big-endian size. 1:
 * not compressed.
 */
static int unpack(const struct elf_section *sec, unsigned char *raw, struct section *ret)
{
	struct buf b = buf__make(raw, sec->size);
	const unsigned char *packed;
	Elf64_Chdr ch = { 0 };
	const void *p;
	size_t left;

	if (sec->flags & SHF_COMPRESSED) {
		p = buf__take(&b, sizeof(ch));
		if (p)
			memcpy(&ch, p, sizeof(ch));
		if (ch.ch_type != ELFCOMPRESS_ZLIB)
			return -EBADMSG;
	} else if (!strncmp(sec->name, ".zdebug_", 8)) {
		p = buf__take(&b, 4);
		if (!p || memcmp(p, "ZLIB", 4))
			return -EBADMSG;
		ch.ch_size = be64toh(buf__u64(&b));
	} else {
		return 1;
	}
	left = buf__left(&b);
	packed = buf__take(&b, left);
	return packed ? inflate_section(packed, left, ch.ch_size, ret) : -EBADMSG;
}

static int load_section(const struct elf_image *elf, struct section *ret)
{
	static const char *const prefixes[] = { ".debug_", ".zdebug_" };
	struct elf_section sec;
	char name[32];
	unsigned char *raw;
	int err;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", prefixes[i], ret->name);
		if (!elf_image__section(elf, name, &sec) || sec.size > DEBUG_MAX)
			continue;
		raw = elf_image__load(elf, &sec);
		if (!raw)
			return -EBADMSG;
		err = unpack(&sec, raw, ret);
		if (err == 1) { /* not compressed */
			ret->data = raw;
			ret->size = sec.size;
			return 0;
		}
		free(raw);
		return err;
	}
	return -ENOENT;
}

/* Lays the image out as header, sections, section names, section headers. */
static int build_image(struct debug *d)
{
	char names[256] = "\0.shstrtab";
	size_t name_at = sizeof(".shstrtab") + 1, at = sizeof(Elf64_Ehdr), n = 2;
	Elf64_Shdr sh[NSECTIONS + 2] = { { 0 } };
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = ARCH_ELF,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(eh),
		.e_shentsize = sizeof(sh[0]),
		.e_shstrndx = 1,
	};

	for (size_t i = 0; i < NSECTIONS; i++) {
		if (!d->sec[i].data)
			continue;
		sh[n++] = (Elf64_Shdr){
			.sh_name = (Elf64_Word)name_at,
			.sh_type = SHT_PROGBITS,
			.sh_offset = at,
			.sh_size = d->sec[i].size,
			.sh_addralign = 1,
		};
		name_at += (size_t)sprintf(names + name_at, ".debug_%s", d->sec[i].name) + 1;
		at += d->sec[i].size;
	}
	sh[1] = (Elf64_Shdr){ .sh_name = 1,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = at,
			      .sh_size = name_at,
			      .sh_addralign = 1 };
	eh.e_shoff = (at + name_at + 7) & ~7ull;
	eh.e_shnum = (Elf64_Half)n;
	d->image_size = eh.e_shoff + n * sizeof(sh[0]);
	d->image = calloc(1, d->image_size);
	if (!d->image)
		return -ENOMEM;
	memcpy(d->image, &eh, sizeof(eh));
	for (size_t i = 0, s = 2; i < NSECTIONS; i++) {
		if (d->sec[i].data) {
			memcpy(d->image + sh[s++].sh_offset, d->sec[i].data, d->sec[i].size);
			free(d->sec[i].data);
			d->sec[i].data = NULL;
		}
	}
	memcpy(d->image + at, names, name_at);
	memcpy(d->image + eh.e_shoff, sh, n * sizeof(sh[0]));
	return 0;
}

/* The members wanted, and their offsets. */
struct search {
	const struct dwarf_member *member;
	uint32_t *at;
	size_t n, left;
};

/* A member's offset; OFFSET_ABSENT if it is not a number or too large. */
static uint32_t member_offset(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;

	if (dwarf_attr(die, DW_AT_data_member_location, &attr) &&
	    !dwarf_formudata(&attr, &offset) && offset < OFFSET_MAX)
		return (uint32_t)offset;
	return OFFSET_ABSENT;
}

static void read_struct(struct search *s, Dwarf_Die *type, const char *name)
{
	bool wanted[DWARF_MEMBERS_MAX];
	Dwarf_Die die;

	if (dwarf_child(type, &die))
		return;
	for (size_t i = 0; i < s->n; i++) {
		wanted[i] = s->at[i] == OFFSET_UNKNOWN && !strcmp(s->member[i].type, name);
		if (wanted[i]) {
			s->at[i] = OFFSET_ABSENT;
			s->left--;
		}
	}
	do {
		const char *member = dwarf_tag(&die) == DW_TAG_member ? dwarf_diename(&die) : NULL;

		for (size_t i = 0; member && i < s->n; i++) {
			if (wanted[i] && !strcmp(s->member[i].name, member)) {
				s->at[i] = member_offset(&die);
				wanted[i] = false;
			}
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static bool is_wanted(const struct search *s, const char *type)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->at[i] == OFFSET_UNKNOWN && !strcmp(s->member[i].type, type))
			return true;
	}
	return false;
}

static void read_unit(struct search *s, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return;
	do {
		const char *name;

		if (dwarf_tag(&die) != DW_TAG_structure_type)
			continue;
		name = dwarf_diename(&die);
		if (name && is_wanted(s, name))
			read_struct(s, &die, name);
	} while (s->left && dwarf_siblingof(&die, &die) == 0);
}

static void read_units(struct search *s, Dwarf *dw)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (s->left && dwarf_get_units(dw, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		const char *name =
			dwarf_tag(&unit) == DW_TAG_compile_unit ? dwarf_diename(&unit) : NULL;

		if (name && !strcmp(name, "runtime"))
			read_unit(s, &unit);
	}
}

/* By default libdw prints a line and exits. */
__attribute__((noreturn)) static void out_of_memory(void)
{
	_exit(1);
}

static int read_image(struct debug *d, struct search *s, struct error *error)
{
	Elf *elf;
	Dwarf *dw = NULL;
	int err = 0;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)d->image, d->image_size);
	if (elf)
		dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (dw) {
		dwarf_new_oom_handler(dw, out_of_memory);
		read_units(s, dw);
	} else {
		err = error__set(error, -EBADMSG, "%s", dwarf_errmsg(-1));
	}
	dwarf_end(dw);
	elf_end(elf);
	return err;
}

static int read_members(const struct elf_image *elf, struct search *s, struct error *error)
{
	/* The first two are required; only cgo units made by gcc use the others. */
	struct debug d = {
		.sec = { { "info" }, { "abbrev" }, { "str" }, { "line_str" }, { "str_offsets" } }
	};
	int err = 0;

	for (size_t i = 0; i < NSECTIONS && !err; i++) {
		err = load_section(elf, &d.sec[i]);
		if (err == -ENOENT && i >= 2)
			err = 0;
		else if (err == -ENOENT)
			error__set(error, err = -ENODATA, NO_DWARF);
		else if (err)
			error__set(error, err, "its section .debug_%s is corrupt", d.sec[i].name);
	}
	if (!err && build_image(&d))
		err = error__set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < s->n; i++)
		s->at[i] = OFFSET_UNKNOWN;
	s->left = s->n;
	if (!err)
		err = read_image(&d, s, error);
	for (size_t i = 0; i < NSECTIONS; i++)
		free(d.sec[i].data);
	free(d.image);
	return err;
}

int layout_dwarf__read_here(const struct elf_image *elf, const struct go_version *version,
			    struct offsets *ret, struct error *error)
{
	struct dwarf_member member[OFF_COUNT];
	struct offsets found = {};
	struct search s = { member, found.at, OFF_COUNT };
	int err;

	for (size_t i = 0; i < OFF_COUNT; i++) {
		bool old = offset_members[i].renamed &&
			   !go_version__since(version, offset_members[i].renamed);

		member[i].type = offset_members[i].type;
		member[i].name = old ? offset_members[i].old_name : offset_members[i].name;
	}
	err = read_members(elf, &s, error);
	if (!err)
		*ret = found;
	return err;
}

/* ---- in a child process ---- */

struct request {
	const struct elf_image *elf;
	const struct go_version *version; /* for the runtime's members; else */
	const struct dwarf_member *member;
	size_t n;
};

static int answer(void *ctx, void *result, struct error *error)
{
	const struct request *r = ctx;
	struct search s = { r->member, result, r->n };

	return r->version ? layout_dwarf__read_here(r->elf, r->version, result, error) :
			    read_members(r->elf, &s, error);
}

/* Checked first, to avoid a child process for a program without DWARF. */
static bool has_dwarf(const struct elf_image *elf)
{
	struct elf_section sec;

	return (elf_image__section(elf, ".debug_info", &sec) && sec.in_file) ||
	       (elf_image__section(elf, ".zdebug_info", &sec) && sec.in_file);
}

static int ask(struct request *request, void *ret, size_t size, struct error *error)
{
	/* A program of 200 MB takes less than a second of CPU time and 300 MiB. */
	static const struct guarded_limits limits = { .cpu_seconds = 20,
						      .seconds = 60,
						      .memory = 2ull << 30 };
	struct error why = { "" };
	int err;

	if (!has_dwarf(request->elf))
		return error__set(error, -ENODATA, NO_DWARF);
	err = guarded__run(answer, request, &limits, ret, size, &why);
	if (err == -ENOTRECOVERABLE)
		return error__set(error, err, "libdw %s", why.text);
	return err ? error__set(error, err, "%s", why.text) : 0;
}

int layout_dwarf__read(const struct elf_image *elf, const struct go_version *version,
		       struct offsets *ret, struct error *error)
{
	return ask(&(struct request){ elf, version }, ret, sizeof(*ret), error);
}

int layout_dwarf__members(const struct elf_image *elf, const struct dwarf_member *member, size_t n,
			  uint32_t *ret, struct error *error)
{
	if (n > DWARF_MEMBERS_MAX)
		return error__set(error, -E2BIG, "too many members");
	return ask(&(struct request){ .elf = elf, .member = member, .n = n }, ret, n * sizeof(*ret),
		   error);
}

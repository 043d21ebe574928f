// SPDX-License-Identifier: GPL-2.0
/*
 * Functions, names, files and lines from gopclntab, which every Go program contains.
 *
 * Third step of target analysis. Upstream: elf/elf.c and infer/buildinfo.c. Downstream:
 * probe/site.c looks up functions; pclntab_inline.c and pclntab_frames.c read inlining and frames.
 * The table is loaded into memory once; every access to it goes through lib/buf.h.
 */
#include "target/symbols/pclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/arch/arch.h"
#include "target/symbols/pclntab_impl.h"

#define MAGIC_1_18     0xfffffff0u
#define MAGIC_1_20     0xfffffff1u
#define FUNCTAB_ENTRY  8 /* u32 entry offset, u32 offset of the _func */
#define FUNCS_MAX      (1u << 24)
#define CANDIDATES_MAX 16

/* internal/abi.FuncID: releases that inserted an id renumbered the later ones. */
static void set_func_ids(struct pclntab *pt, const struct go_version *v)
{
	bool since_1_22 = go_version__since(v, 22), since_1_25 = go_version__since(v, 25);

	pt->since_1_20 = go_version__since(v, 20);
	pt->since_1_21 = go_version__since(v, 21);
	pt->since_1_27 = go_version__since(v, 27);
	/* 1.22 inserted corostart before all of these, 1.25 another id before the last two. */
	pt->id_gopanic = 9 + since_1_22;
	pt->id_panicwrap = 14 + since_1_22;
	pt->id_sigpanic = 18 + since_1_22 + since_1_25;
	pt->id_wrapper = 21 + since_1_22 + since_1_25;
}

static int parse_header(struct pclntab *pt, struct error *error)
{
	struct buf b = pt->tab;
	uint32_t magic = buf__u32(&b);
	uint8_t quantum, ptr_size;

	buf__skip(&b, 2);
	quantum = buf__u8(&b);
	ptr_size = buf__u8(&b);
	pt->nfunc = buf__u64(&b);
	buf__skip(&b, 8);	 /* number of files */
	pt->text = buf__u64(&b); /* 0 since 1.26: see pclntab_module.c */
	pt->at.names = buf__u64(&b);
	pt->at.cus = buf__u64(&b);
	pt->at.files = buf__u64(&b);
	pt->at.pcs = buf__u64(&b);
	pt->at.funcs = buf__u64(&b);
	if (b.bad || quantum != ARCH_PC_QUANTUM || ptr_size != 8)
		return error__set(error, -EBADMSG,
				  "the program's function table has an invalid header");
	if (magic != MAGIC_1_18 && magic != MAGIC_1_20) {
		/* garble chooses its own magic: then the module data decide. */
		if (!pt->since_1_20)
			return error__set(error, -EBADMSG,
					  "the program's function table has an "
					  "unknown format (magic %#x)",
					  magic);
		magic = MAGIC_1_20;
	}
	pt->header_size = magic == MAGIC_1_20 ? 44 : 40;
	pt->func_id_at = magic == MAGIC_1_20 ? 40 : 36;
	return 0;
}

/* Checks in one pass that the entries are in order, each with its record inside the table. */
static int check_functions(struct pclntab *pt, struct error *error)
{
	struct buf b = pt->tab;
	uint32_t entry, record, last = 0;
	uint64_t size = (uint64_t)(b.end - b.start);

	if (!pt->nfunc || pt->nfunc > FUNCS_MAX || pt->at.funcs > size)
		return error__set(error, -EBADMSG, "the program's function table has no functions");
	buf__seek(&b, pt->at.funcs);
	for (size_t i = 0; i < pt->nfunc && !b.bad; i++) {
		entry = buf__u32(&b);
		record = buf__u32(&b);
		if (entry < last || pt->at.funcs + record + pt->header_size > size)
			b.bad = true;
		last = entry;
	}
	entry = buf__u32(&b); /* the end of the last one */
	if (b.bad || entry < last)
		return error__set(error, -EBADMSG, "the program's function table is corrupt");
	return 0;
}

/* Tries the function table at offset `at` of the section. On success `data` belongs to *pt. */
static int try_table(struct pclntab *pt, unsigned char *data, const struct elf_section *sec,
		     size_t at, struct error *error)
{
	int err;

	pt->tab = buf__make(data + at, sec->size - at);
	pt->addr = sec->addr + at;
	err = parse_header(pt, error);
	if (!err)
		err = check_functions(pt, error);
	if (!err)
		err = pclntab__find_module(pt, error);
	if (!err)
		pt->data = data;
	return err;
}

/* An external linker may put the table into .data.rel.ro, among other data. */
static int search_table(struct pclntab *pt, unsigned char *data, const struct elf_section *sec)
{
	static const unsigned char rest[] = { 0xff, 0xff, 0xff, 0, 0, ARCH_PC_QUANTUM, 8 };
	const unsigned char *p = data, *end = data + sec->size;

	for (int i = 0; i < CANDIDATES_MAX; i++) {
		size_t at;

		p = memmem(p, (size_t)(end - p), rest, sizeof(rest));
		if (!p)
			break;
		at = (size_t)(p - data) - 1;
		if (p > data && (sec->addr + at) % 8 == 0 && !try_table(pt, data, sec, at, NULL))
			return 0;
		p++;
	}
	return -ENOENT;
}

static int find_table(struct pclntab *pt, struct error *error)
{
	static const char *const names[] = {
		".gopclntab",
		".data.rel.ro.gopclntab",
		".data.rel.ro",
		".rodata",
	};
	struct elf_section sec;
	unsigned char *data;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool whole = i < 2;
		int err;

		if (!elf_image__section(pt->elf, names[i], &sec))
			continue;
		if (sec.size > ELF_LOAD_MAX)
			return error__set(error, -EFBIG,
					  "the program's section %s has %llu MiB; the "
					  "limit is %llu MiB",
					  names[i], (unsigned long long)(sec.size >> 20),
					  ELF_LOAD_MAX >> 20);
		data = elf_image__load(pt->elf, &sec);
		if (!data)
			return error__set(error, -EBADMSG, "cannot read the program's section %s",
					  names[i]);
		err = whole ? try_table(pt, data, &sec, 0, error) : search_table(pt, data, &sec);
		if (!err)
			return 0;
		free(data);
		if (whole)
			return err;
	}
	return error__set(error, -ENOENT, "the program has no function table (section .gopclntab)");
}

int pclntab__open_later(struct pclntab **ret, const struct elf_image *elf,
			const struct go_version *version, struct error *error)
{
	struct pclntab *pt = calloc(1, sizeof(*pt));

	if (!pt)
		return error__set(error, -ENOMEM, "out of memory");
	pt->elf = elf;
	pt->later = true;
	set_func_ids(pt, version);
	*ret = pt;
	return 0;
}

int pclntab__open(struct pclntab **ret, const struct elf_image *elf,
		  const struct go_version *version, struct error *error)
{
	struct pclntab *pt;
	int err = pclntab__open_later(&pt, elf, version, error);

	if (err)
		return err;
	pt->later = false;
	err = find_table(pt, error);
	if (err) {
		pclntab__destroy(pt);
		return err;
	}
	*ret = pt;
	return 0;
}

void pclntab__load(struct pclntab *pt)
{
	struct error error = { "" };

	pt->later = false;
	if (!find_table(pt, &error))
		return;
	log__msg("cannot read function names: %s", error.text);
	pt->tab = buf__make(NULL, 0);
	pt->nfunc = 0;
}

void pclntab__destroy(struct pclntab *pt)
{
	if (!pt)
		return;
	for (size_t i = 0; i < pt->nprinted; i++)
		free(pt->printed[i].text);
	free(pt->printed);
	pclntab_names__destroy(pt->names);
	free(pt->window);
	free(pt->data);
	free(pt);
}

const char *pclntab__name(const struct pclntab *pt, int32_t offset)
{
	const char *s =
		offset < 0 ? NULL : buf__string_at(&pt->tab, pt->at.names + (uint32_t)offset);

	return s ? s : "";
}

/* Entry of a function relative to the text; of `nfunc`: the end of the last function. */
static uint32_t entry_offset(const struct pclntab *pt, size_t index)
{
	uint32_t v = 0;

	buf__u32_at(&pt->tab, pt->at.funcs + index * FUNCTAB_ENTRY, &v);
	return v;
}

bool pclntab__info(const struct pclntab *pt, size_t index, struct func_info *ret)
{
	struct func_info f = { .entry = pt->text + entry_offset(pt, index) };
	struct buf b = pt->tab;
	uint32_t at;

	if (index >= pt->nfunc || !buf__u32_at(&b, pt->at.funcs + index * FUNCTAB_ENTRY + 4, &at))
		return false;
	f.record = (uint32_t)pt->at.funcs + at;
	buf__seek(&b, f.record + 4);
	f.name = (int32_t)buf__u32(&b);
	f.args = (int32_t)buf__u32(&b);
	buf__skip(&b, 4); /* deferreturn */
	f.pcsp = buf__u32(&b);
	f.pcfile = buf__u32(&b);
	f.pcln = buf__u32(&b);
	f.npcdata = buf__u32(&b);
	f.cu = buf__u32(&b);
	buf__seek(&b, f.record + pt->func_id_at);
	f.func_id = buf__u8(&b);
	f.flags = buf__u8(&b);
	buf__skip(&b, 1);
	f.nfuncdata = buf__u8(&b);
	if (b.bad)
		return false;
	*ret = f;
	return true;
}

bool pclntab__func(const struct pclntab *pt, size_t index, struct go_func *ret)
{
	struct func_info f;

	pclntab__need(pt);
	if (!pclntab__info(pt, index, &f))
		return false;
	*ret = (struct go_func){
		.entry = f.entry,
		.end = pt->text + entry_offset(pt, index + 1),
		.name = pclntab__name(pt, f.name),
		.index = (uint32_t)index,
		.args = f.args,
		.func_id = f.func_id,
		.assembly = f.flags & FUNC_FLAG_ASM,
	};
	return true;
}

bool pclntab__search(const struct pclntab *pt, uint64_t pc, size_t *ret)
{
	size_t lo = 0, hi = pt->nfunc;
	uint64_t off = pc - pt->text;

	if (pc < pt->text || off < entry_offset(pt, 0) || off >= entry_offset(pt, pt->nfunc))
		return false;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (entry_offset(pt, mid) <= off)
			lo = mid;
		else
			hi = mid;
	}
	*ret = lo;
	return true;
}

bool pclntab__find(const struct pclntab *pt, uint64_t pc, struct go_func *ret)
{
	size_t index;

	pclntab__need(pt);
	return pclntab__search(pt, pc, &index) && pclntab__func(pt, index, ret);
}

int32_t pclntab__pcvalue(const struct pclntab *pt, uint32_t table, uint64_t entry, uint64_t pc)
{
	struct pcvalue_walk w;

	if (!pcvalue_walk__start(&w, pt, table, entry))
		return -1;
	while (pcvalue_walk__next(&w)) {
		if (pc < w.end)
			return w.value;
	}
	return -1;
}

int32_t pclntab__frame_size(const struct pclntab *pt, uint64_t pc)
{
	struct func_info f;
	size_t index;

	pclntab__need(pt);
	if (!pclntab__search(pt, pc, &index) || !pclntab__info(pt, index, &f))
		return -1;
	return pclntab__pcvalue(pt, f.pcsp, f.entry, pc);
}

struct pclntab_module pclntab__module(const struct pclntab *pt)
{
	pclntab__need(pt);
	return (struct pclntab_module){ pt->module, pt->text, pt->etext };
}

bool pcvalue_walk__start(struct pcvalue_walk *w, const struct pclntab *pt, uint32_t table,
			 uint64_t entry)
{
	*w = (struct pcvalue_walk){ .b = pt->tab, .entry = entry, .end = entry, .value = -1 };
	buf__seek(&w->b, pt->at.pcs + table);
	return table && !w->b.bad;
}

uint32_t pclntab__pcdata(const struct pclntab *pt, const struct func_info *f, unsigned int which)
{
	uint32_t v;

	if (which >= f->npcdata ||
	    !buf__u32_at(&pt->tab, (uint64_t)f->record + pt->header_size + 4 * which, &v))
		return 0;
	return v;
}

uint64_t pclntab__funcdata(const struct pclntab *pt, const struct func_info *f, unsigned int which)
{
	uint32_t v;

	if (which >= f->nfuncdata || !pt->gofunc ||
	    !buf__u32_at(&pt->tab,
			 (uint64_t)f->record + pt->header_size + 4 * (uint64_t)f->npcdata +
				 4 * which,
			 &v) ||
	    v == UINT32_MAX)
		return 0;
	return pt->gofunc + v;
}

unsigned char *go_func__load(const struct go_func *func, const struct elf_image *elf, size_t max)
{
	size_t len = func->end - func->entry;
	unsigned char *bytes = func->end > func->entry && len <= max ? malloc(len) : NULL;

	if (bytes && elf_image__read(elf, func->entry, bytes, len) == len)
		return bytes;
	free(bytes);
	return NULL;
}

const char *pclntab__line(const struct pclntab *pt, const struct func_info *f, uint64_t pc,
			  uint32_t *ret_line)
{
	int32_t file = pclntab__pcvalue(pt, f->pcfile, f->entry, pc);
	int32_t line = pclntab__pcvalue(pt, f->pcln, f->entry, pc);
	const char *s;
	uint32_t at;

	*ret_line = 0;
	if (file < 0 || line < 0 ||
	    !buf__u32_at(&pt->tab, pt->at.cus + 4 * ((uint64_t)f->cu + (uint32_t)file), &at) ||
	    at == UINT32_MAX)
		return "?";
	s = buf__string_at(&pt->tab, pt->at.files + at);
	if (!s)
		return "?";
	*ret_line = (uint32_t)line;
	return s;
}

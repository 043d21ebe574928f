// SPDX-License-Identifier: GPL-2.0
/*
 * Determines a program's runtime layout: offsets, globals, and the facts of its Go release.
 *
 * Fourth step of target analysis. Upstream: layout_dwarf.c, infer/calibrate.c and the table by
 * release, merged by layout_merge.c. Patch releases moved members (1.23.12, 1.24.6), so offsets
 * come from the program's DWARF and machine code where possible and are compared with the table.
 * Downstream: capture/probes.c passes them to the probes, process/live.c checks them against the
 * running process before the first record.
 */
#include "target/layout/layout.h"

#include <errno.h>
#include <string.h>

#include "target/infer/calibrate.h"
#include "target/layout/layout_dwarf.h"
#include "target/layout/layout_merge.h"
#include "target/layout/layout_tables.h"

#define CONFIG(field) offsetof(struct layout, config.field)
#define FIELD(field)  offsetof(struct layout, field)

/* Where each member's offset is stored. G_STACK is added to STACK_LO and STACK_HI. */
static const struct {
	enum offset_id id;
	size_t at;
} member_at[] = {
	{ OFF_G_M, CONFIG(g_m) },
	{ OFF_G_SCHED, CONFIG(g_sched) },
	{ OFF_GOBUF_SP, CONFIG(gobuf_sp) },
	{ OFF_GOBUF_PC, CONFIG(gobuf_pc) },
	{ OFF_GOBUF_BP, CONFIG(gobuf_bp) },
	{ OFF_G_GOID, CONFIG(g_goid) },
	{ OFF_G_WAITREASON, CONFIG(g_waitreason) },
	{ OFF_G_STARTPC, CONFIG(g_startpc) },
	{ OFF_G_PARENT_GOID, CONFIG(g_parent_goid) },
	{ OFF_G_COROARG, CONFIG(g_coroarg) },
	{ OFF_G_COROEXIT, CONFIG(g_coroexit) },
	{ OFF_G_SYNC_SAFE_POINT, CONFIG(g_sync_safe_point) },
	{ OFF_CORO_GP, CONFIG(coro_gp) },
	{ OFF_M_CURG, CONFIG(m_curg) },
	{ OFF_M_P, CONFIG(m_p) },
	{ OFF_M_OLDP, CONFIG(m_oldp) },
	{ OFF_M_BLOCK_REASON, CONFIG(m_block_reason) },
	{ OFF_M_SKIP, CONFIG(m_skip) },
	{ OFF_P_ID, CONFIG(p_id) },
	{ OFF_P_GC_MODE, CONFIG(p_gc_mode) },
	{ OFF_STACK_LO, FIELD(g_stack_lo) },
	{ OFF_STACK_HI, FIELD(g_stack_hi) },
	{ OFF_G_ATOMICSTATUS, CONFIG(g_status) },
	{ OFF_M_G0, FIELD(m_g0) },
	{ OFF_M_PROCID, FIELD(m_procid) },
	{ OFF_M_ALLLINK, FIELD(m_alllink) },
	{ OFF_P_STATUS, FIELD(p_status) },
	{ OFF_P_M, FIELD(p_m) },
};

_Static_assert(sizeof(member_at) / sizeof(member_at[0]) == OFF_COUNT - 1,
	       "a member has no destination");
_Static_assert(OFFSET_ABSENT == GT_NO_OFFSET, "the probes use this value");

/* The sources for one program. */
struct sources {
	const struct elf_image *elf;
	const struct go_version *version;
	const struct debug_places *places;
	struct debug_file debug; /* opened when first needed */
	bool debug_tried;
	struct offsets dwarf, code;
	bool has_dwarf, has_code;
	bool by_symbols, by_code; /* sources of the globals */
	char no_dwarf[160];	  /* why the program's DWARF cannot be read; empty: there is none */
};

int layout__for_version(const struct go_version *version, struct layout *ret, struct error *error)
{
	struct layout l = { .version = *version };
	unsigned int newest = layout_tables__newest();
	bool newer = version->major > 1 || version->minor > newest;

	if (!layout_tables__fill(newer ? newest : version->minor, &l))
		return error__set(error, -ENOTSUP,
				  "built with %s, which is too old: programs of Go "
				  "1.%u to 1.%u can be recorded",
				  version->text, layout_tables__oldest(), newest);
	*ret = l;
	return 0;
}

static const struct elf_image *debug_file(struct sources *s)
{
	if (!s->debug_tried) {
		s->debug_tried = true;
		if (!debug_file__open(&s->debug, s->elf, s->places))
			s->debug = (struct debug_file){ .fd = -1 };
	}
	return s->debug.elf;
}

static void read_dwarf(struct sources *s)
{
	struct error why = { "" };
	int err = layout_dwarf__read(s->elf, s->version, &s->dwarf, &why);

	if (err == -ENODATA && debug_file(s))
		err = layout_dwarf__read(s->debug.elf, s->version, &s->dwarf, &why);
	s->has_dwarf = !err;
	if (err && err != -ENODATA)
		snprintf(s->no_dwarf, sizeof(s->no_dwarf), "%.150s", why.text);
}

/* Code of an unknown shape is no error: other sources may suffice. */
static int read_code(struct sources *s, const struct pclntab *pt, struct error *error)
{
	struct error why = { "" };
	int err = pt ? calibrate__read(s->elf, pt, s->version, &s->code, &why) : -ENODATA;

	s->has_code = !err;
	if (err)
		s->code = (struct offsets){ 0 };
	return err == -EPROTO || err == -ENOMEM ? error__set(error, err, "%s", why.text) : 0;
}

static int read_members(struct sources *s, struct layout *l, struct error *error)
{
	struct layout_merged merged;
	int err = layout_merge(s->version, s->has_dwarf ? &s->dwarf : NULL,
			       s->has_code ? &s->code : NULL, &merged, error);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(member_at) / sizeof(member_at[0]); i++)
		memcpy((char *)l + member_at[i].at, &merged.at[member_at[i].id], sizeof(uint32_t));
	l->g_stack_lo += merged.at[OFF_G_STACK];
	l->g_stack_hi += merged.at[OFF_G_STACK];
	snprintf(l->source, sizeof(l->source), "%s", merged.source);
	if (s->no_dwarf[0])
		snprintf(l->warning, sizeof(l->warning),
			 "the program's DWARF cannot be read: %s%s%s", s->no_dwarf,
			 merged.warning[0] ? "; " : "", merged.warning);
	else
		snprintf(l->warning, sizeof(l->warning), "%s", merged.warning);
	return 0;
}

/*
 * Looks a global up in the symbols of the program or else its debug file, and in its machine code.
 */
static int read_global(struct sources *s, const char *name, uint64_t code, uint64_t *ret,
		       struct error *error)
{
	uint64_t addr = elf_image__symbol(s->elf, name);

	if (!addr && debug_file(s))
		addr = elf_image__symbol(s->debug.elf, name);
	if (addr && code && addr != code)
		return error__set(
			error, -EPROTO,
			"inconsistent addresses in this %s program: "
			"%s is at %#llx in its symbol table, at %#llx in its machine code",
			s->version->text, name, (unsigned long long)addr, (unsigned long long)code);
	if (!addr && !code)
		return error__set(error, -ENODATA,
				  "the address of %s is unknown: the program has no symbol table "
				  "(stripped, or built with -ldflags=-s), and its machine code "
				  "does not contain it: build it without that flag",
				  name);
	s->by_symbols |= addr;
	s->by_code |= code;
	*ret = addr ? addr : code;
	return 0;
}

static int read_globals(struct sources *s, struct layout *l, struct error *error)
{
	const struct {
		const char *name;
		uint64_t code;
		uint64_t *ret;
	} globals[] = {
		{ "runtime.allglen", s->code.global.allglen, &l->allglen },
		{ "runtime.allgptr", s->code.global.allgptr, &l->allgptr },
		{ "runtime.allp", s->code.global.allp, &l->allp },
		{ "runtime.allm", s->code.global.allm, &l->allm },
		{ "runtime.gomaxprocs", s->code.global.gomaxprocs, &l->gomaxprocs },
	};
	size_t len = strlen(l->source);
	int err = 0;

	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]) && !err; i++)
		err = read_global(s, globals[i].name, globals[i].code, globals[i].ret, error);
	elf_image__forget_symbols(s->elf);
	snprintf(l->source + len, sizeof(l->source) - len, "; globals: %s%s%s%s%s",
		 s->by_symbols ? "symbol table" : "", s->by_symbols && s->by_code ? ", " : "",
		 s->by_code ? "machine code" : "", s->debug.elf ? "; debug file: " : "",
		 s->debug.elf ? s->debug.path : "");
	return err;
}

int layout__read(const struct elf_image *elf, const struct pclntab *pt,
		 const struct go_version *version, const struct debug_places *places,
		 struct layout *ret, struct error *error)
{
	struct sources s = { .elf = elf, .version = version, .places = places, .debug.fd = -1 };
	struct layout l;
	int err = layout__for_version(version, &l, error);

	if (err)
		return err;
	read_dwarf(&s);
	err = read_code(&s, pt, error);
	if (!err)
		err = read_members(&s, &l, error);
	if (!err)
		err = read_globals(&s, &l, error);
	debug_file__deinit(&s.debug);
	if (!err)
		*ret = l;
	return err;
}

static const char *text(const char *const *texts, unsigned int n, unsigned int i,
			const char *otherwise)
{
	return i < n && texts[i] ? texts[i] : otherwise;
}

const char *layout__block_reason(const struct layout *l, unsigned int reason, unsigned int wait)
{
	const char *plain = layout_tables__plain_block(l, reason, wait);

	return plain ? plain : text(l->block_reasons, l->nblock_reasons, reason, "unspecified");
}

const char *layout__stw_reason(const struct layout *l, unsigned int reason)
{
	return text(l->stw_reasons, l->nstw_reasons, reason, "unknown");
}

const char *layout__gc_mode(const struct layout *l, unsigned int mode)
{
	return text(l->gc_modes, l->ngc_modes, mode, NULL);
}

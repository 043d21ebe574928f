// SPDX-License-Identifier: GPL-2.0
/*
 * What this program's runtime looks like: offsets, globals, and the facts of its Go release.
 *
 * Fourth step of target analysis. Patch releases moved members (1.23.12, 1.24.6), so that offsets
 * come from the program itself where it tells them: its DWARF, its machine code; the table by
 * release is held against both (layout_merge.c). capture/session.c hands them to the probes,
 * target/live.c checks them against the running process before the first record.
 */
#include "target/layout.h"

#include <errno.h>
#include <string.h>

#include "target/calibrate.h"
#include "target/layout_dwarf.h"
#include "target/layout_merge.h"
#include "target/layout_tables.h"

#define OLDEST	      19
#define NEWEST	      27
#define CONFIG(field) offsetof(struct layout, config.field)
#define FIELD(field)  offsetof(struct layout, field)

/* Where each member's offset goes. G_STACK is added to STACK_LO and _HI. */
static const struct {
	enum offset_id id;
	size_t place;
} places_of[] = {
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
	{ OFF_M_BLOCK_REASON, CONFIG(m_block_reason) },
	{ OFF_M_SKIP, CONFIG(m_skip) },
	{ OFF_P_ID, CONFIG(p_id) },
	{ OFF_P_GC_MODE, CONFIG(p_gc_mode) },
	{ OFF_STACK_LO, FIELD(g_stack_lo) },
	{ OFF_STACK_HI, FIELD(g_stack_hi) },
	{ OFF_G_ATOMICSTATUS, FIELD(g_atomicstatus) },
	{ OFF_M_G0, FIELD(m_g0) },
	{ OFF_M_PROCID, FIELD(m_procid) },
	{ OFF_M_OLDP, FIELD(m_oldp) },
	{ OFF_M_ALLLINK, FIELD(m_alllink) },
	{ OFF_P_STATUS, FIELD(p_status) },
	{ OFF_P_M, FIELD(p_m) },
};

_Static_assert(sizeof(places_of) / sizeof(places_of[0]) == OFF_COUNT - 1, "a member has no place");
_Static_assert(OFFSET_ABSENT == GT_NO_OFFSET, "the probes know it by that");

/* What is known of one program. */
struct sources {
	const struct elf_image *elf;
	const struct go_version *version;
	const struct debug_places *places;
	struct debug_file debug; /* opened when it is needed first */
	bool debug_tried;
	struct offsets dwarf, code;
	bool has_dwarf, has_code;
	bool by_symbols, by_code; /* who told of the globals */
	char no_dwarf[160];	  /* why the program's own cannot be read; empty: there is none */
};

int layout__for_version(const struct go_version *version, struct layout *ret, struct error *err)
{
	struct layout l = { .version = *version };
	bool newer = version->major > 1 || version->minor > NEWEST;

	if (!layout_tables__fill(newer ? NEWEST : version->minor, &l))
		return error__set(err, -ENOTSUP,
				  "built with %s, which is too old: programs of Go "
				  "1.%d to 1.%d can be traced",
				  version->text, OLDEST, NEWEST);
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
	int r = layout_dwarf__read(s->elf, s->version, &s->dwarf, &why);

	if (r == -ENODATA && debug_file(s))
		r = layout_dwarf__read(s->debug.elf, s->version, &s->dwarf, &why);
	s->has_dwarf = !r;
	if (r && r != -ENODATA)
		snprintf(s->no_dwarf, sizeof(s->no_dwarf), "%.150s", why.text);
}

/* Code that is not like any known is no reason to refuse what other sources know. */
static int read_code(struct sources *s, const struct pclntab *pt, struct error *err)
{
	struct error why = { "" };
	int r = pt ? calibrate__read(s->elf, pt, s->version, &s->code, &why) : -ENODATA;

	s->has_code = !r;
	if (r)
		s->code = (struct offsets){ 0 };
	return r == -EPROTO || r == -ENOMEM ? error__set(err, r, "%s", why.text) : 0;
}

static int read_members(struct sources *s, struct layout *l, struct error *err)
{
	struct layout_merged merged;
	int r = layout_merge(s->version, s->has_dwarf ? &s->dwarf : NULL,
			     s->has_code ? &s->code : NULL, &merged, err);

	if (r)
		return r;
	for (size_t i = 0; i < sizeof(places_of) / sizeof(places_of[0]); i++)
		memcpy((char *)l + places_of[i].place, &merged.at[places_of[i].id],
		       sizeof(uint32_t));
	l->g_stack_lo += merged.at[OFF_G_STACK];
	l->g_stack_hi += merged.at[OFF_G_STACK];
	l->config.syscall_bp_in_cx = go_version__since(s->version, 23);
	snprintf(l->source, sizeof(l->source), "%s", merged.source);
	if (s->no_dwarf[0])
		snprintf(l->warning, sizeof(l->warning),
			 "the program's DWARF cannot be read: %s%s%s", s->no_dwarf,
			 merged.warning[0] ? "; " : "", merged.warning);
	else
		snprintf(l->warning, sizeof(l->warning), "%s", merged.warning);
	return 0;
}

/* By the program's symbols, else by those of its debug file, and by its machine code. */
static int read_global(struct sources *s, const char *name, uint64_t code, uint64_t *ret,
		       struct error *err)
{
	uint64_t addr = elf_image__symbol(s->elf, name);

	if (!addr && debug_file(s))
		addr = elf_image__symbol(s->debug.elf, name);
	if (addr && code && addr != code)
		return error__set(
			err, -EPROTO,
			"cannot trust the addresses of this %s program: "
			"%s is at %#llx by its symbol table, at %#llx by its machine code",
			s->version->text, name, (unsigned long long)addr, (unsigned long long)code);
	if (!addr && !code)
		return error__set(err, -ENODATA,
				  "nothing tells where %s is: the program has no "
				  "symbol table (stripped, or built with -ldflags=-s), and its "
				  "machine code does not show it: build it without that flag",
				  name);
	s->by_symbols |= addr;
	s->by_code |= code;
	*ret = addr ? addr : code;
	return 0;
}

static int read_globals(struct sources *s, struct layout *l, struct error *err)
{
	const struct {
		const char *name;
		uint64_t code;
		uint64_t *place;
	} globals[] = {
		{ "runtime.allglen", s->code.global.allglen, &l->allglen },
		{ "runtime.allgptr", s->code.global.allgptr, &l->allgptr },
		{ "runtime.allp", s->code.global.allp, &l->allp },
		{ "runtime.allm", s->code.global.allm, &l->allm },
		{ "runtime.gomaxprocs", s->code.global.gomaxprocs, &l->gomaxprocs },
	};
	size_t len = strlen(l->source);
	int r = 0;

	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]) && !r; i++)
		r = read_global(s, globals[i].name, globals[i].code, globals[i].place, err);
	elf_image__forget_symbols(s->elf);
	snprintf(l->source + len, sizeof(l->source) - len, "; globals: %s%s%s%s%s",
		 s->by_symbols ? "symbol table" : "", s->by_symbols && s->by_code ? ", " : "",
		 s->by_code ? "machine code" : "", s->debug.elf ? "; debug file: " : "",
		 s->debug.elf ? s->debug.path : "");
	return r;
}

int layout__read(const struct elf_image *elf, const struct pclntab *pt,
		 const struct go_version *version, const struct debug_places *places,
		 struct layout *ret, struct error *err)
{
	struct sources s = { .elf = elf, .version = version, .places = places, .debug.fd = -1 };
	struct layout l;
	int r = layout__for_version(version, &l, err);

	if (r)
		return r;
	read_dwarf(&s);
	r = read_code(&s, pt, err);
	if (!r)
		r = read_members(&s, &l, err);
	if (!r)
		r = read_globals(&s, &l, err);
	debug_file__deinit(&s.debug);
	l.config.m_oldp = l.m_oldp;
	if (!r)
		*ret = l;
	return r;
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

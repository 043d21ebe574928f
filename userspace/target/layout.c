// SPDX-License-Identifier: GPL-2.0
/*
 * What this program's runtime looks like: offsets, globals, and the facts of its Go release.
 *
 * Fourth step of target analysis. Offsets come from the program's DWARF, never from a table by
 * release: patch releases moved members (1.23.12, 1.24.6). capture/session.c hands them to the
 * probes, target/live.c checks them against the running process before the first record.
 */
#include "target/layout.h"

#include <errno.h>
#include <string.h>

#include "target/layout_dwarf.h"
#include "target/layout_tables.h"

#define OLDEST 19
#define NEWEST 27
#define CONFIG(field) offsetof(struct layout, config.field)
#define FIELD(field) offsetof(struct layout, field)

/* A member of a runtime struct, the place its offset goes to, the first release that has it. */
static const struct {
	const char *type, *name;
	size_t place;
	unsigned int since;	/* 0: all; a release that lacks it gets GT_NO_OFFSET */
} members[] = {
	{ "runtime.g", "m", CONFIG(g_m), 0 },
	{ "runtime.g", "sched", CONFIG(g_sched), 0 },
	{ "runtime.gobuf", "sp", CONFIG(gobuf_sp), 0 },
	{ "runtime.gobuf", "pc", CONFIG(gobuf_pc), 0 },
	{ "runtime.gobuf", "bp", CONFIG(gobuf_bp), 0 },
	{ "runtime.g", "goid", CONFIG(g_goid), 0 },
	{ "runtime.g", "waitreason", CONFIG(g_waitreason), 0 },
	{ "runtime.g", "startpc", CONFIG(g_startpc), 0 },
	{ "runtime.g", "parentGoid", CONFIG(g_parent_goid), 21 },
	{ "runtime.g", "coroarg", CONFIG(g_coroarg), 23 },
	{ "runtime.g", "coroexit", CONFIG(g_coroexit), 23 },
	{ "runtime.g", "syncSafePoint", CONFIG(g_sync_safe_point), 25 },
	/* Linked in only with package iter, which alone makes coroutines. */
	{ "runtime.coro", "gp", CONFIG(coro_gp), 99 },
	{ "runtime.m", "curg", CONFIG(m_curg), 0 },
	{ "runtime.m", "p", CONFIG(m_p), 0 },
	{ "runtime.m", "waitTraceBlockReason", CONFIG(m_block_reason), 0 },
	{ "runtime.m", "waitTraceSkip", CONFIG(m_skip), 0 },
	{ "runtime.p", "id", CONFIG(p_id), 0 },
	{ "runtime.p", "gcMarkWorkerMode", CONFIG(p_gc_mode), 0 },
	{ "runtime.stack", "lo", FIELD(g_stack_lo), 0 },
	{ "runtime.stack", "hi", FIELD(g_stack_hi), 0 },
	{ "runtime.g", "atomicstatus", FIELD(g_atomicstatus), 0 },
	{ "runtime.m", "g0", FIELD(m_g0), 0 },
	{ "runtime.m", "procid", FIELD(m_procid), 0 },
	{ "runtime.m", "oldp", FIELD(m_oldp), 0 },
	{ "runtime.m", "alllink", FIELD(m_alllink), 0 },
	{ "runtime.p", "status", FIELD(p_status), 0 },
	{ "runtime.p", "m", FIELD(p_m), 0 },
	{ "runtime.g", "stack", SIZE_MAX, 0 },	/* added to stack.lo and hi */
};

#define NMEMBERS (sizeof(members) / sizeof(members[0]))

static const struct {
	const char *name;
	size_t place;
} globals[] = {
	{ "runtime.allgs", FIELD(allgs) },
	{ "runtime.allglen", FIELD(allglen) },
	{ "runtime.allgptr", FIELD(allgptr) },
	{ "runtime.allp", FIELD(allp) },
	{ "runtime.allm", FIELD(allm) },
	{ "runtime.gomaxprocs", FIELD(gomaxprocs) },
};

#define NGLOBALS (sizeof(globals) / sizeof(globals[0]))

int layout__for_version(const struct go_version *version, struct layout *ret, struct error *err)
{
	struct layout l = { .version = *version };

	if (version->major == 1 && version->minor < OLDEST)
		return error__set(err, -ENOTSUP, "built with %s, which is too old: programs of Go "
				  "1.%d to 1.%d can be traced", version->text, OLDEST, NEWEST);
	if (version->major != 1 || !layout_tables__fill(version->minor, &l))
		return error__set(err, -ENOTSUP, "built with %s, a release that is not known here: "
				  "programs of Go 1.%d to 1.%d can be traced", version->text,
				  OLDEST, NEWEST);
	*ret = l;
	return 0;
}

static int place_member(struct layout *l, size_t i, const struct member *m, struct error *err)
{
	uint32_t v = m->found ? m->offset : GT_NO_OFFSET;

	if (!m->found && !(members[i].since && !go_version__since(&l->version, members[i].since)))
		return error__set(err, -EPROTO, "the program's DWARF has no member %s of %s, which "
				  "%s should have", m->name, m->type, l->version.text);
	if (members[i].place != SIZE_MAX)
		memcpy((char *)l + members[i].place, &v, sizeof(v));
	return 0;
}

static int read_members(const struct elf_image *elf, struct layout *l, struct error *err)
{
	struct member m[NMEMBERS] = { { 0 } };
	int r;

	for (size_t i = 0; i < NMEMBERS; i++) {
		m[i].type = members[i].type;
		m[i].name = members[i].name;
		if (!go_version__since(&l->version, 21) && !strcmp(m[i].name, "waitTraceBlockReason"))
			m[i].name = "waittraceev";
		if (!go_version__since(&l->version, 21) && !strcmp(m[i].name, "waitTraceSkip"))
			m[i].name = "waittraceskip";
	}
	r = layout_dwarf__members(elf, m, NMEMBERS, err);
	for (size_t i = 0; i < NMEMBERS && !r; i++)
		r = place_member(l, i, &m[i], err);
	if (r)
		return r;
	l->g_stack_lo += m[NMEMBERS - 1].offset;
	l->g_stack_hi += m[NMEMBERS - 1].offset;
	return 0;
}

static int read_globals(const struct elf_image *elf, struct layout *l, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < NGLOBALS && !r; i++) {
		uint64_t addr = elf_image__symbol(elf, globals[i].name);

		memcpy((char *)l + globals[i].place, &addr, sizeof(addr));
		if (!addr)
			r = error__set(err, -ENODATA, "the program's symbol table has no %s "
				       "(stripped, or built with -ldflags=-s): build it without "
				       "that flag", globals[i].name);
	}
	elf_image__forget_symbols(elf);
	return r;
}

int layout__read(const struct elf_image *elf, const struct go_version *version,
		 struct layout *ret, struct error *err)
{
	struct layout l;
	int r = layout__for_version(version, &l, err);

	if (!r)
		r = read_members(elf, &l, err);
	if (!r)
		r = read_globals(elf, &l, err);
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

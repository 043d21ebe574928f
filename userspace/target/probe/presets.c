// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of known libraries: see presets.h.
 *
 * Sites are entries of functions, at an instruction that the kernel emulates and where the arguments
 * are still in their registers. If no function is always called at the end of a request, the returns
 * of the function that begins it are sites, too. The kernel single-steps them; the results are in
 * registers there.
 */
#include "target/probe/presets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/infer/buildinfo.h"
#include "target/probe/presets_impl.h"
#include "target/probe/site_find.h"

#define PRESET_EXITS_MAX 64 /* of a function */

const char *const preset_names[GT_PRESETS] = {
	[GT_PRESET_HTTP] = "http",
	[GT_PRESET_SQL] = "sql",
	[GT_PRESET_HTTP_CLIENT] = "http-client",
	[GT_PRESET_DNS] = "dns",
	[GT_PRESET_GRPC_CLIENT] = "grpc-client",
	[GT_PRESET_GRPC] = "grpc",
};

static const struct preset *const presets_known[GT_PRESETS] = {
	[GT_PRESET_HTTP] = &preset_http,
	[GT_PRESET_SQL] = &preset_sql,
	[GT_PRESET_HTTP_CLIENT] = &preset_http_client,
	[GT_PRESET_DNS] = &preset_dns,
	[GT_PRESET_GRPC_CLIENT] = &preset_grpc_client,
	[GT_PRESET_GRPC] = &preset_grpc,
};

static const char *const step_texts[GT_REQUEST_STEPS] = {
	[GT_REQUEST_BEGINS] = "a request begins",
	[GT_REQUEST_NAMED] = "a request has its route",
	[GT_REQUEST_ENDS] = "a request ends",
	[GT_REQUEST_LEFT] = "the connection of a request ends",
	[GT_REQUEST_TAKEN] = "a handler takes over the connection",
	[GT_REQUEST_RETURNS] = "the call of a request returns",
	[GT_REQUEST_RESULT] = "a request has its result",
	[GT_REQUEST_FOUND] = "the route of a request was found",
};

/* What all functions of one preset have in common. */
struct adding {
	struct presets *presets;
	enum gt_preset number;
	const struct preset *preset;
	const struct elf_image *elf;
	const struct pclntab *pt;
	unsigned int minor; /* release of Go or of the preset's module */
	uint32_t offset[PRESET_MEMBERS];
};

/* A value whose struct lacks a member in this release is not read. */
static struct gt_request_read resolve(const struct adding *a, const struct preset_value *value)
{
	struct gt_request_read ret = {
		.reg = value->reg,
		.len_reg = value->len_reg,
		.size = value->size,
	};

	for (size_t i = 0; i < PRESET_PATH && value->path[i]; i++) {
		uint32_t offset = a->offset[value->path[i] - 1u];

		if (offset > UINT16_MAX)
			return (struct gt_request_read){};
		ret.offset[ret.n++] = (gt_u16)offset;
	}
	return ret;
}

static int add_site(const struct adding *a, const struct preset_func *func, const struct code *code,
		    size_t at, struct error *error)
{
	struct presets *presets = a->presets;
	int64_t offset = at == NO_INSN ? -1 : elf_image__offset(a->elf, code->insn[at].addr);
	struct site *s;

	if (offset < 0)
		return error__set(error, -ENOTSUP, "%s cannot be probed", func->name);
	if (array__grow(&presets->site, presets->nsites, &presets->cap, sizeof(*presets->site)))
		return error__set(error, -ENOMEM, "out of memory");
	s = &presets->site[presets->nsites++];
	*s = (struct site){
		.probe = GT_PROBE_REQUEST,
		.cookie = presets->n | GT_SITE_CALL_STEPPED(!code->insn[at].emulated),
		.addr = code->insn[at].addr,
		.offset = (uint64_t)offset,
		.func_offset = (uint32_t)(code->insn[at].addr - code->func.entry),
		.cost = code->insn[at].emulated ? SITE_EMULATED : SITE_STEPPED,
		.why = step_texts[func->step],
	};
	snprintf(s->func, sizeof(s->func), "%s", func->name);
	code__format(code, at, a->pt, s->text, sizeof(s->text));
	return 0;
}

static int add_sites(const struct adding *a, const struct preset_func *func,
		     const struct code *code, struct error *error)
{
	size_t first = a->presets->nsites;
	int err = 0;

	if (!GT_REQUEST_AT_EXITS(func->step))
		return add_site(a, func, code, find__entry(code), error);
	for (size_t i = 0; i < code->n && !err; i++) {
		if (!code__is_exit(code, &code->insn[i]))
			continue;
		if (a->presets->nsites - first == PRESET_EXITS_MAX)
			return error__set(error, -E2BIG, "%s has more than %d exits", func->name,
					  PRESET_EXITS_MAX);
		err = add_site(a, func, code, i, error);
	}
	return err;
}

/* A row of the table, with its sites. */
static int add_row(const struct adding *a, const struct preset_func *func, const struct code *code,
		   struct error *error)
{
	struct presets *presets = a->presets;
	int err;

	if (presets->n == GT_REQUEST_SITES)
		return error__set(error, -E2BIG, "more than %d functions", GT_REQUEST_SITES);
	presets->table[presets->n] = (struct gt_request_site){
		.preset = (gt_u8)a->number,
		.step = (gt_u8)func->step,
		.text = { resolve(a, &func->text[0]), resolve(a, &func->text[1]) },
		.number = resolve(a, &func->number),
	};
	err = add_sites(a, func, code, error);
	presets->n++;
	return err;
}

static bool preset_func__applies(const struct preset_func *func, unsigned int minor)
{
	return minor >= func->since && minor <= func->until;
}

static int add_func(const struct adding *a, const struct preset_func *func, struct error *error)
{
	struct go_func found;
	struct code code;
	int err;

	if (!preset_func__applies(func, a->minor))
		return 0;
	if (!pclntab__named(a->pt, func->name, &found))
		return func->required ?
			       error__set(error, -ENOENT, "the program has no %s: it lacks %s",
					  a->preset->what, func->name) :
			       0;
	if (!code__read(&code, a->elf, &found))
		return error__set(error, -ENOTSUP, "%s cannot be disassembled", func->name);
	err = add_row(a, func, &code, error);
	code__deinit(&code);
	return err;
}

static void note_copy(void *ctx, const char *name, const struct go_func *into)
{
	(void)into;
	*(const char **)ctx = name;
}

/*
 * An inlined call would not be recorded. The compiler inlines these functions only with a profile. A
 * program without the data about inlined calls, which all known releases have, is not refused.
 */
static int check_inlined(const struct adding *a, struct error *error)
{
	const char *name[GT_REQUEST_SITES], *inlined = NULL;
	size_t n = 0;

	for (size_t i = 0; i < a->preset->nfuncs && n < GT_REQUEST_SITES; i++) {
		const struct preset_func *func = &a->preset->func[i];

		if (func->step == GT_REQUEST_BEGINS && preset_func__applies(func, a->minor))
			name[n++] = func->name;
	}
	if (pclntab__inlined(a->pt, name, n, note_copy, &inlined) == -ENOMEM)
		return error__set(error, -ENOMEM, "out of memory");
	return inlined ? error__set(error, -ENOTSUP, "the compiler inlined calls of %s", inlined) :
			 0;
}

/* Whether the program has one of the functions whose call is a request. */
static bool has_begin(const struct adding *a)
{
	struct go_func found;

	for (size_t i = 0; i < a->preset->nfuncs; i++) {
		const struct preset_func *func = &a->preset->func[i];

		if (func->step == GT_REQUEST_BEGINS && preset_func__applies(func, a->minor) &&
		    pclntab__named(a->pt, func->name, &found))
			return true;
	}
	return false;
}

static int add_funcs(const struct adding *a, struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < a->preset->nfuncs && !err; i++)
		err = add_func(a, &a->preset->func[i], error);
	return err ?: check_inlined(a, error);
}

/* The error if no function begins a request. */
static int no_library(const struct adding *a, struct error *error)
{
	return error__set(error, -ENOENT, "the program has no %s: it lacks %s", a->preset->what,
			  a->preset->func[0].name);
}

/* The release of what has the functions: Go, or a module. */
static int find_release(const struct adding *a, const struct go_version *go, struct go_version *ret,
			struct error *error)
{
	const struct preset *preset = a->preset;
	struct go_func found;
	int err;

	*ret = *go;
	if (go->major != 1 || go->minor < preset->since || go->minor > preset->until)
		return error__set(error, -ENOTSUP,
				  "its release %s is not supported, only Go 1.%u to 1.%u", go->text,
				  preset->since, preset->until);
	if (!preset->module)
		return 0;
	if (!pclntab__named(a->pt, preset->func[0].name, &found))
		return no_library(a, error);
	err = buildinfo__module_release(a->elf, preset->module, ret, error);
	if (err == -ENOENT) /* of the list of modules, not of the library */
		err = -ENOTSUP;
	if (!err && (ret->major != 1 || ret->minor < preset->module_since ||
		     ret->minor > preset->module_until))
		return error__set(
			error, -ENOTSUP, "its module %s %s is not supported, only v1.%u to v1.%u",
			preset->module, ret->text, preset->module_since, preset->module_until);
	return err;
}

int presets__add(struct presets *presets, enum gt_preset number, const struct elf_image *elf,
		 const struct pclntab *pt, const struct go_version *version, struct error *error)
{
	const struct preset *preset = presets_known[number];
	struct adding a = {
		.presets = presets,
		.number = number,
		.preset = preset,
		.elf = elf,
		.pt = pt,
	};
	size_t before = presets->n, sites_before = presets->nsites;
	struct go_version release;
	int err = find_release(&a, version, &release, error);

	a.minor = release.minor;
	if (!err && !has_begin(&a))
		err = no_library(&a, error);
	if (!err)
		err = preset__offsets(preset, elf, &release, a.offset, error);
	if (!err)
		err = add_funcs(&a, error);
	if (err) {
		presets->n = before;
		presets->nsites = sites_before;
	}
	return err;
}

void presets__deinit(struct presets *presets)
{
	free(presets->site);
	*presets = (struct presets){};
}

int presets__join(const struct presets *presets, struct site_list *sites)
{
	size_t n = sites->n + presets->nsites;
	struct site *both = realloc(sites->site, (n + 1) * sizeof(*both));

	if (!both)
		return -ENOMEM;
	if (presets->nsites)
		memcpy(both + sites->n, presets->site, presets->nsites * sizeof(*both));
	sites->site = both;
	sites->n = n;
	sites->has[GT_PROBE_REQUEST] = presets->nsites;
	return 0;
}

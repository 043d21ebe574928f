// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of known libraries: see presets.h.
 *
 * All sites are entries of functions, at an instruction that the kernel emulates and where the
 * arguments are still in their registers.
 */
#include "target/probe/presets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/probe/presets_impl.h"
#include "target/probe/site_find.h"

const char *const preset_names[GT_PRESETS] = {
	[GT_PRESET_HTTP] = "http",
};

static const struct preset *const presets_known[GT_PRESETS] = {
	[GT_PRESET_HTTP] = &preset_http,
};

static const char *const step_texts[GT_REQUEST_STEPS] = {
	[GT_REQUEST_BEGINS] = "a request begins",
	[GT_REQUEST_NAMED] = "a request has its route",
	[GT_REQUEST_ENDS] = "a request ends",
	[GT_REQUEST_LEFT] = "the connection of a request ends",
	[GT_REQUEST_TAKEN] = "a handler takes over the connection",
};

/* What all functions of one preset have in common. */
struct adding {
	struct presets *presets;
	enum gt_preset number;
	const struct preset *preset;
	const struct elf_image *elf;
	const struct pclntab *pt;
	unsigned int minor;
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
		    struct error *error)
{
	struct presets *presets = a->presets;
	size_t at = find__entry(code), i = presets->n;
	struct gt_request_site *row = &presets->table[i];
	struct site *s = &presets->site[i];
	int64_t offset;

	offset = at == NO_INSN ? -1 : elf_image__offset(a->elf, code->insn[at].addr);
	if (offset < 0)
		return error__set(error, -ENOTSUP, "the entry of %s cannot be probed", func->name);
	if (i == GT_REQUEST_SITES)
		return error__set(error, -E2BIG, "more than %d functions", GT_REQUEST_SITES);
	*row = (struct gt_request_site){
		.preset = (gt_u8)a->number,
		.step = (gt_u8)func->step,
		.text = { resolve(a, &func->text[0]), resolve(a, &func->text[1]) },
		.number = resolve(a, &func->number),
	};
	*s = (struct site){
		.probe = GT_PROBE_REQUEST,
		.cookie = i,
		.addr = code->insn[at].addr,
		.offset = (uint64_t)offset,
		.func_offset = (uint32_t)(code->insn[at].addr - code->func.entry),
		.cost = code->insn[at].emulated ? SITE_EMULATED : SITE_STEPPED,
		.why = step_texts[func->step],
	};
	snprintf(s->func, sizeof(s->func), "%s", func->name);
	code__format(code, at, a->pt, s->text, sizeof(s->text));
	presets->n++;
	return 0;
}

static int add_func(const struct adding *a, const struct preset_func *func, struct error *error)
{
	struct go_func found;
	struct code code;
	int err;

	if (a->minor < func->since || a->minor > func->until)
		return 0;
	if (!pclntab__named(a->pt, func->name, &found))
		return func->required ?
			       error__set(error, -ENOENT, "the program has no %s: it lacks %s",
					  a->preset->what, func->name) :
			       0;
	if (!code__read(&code, a->elf, &found))
		return error__set(error, -ENOTSUP, "%s cannot be disassembled", func->name);
	err = add_site(a, func, &code, error);
	code__deinit(&code);
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
		.minor = version->minor,
	};
	size_t before = presets->n;
	struct go_func first;
	int err = 0;

	if (version->major != 1 || a.minor < preset->since || a.minor > preset->until)
		err = error__set(
			error, -ENOTSUP,
			"its release %s is unknown to this preset, which knows 1.%u to 1.%u",
			version->text, preset->since, preset->until);
	if (!err && !pclntab__named(pt, preset->func[0].name, &first))
		err = error__set(error, -ENOENT, "the program has no %s: it lacks %s", preset->what,
				 preset->func[0].name);
	if (!err)
		err = preset__offsets(preset, elf, version, a.offset, error);
	for (size_t i = 0; i < preset->nfuncs && !err; i++)
		err = add_func(&a, &preset->func[i], error);
	if (err)
		presets->n = before;
	return err;
}

int presets__join(const struct presets *presets, struct site_list *sites)
{
	struct site *both = realloc(sites->site, (sites->n + presets->n + 1) * sizeof(*both));

	if (!both)
		return -ENOMEM;
	memcpy(both + sites->n, presets->site, presets->n * sizeof(*both));
	sites->site = both;
	sites->n += presets->n;
	sites->has[GT_PROBE_REQUEST] = presets->n;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Infers struct offsets and addresses of globals from the machine code of the program's runtime.
 *
 * Upstream: calibrate_shape.c, calibrate_places.c and calibrate_globals.c find in each function the
 * values that its code allows. This file intersects them: a value is accepted if all functions
 * allow only it. Downstream: layout/layout.c, next to layout_dwarf.c and the table by release.
 */
#include "target/infer/calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/infer/calibrate_places.h"

#define OFFSET_MAX    (1 << 16) /* bytes; a runtime.p has 14,000 */
#define SAME_NAME_MAX 2

struct found {
	struct go_func func[SAME_NAME_MAX];
	size_t n;
};

static bool has(const struct candidates *set, uint64_t v)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i] == v)
			return true;
	}
	return false;
}

void candidates__add(struct candidates *set, uint64_t v)
{
	if (has(set, v))
		return;
	if (set->n == CANDIDATES_MAX)
		set->many = true;
	else
		set->v[set->n++] = v;
}

void calibration__add(struct calibration *c, unsigned int id, const struct candidates *set,
		      bool proof)
{
	struct evidence *b = &c->evidence[id];
	struct candidates both = { .n = 0 };

	if (!set->n || set->many)
		return;
	for (size_t i = 0; i < set->n; i++) {
		if (!b->functions || has(&b->left, set->v[i]))
			candidates__add(&both, set->v[i]);
	}
	b->disputed |= !both.n;
	b->proven |= proof && set->n == 1;
	b->left = both;
	b->functions++;
}

void calibration__add_proof(struct calibration *c, unsigned int id, uint64_t v)
{
	const struct candidates set = { .v = { v }, .n = 1 };

	calibration__add(c, id, &set, true);
}

bool calibration__known(const struct calibration *c, unsigned int id, uint64_t *ret)
{
	const struct evidence *b = &c->evidence[id];

	if (b->disputed || b->left.n != 1 || (!b->proven && b->functions < 2))
		return false;
	*ret = b->left.v[0];
	return true;
}

const struct offset_member offset_members[OFF_COUNT] = {
#define MEMBER(id, ...) { __VA_ARGS__ },
	OFFSETS(MEMBER)
#undef MEMBER
};

static void collect(const struct calibration *c, struct offsets *ret)
{
	struct offsets o = { .global = { 0 } };
	uint64_t v;

	for (unsigned int i = 0; i < OFF_COUNT; i++) {
		o.at[i] = OFFSET_UNKNOWN;
		if (c->minor < offset_members[i].since)
			o.at[i] = OFFSET_ABSENT;
		else if (calibration__known(c, i, &v) && v < OFFSET_MAX)
			o.at[i] = (uint32_t)v;
	}
#define COLLECT_GLOBAL(name) o.global.name = calibration__known(c, OFF_GLOBAL_##name, &v) ? v : 0;
	GLOBALS(COLLECT_GLOBAL)
#undef COLLECT_GLOBAL
	*ret = o;
}

static bool may_infer(const struct go_func *func)
{
	static const char *const packages[] = { "runtime.", "sync", "gogo" };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		if (!strncmp(func->name, packages[i], strlen(packages[i])))
			return func->end > func->entry;
	}
	return false;
}

/*
 * Finds the functions to analyze in one pass over all functions, each at its first row. An assembly
 * function and its wrapper have the same name: both are analyzed, and the wrapper reveals nothing.
 */
static unsigned int find_functions(const struct pclntab *pt, struct found *found)
{
	unsigned int n = 0;
	struct go_func func;

	for (size_t i = 0; pclntab__func(pt, i, &func); i++) {
		if (!may_infer(&func))
			continue;
		for (size_t j = 0; calibrate_rows[j].function; j++) {
			if (strcmp(func.name, calibrate_rows[j].function))
				continue;
			if (found[j].n < SAME_NAME_MAX) {
				found[j].func[found[j].n++] = func;
				n++;
			}
			break;
		}
	}
	return n;
}

static bool analyze(struct calibration *c, const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_func *func)
{
	struct flow f;
	uint64_t g_m;

	if (!flow__read(&f, elf, pt, func,
			calibration__known(c, OFF_G_M, &g_m) ? (int64_t)g_m : -1))
		return false;
	calibrate_shape__apply(c, &f);
	flow__deinit(&f);
	return true;
}

int calibrate__read(const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_version *version, struct offsets *ret, struct error *error)
{
	struct calibration c = { .minor = version->major == 1 ? version->minor : 99 };
	struct found found[ROWS_MAX] = { 0 };
	unsigned int n = find_functions(pt, found), read = 0;

	for (size_t i = 0; i < ROWS_MAX; i++) {
		for (size_t j = 0; j < found[i].n; j++)
			read += analyze(&c, elf, pt, &found[i].func[j]);
	}
	if (!read)
		return error__set(error, -EBADMSG,
				  "none of the %u runtime functions from which struct offsets are "
				  "inferred could be read: the program may be corrupt",
				  n);
	collect(&c, ret);
	return 0;
}

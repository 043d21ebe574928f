// SPDX-License-Identifier: GPL-2.0
/*
 * Struct offsets and addresses of globals from the machine code of the program's own runtime.
 *
 * A source of target/layout.c, next to layout_dwarf.c and the table by release; the one that a
 * stripped program of an unknown release has. calibrate_shape.c and calibrate_places.c say what
 * each place in the code may mean, this file counts: a value holds when it is the only one that all
 * places agree on.
 */
#include "target/calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/calibrate_places.h"

#define OFFSET_MAX    (1 << 16) /* a runtime.p has 14,000 bytes */
#define SAME_NAME_MAX 2

struct found {
	struct go_func func[SAME_NAME_MAX];
	size_t n;
};

void candidates__add(struct candidates *set, uint64_t v)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i] == v)
			return;
	}
	if (set->n == CANDIDATES_MAX)
		set->many = true;
	else
		set->v[set->n++] = v;
}

static bool has(const struct candidates *set, uint64_t v)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i] == v)
			return true;
	}
	return false;
}

void calibration__vote(struct calibration *c, unsigned int ballot, const struct candidates *set,
		       bool proof)
{
	struct ballot *b = &c->ballot[ballot];
	struct candidates both = { .n = 0 };

	if (!set->n || set->many)
		return;
	for (size_t i = 0; i < set->n; i++) {
		if (!b->places || has(&b->left, set->v[i]))
			candidates__add(&both, set->v[i]);
	}
	b->disputed |= !both.n;
	b->proven |= proof && set->n == 1;
	b->left = both;
	b->places++;
}

void calibration__vote_one(struct calibration *c, unsigned int ballot, uint64_t v)
{
	const struct candidates set = { .v = { v }, .n = 1 };

	calibration__vote(c, ballot, &set, true);
}

bool calibration__known(const struct calibration *c, unsigned int ballot, uint64_t *ret)
{
	const struct ballot *b = &c->ballot[ballot];

	if (b->disputed || b->left.n != 1 || (!b->proven && b->places < 2))
		return false;
	*ret = b->left.v[0];
	return true;
}

static const unsigned int member_since[OFF_COUNT] = {
#define MEMBER_SINCE(id, type, member, before, renamed, since) [OFF_##id] = since,
	OFFSETS(MEMBER_SINCE)
#undef MEMBER_SINCE
};

static void collect(const struct calibration *c, struct offsets *ret)
{
	struct offsets o = { .global = { 0 } };
	uint64_t v;

	for (unsigned int i = 0; i < OFF_COUNT; i++) {
		o.at[i] = OFFSET_UNKNOWN;
		if (c->minor < member_since[i])
			o.at[i] = OFFSET_ABSENT;
		else if (calibration__known(c, i, &v) && v < OFFSET_MAX)
			o.at[i] = (uint32_t)v;
	}
#define COLLECT_GLOBAL(name) o.global.name = calibration__known(c, OFF_GLOBAL_##name, &v) ? v : 0;
	GLOBALS(COLLECT_GLOBAL)
#undef COLLECT_GLOBAL
	*ret = o;
}

static bool is_place(const struct go_func *func)
{
	static const char *const packages[] = { "runtime.", "sync", "gogo" };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		if (!strncmp(func->name, packages[i], strlen(packages[i])))
			return func->end > func->entry;
	}
	return false;
}

/*
 * The places' functions, in one pass over all functions. An assembly function and its wrapper have
 * the same name: both are looked at, and the wrapper says nothing.
 */
static unsigned int find_functions(const struct pclntab *pt, struct found *found)
{
	unsigned int n = 0;
	struct go_func func;

	for (size_t i = 0; pclntab__func(pt, i, &func); i++) {
		if (!is_place(&func))
			continue;
		for (size_t j = 0; calibrate_places[j].function; j++) {
			if (strcmp(func.name, calibrate_places[j].function) ||
			    found[j].n == SAME_NAME_MAX)
				continue;
			found[j].func[found[j].n++] = func;
			n++;
		}
	}
	return n;
}

static bool look_at(struct calibration *c, const struct place *place, const struct elf_image *elf,
		    const struct pclntab *pt, const struct go_func *func)
{
	struct flow f;
	uint64_t g_m;

	if (!flow__read(&f, elf, pt, func,
			calibration__known(c, OFF_G_M, &g_m) ? (int64_t)g_m : -1))
		return false;
	calibrate_shape__by_table(c, &f);
	if (place->look)
		place->look(c, &f);
	flow__deinit(&f);
	return true;
}

int calibrate__read(const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_version *version, struct offsets *ret, struct error *err)
{
	struct calibration c = { .minor = version->major == 1 ? version->minor : 99 };
	struct found found[PLACES_MAX] = { 0 };
	unsigned int n = find_functions(pt, found), read = 0;

	for (size_t i = 0; i < PLACES_MAX; i++) {
		for (size_t j = 0; j < found[i].n; j++)
			read += look_at(&c, &calibrate_places[i], elf, pt, &found[i].func[j]);
	}
	if (!read)
		return error__set(err, -EBADMSG,
				  "none of the %u functions of the runtime that "
				  "tell its layout could be read: is the program damaged?",
				  n);
	collect(&c, ret);
	return 0;
}

static const char *const member_names[OFF_COUNT] = {
#define MEMBER_NAME(id, type, member, ...) [OFF_##id] = type "." member,
	OFFSETS(MEMBER_NAME)
#undef MEMBER_NAME
};

static void append(char *ret, size_t size, size_t *len, const char *text)
{
	if (*len < size)
		*len += (size_t)snprintf(ret + *len, size - *len, "%s", text);
}

void calibrate__describe(const struct offsets *o, char *ret, size_t size)
{
	unsigned int known = 0, members = OFF_COUNT, globals = 0, nglobals = 0;
	size_t len = 0;
	char counts[80];

#define COUNT_GLOBAL(name) nglobals++, globals += o->global.name != 0;
	GLOBALS(COUNT_GLOBAL)
#undef COUNT_GLOBAL
	for (unsigned int i = 0; i < OFF_COUNT; i++) {
		members -= o->at[i] == OFFSET_ABSENT;
		known += o->at[i] != OFFSET_ABSENT && o->at[i] != OFFSET_UNKNOWN;
	}
	snprintf(counts, sizeof(counts), "%u of %u members, %u of %u globals", known, members,
		 globals, nglobals);
	append(ret, size, &len, counts);
	for (unsigned int i = 0, n = 0; i < OFF_COUNT; i++) {
		if (o->at[i] != OFFSET_UNKNOWN)
			continue;
		append(ret, size, &len, n++ ? ", " : "; not ");
		append(ret, size, &len, member_names[i] + strlen("runtime."));
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Looks up functions by name.
 *
 * Upstream: pclntab.c. Downstream: probe/site.c and infer/build_version.c look up some hundred
 * names of the runtime in a program that may have 300,000 functions. The index is built in one pass
 * at the first lookup. It hashes only the beginning of each name, which limits the memory that the
 * pass reads; it takes 4 bytes per function and 256 KiB.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "target/symbols/pclntab_impl.h"

#define HEADS  65536
#define NONE   UINT32_MAX
#define PREFIX 24 /* bytes hashed; most names looked up begin with "runtime." */

struct pclntab_names {
	uint32_t head[HEADS]; /* function number; NONE: no function */
	uint32_t next[];      /* per function: the next one with the same hash */
};

static uint32_t hash(const unsigned char *name, size_t max)
{
	size_t len = strnlen((const char *)name, max < PREFIX ? max : PREFIX);

	return (uint32_t)(hash__bytes(name, len) % HEADS);
}

/* A function's name and the bytes left in the table from there; NULL: its record is corrupt. */
static const unsigned char *name_of(const struct pclntab *pt, size_t func, size_t *ret_left)
{
	uint64_t size = (uint64_t)(pt->tab.end - pt->tab.start), at;
	uint32_t record, offset;

	if (!buf__u32_at(&pt->tab, pt->at.funcs + func * 8 + 4, &record) ||
	    !buf__u32_at(&pt->tab, pt->at.funcs + record + 4, &offset))
		return NULL;
	at = pt->at.names + offset;
	if (pt->at.names > size || at >= size)
		return NULL;
	*ret_left = (size_t)(size - at);
	return pt->tab.start + at;
}

static struct pclntab_names *make_names(const struct pclntab *pt)
{
	struct pclntab_names *names = malloc(sizeof(*names) + pt->nfunc * sizeof(names->next[0]));

	if (!names)
		return NULL;
	memset(names->head, 0xff, sizeof(names->head));
	for (size_t i = pt->nfunc; i-- > 0;) { /* so that each list is in the order of the table */
		size_t left;
		const unsigned char *name = name_of(pt, i, &left);
		uint32_t *head;

		if (!name)
			continue;
		head = &names->head[hash(name, left)];
		names->next[i] = *head;
		*head = (uint32_t)i;
	}
	return names;
}

void pclntab_names__destroy(struct pclntab_names *names)
{
	free(names);
}

/* Prefers an assembly function to its ABI wrapper of the same name (".abi0" is dropped). */
bool pclntab__named(const struct pclntab *table, const char *name, struct go_func *ret)
{
	struct pclntab *pt = (struct pclntab *)table; /* the index is a cache */
	size_t len = strlen(name) + 1;
	bool found = false;

	pclntab__need(pt);
	if (!pt->names)
		pt->names = make_names(pt);
	if (!pt->names)
		return false;
	for (uint32_t i = pt->names->head[hash((const unsigned char *)name, len)]; i != NONE;
	     i = pt->names->next[i]) {
		size_t left = 0;
		const unsigned char *at = name_of(pt, i, &left);

		if (!at || len > left || memcmp(at, name, len) || !pclntab__func(pt, i, ret))
			continue;
		found = true;
		if (ret->func_id != pt->id_wrapper)
			break;
	}
	return found;
}

bool pclntab__is_wrapper(const struct pclntab *pt, const struct go_func *func)
{
	return func->func_id == pt->id_wrapper;
}

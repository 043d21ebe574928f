// SPDX-License-Identifier: GPL-2.0
/*
 * Reads which calls the compiler inlined: the inline trees of gopclntab.
 *
 * Upstream: pclntab.c. Downstream: probe/site.c finds where the functions to probe were inlined (a
 * site only in the function itself would miss transitions); pclntab_frames.c finds the logical
 * frames of a PC. A tree is an array of entries in the program's read-only data, read through a
 * small window; a pc-value table assigns an entry to each instruction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/symbols/pclntab_impl.h"

#define WINDOW_SIZE    (256 << 10)
#define TREE_MAX       (1 << 20) /* entries; the limit of the runtime's own type */
#define TREES_SIZE_MAX (256ull << 20)
#define EFFORT	       2 /* steps per byte of tables, plus EFFORT_MIN; real programs need 0.05 */
#define EFFORT_MIN     (1 << 20)

/* `len` bytes of read-only data at `addr`: from the table (since 1.26) or through the window. */
static const unsigned char *peek(const struct pclntab *table, uint64_t addr, size_t len)
{
	struct pclntab *pt = (struct pclntab *)table; /* the window is a cache */
	uint64_t size = (uint64_t)(pt->tab.end - pt->tab.start);

	if (addr >= pt->addr && size >= len && addr - pt->addr <= size - len)
		return pt->tab.start + (addr - pt->addr);
	if (addr >= pt->window_addr && pt->window_len >= len &&
	    addr - pt->window_addr <= pt->window_len - len)
		return pt->window + (addr - pt->window_addr);
	if (!pt->window)
		pt->window = malloc(WINDOW_SIZE);
	if (!pt->window)
		return NULL;
	pt->window_addr = addr;
	pt->window_len = elf_image__read(pt->elf, addr, pt->window, WINDOW_SIZE);
	return pt->window_len >= len ? pt->window : NULL;
}

bool pclntab__data_u32(const struct pclntab *pt, uint64_t addr, uint32_t *ret)
{
	const unsigned char *p = peek(pt, addr, 4);

	if (p)
		memcpy(ret, p, 4);
	return p;
}

bool pclntab__inl_entry(const struct pclntab *pt, uint64_t tree, uint32_t index,
			struct inl_entry *ret)
{
	bool before_1_20 = pt->header_size == 40;
	size_t size = before_1_20 ? INL_ENTRY_SIZE_1_18 : INL_ENTRY_SIZE;
	const unsigned char *p;
	struct buf b;

	if (!tree || index >= TREE_MAX)
		return false;
	p = peek(pt, tree + (uint64_t)index * size, size);
	if (!p)
		return false;
	b = buf__make(p, size);
	buf__skip(&b, before_1_20 ? 2 : 0); /* index of the parent */
	ret->func_id = buf__u8(&b);
	buf__skip(&b, before_1_20 ? 9 : 3); /* file and line of the call */
	ret->name = (int32_t)buf__u32(&b);
	ret->parent_pc = buf__u32(&b);
	return true;
}

bool pclntab__inl_entry_at(const struct pclntab *pt, const struct func_info *f, uint64_t pc,
			   struct inl_entry *ret)
{
	uint64_t tree = pclntab__funcdata(pt, f, FUNCDATA_INL_TREE);
	uint32_t table = pclntab__pcdata(pt, f, PCDATA_INL_TREE);
	int32_t index = tree ? pclntab__pcvalue(pt, table, f->entry, pc) : -1;

	return index >= 0 && pclntab__inl_entry(pt, tree, (uint32_t)index, ret);
}

/* A scan of all functions for inlined calls of `names`. */
struct inlined_scan {
	const struct pclntab *pt;
	const char *const *names;
	size_t nnames;
	unsigned char *other; /* bit per offset of a name: not one of `names` */
	size_t nother;
	struct func_info info;
	uint64_t tree;
	uint32_t table;
	uint64_t budget; /* steps left: tables of a hostile file may refer to each other */
};

static bool step(struct inlined_scan *s, struct pcvalue_walk *w)
{
	if (!s->budget)
		return false;
	s->budget--;
	return pcvalue_walk__next(w);
}

/*
 * The one of `names` that an entry has. A huge program has millions of entries but far fewer
 * different names; each name is compared once.
 */
static const char *wanted(const struct inlined_scan *s, int32_t name_offset)
{
	uint32_t at = (uint32_t)name_offset;
	const char *name;

	if (at / 8 >= s->nother || (s->other[at / 8] >> at % 8 & 1))
		return NULL;
	name = pclntab__name(s->pt, name_offset);
	for (size_t i = 0; i < s->nnames; i++) {
		if (!strcmp(name, s->names[i]))
			return s->names[i];
	}
	s->other[at / 8] |= (unsigned char)(1 << at % 8);
	return NULL;
}

/* An entry of the tree. To move the window costs as much as many steps. */
static bool entry(struct inlined_scan *s, uint32_t index, struct inl_entry *ret)
{
	uint64_t window = s->pt->window_addr, cost = 1;

	if (!s->budget || !pclntab__inl_entry(s->pt, s->tree, index, ret))
		return false;
	if (s->pt->window_addr != window)
		cost = WINDOW_SIZE / 64;
	s->budget -= cost < s->budget ? cost : s->budget;
	return true;
}

static void scan_function(struct inlined_scan *s, size_t func, pclntab_inlined_fn fn, void *ctx)
{
	int32_t last = -1;
	struct pcvalue_walk w;
	struct inl_entry e;
	struct go_func into;
	const char *name;

	if (!pcvalue_walk__start(&w, s->pt, s->table, s->info.entry))
		return;
	while (step(s, &w)) {
		if (w.value > last)
			last = w.value;
	}
	for (int32_t i = 0; i <= last && s->budget; i++) {
		if (!entry(s, (uint32_t)i, &e))
			return;
		name = wanted(s, e.name);
		if (name && pclntab__func(s->pt, func, &into))
			fn(ctx, name, &into);
	}
}

/* Finds a function's tree; false: no call was inlined into it. */
static bool find_tree(struct inlined_scan *s, size_t func)
{
	if (!pclntab__info(s->pt, func, &s->info))
		return false;
	s->tree = pclntab__funcdata(s->pt, &s->info, FUNCDATA_INL_TREE);
	s->table = pclntab__pcdata(s->pt, &s->info, PCDATA_INL_TREE);
	return s->tree && s->table;
}

/*
 * Up to 1.25 the trees are in .rodata, in another order than the functions. To read them only once,
 * the window is enlarged to contain all of them.
 */
static void widen_window(struct inlined_scan *s)
{
	struct pclntab *pt = (struct pclntab *)s->pt;
	uint64_t low = UINT64_MAX, high = 0, size;
	unsigned char *window;

	for (size_t i = 0; i < pt->nfunc; i++) {
		if (find_tree(s, i)) {
			low = s->tree < low ? s->tree : low;
			high = s->tree > high ? s->tree : high;
		}
	}
	size = high - low + WINDOW_SIZE;
	if (high < low || size > TREES_SIZE_MAX ||
	    (low >= pt->addr && high < pt->addr + (uint64_t)(pt->tab.end - pt->tab.start)))
		return;
	window = malloc(size);
	if (!window)
		return;
	free(pt->window);
	pt->window = window;
	pt->window_addr = low;
	pt->window_len = elf_image__read(pt->elf, low, window, size);
}

static void close_window(struct inlined_scan *s)
{
	struct pclntab *pt = (struct pclntab *)s->pt;

	free(pt->window);
	pt->window = NULL;
	pt->window_len = 0;
}

int pclntab__inlined(const struct pclntab *pt, const char *const *names, size_t n,
		     pclntab_inlined_fn fn, void *ctx)
{
	struct inlined_scan s = { .pt = pt, .names = names, .nnames = n };

	pclntab__need(pt);
	if (!pt->gofunc)
		return -ENOENT;
	s.nother = (size_t)(pt->tab.end - pt->tab.start) / 8;
	s.other = calloc(1, s.nother);
	if (!s.other)
		return -ENOMEM;
	s.budget = EFFORT * (uint64_t)(pt->tab.end - pt->tab.start) + EFFORT_MIN;
	widen_window(&s);
	for (size_t i = 0; i < pt->nfunc && s.budget; i++) {
		if (find_tree(&s, i))
			scan_function(&s, i, fn, ctx);
	}
	close_window(&s);
	free(s.other);
	return s.budget ? 0 : -EBADMSG;
}

size_t pclntab__inlined_at(const struct pclntab *pt, uint64_t pc, const char **ret_names,
			   size_t max)
{
	struct func_info info;
	struct inl_entry e;
	size_t index, n = 0;

	if (!pt->gofunc || !pclntab__search(pt, pc, &index) || !pclntab__info(pt, index, &info))
		return 0;
	while (n < max && pclntab__inl_entry_at(pt, &info, pc, &e)) {
		ret_names[n++] = pclntab__name(pt, e.name);
		pc = info.entry + e.parent_pc;
	}
	return n;
}

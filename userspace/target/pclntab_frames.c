// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses to logical frames, exactly as Go's tracer makes them.
 *
 * The symbolizer that sequence/stacks.c asks, once a PC. Go's tracer expands each return address by
 * runtime.fpunwindExpand and names the results by runtime.CallersFrames, so a frame's PC in a trace
 * is the address of the call (the return address minus one), and for the frames around an inlined
 * one the "parent PC" that the inline tree gives.
 */
#include <stdlib.h>
#include <string.h>

#include "target/pclntab_impl.h"

/* Names of generic functions lose their type arguments: runtime.funcNameForPrint. */
static const char *printed_name(struct pclntab *pt, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');
	struct printed_name *more;
	char *text;

	if (!open || !close || close <= open)
		return name;
	for (size_t i = 0; i < pt->nprinted; i++) {
		if (pt->printed[i].name == name)
			return pt->printed[i].text;
	}
	if (pt->nprinted == pt->printed_cap) {
		pt->printed_cap = pt->printed_cap ? 2 * pt->printed_cap : 64;
		more = realloc(pt->printed, pt->printed_cap * sizeof(*more));
		if (!more) {
			pt->printed_cap = pt->nprinted;
			return name;
		}
		pt->printed = more;
	}
	if (asprintf(&text, "%.*s[...]%s", (int)(open - name), name, close + 1) < 0)
		return name;
	pt->printed[pt->nprinted++] = (struct printed_name){ name, text };
	return text;
}

static struct sym_frame make_frame(struct pclntab *pt, const struct func_info *f, uint64_t pc,
				   int32_t name, uint8_t id)
{
	struct sym_frame frame = { .pc = pc + pt->bias };

	frame.func = printed_name(pt, pclntab__name(pt, name));
	frame.file = pclntab__line(pt, f, pc, &frame.line);
	frame.wrapper = id == pt->id_wrapper;
	frame.elides = id == pt->id_gopanic || id == pt->id_sigpanic || id == pt->id_panicwrap;
	return frame;
}

/* As runtime.inlineUnwinder, from the address of a call. */
static int expand(struct pclntab *pt, const struct func_info *f, uint64_t pc,
		  struct sym_frame *frames, int max)
{
	uint64_t tree = pclntab__funcdata(pt, f, FUNCDATA_INL_TREE);
	uint32_t table = pclntab__pcdata(pt, f, PCDATA_INL_TREE);
	struct inl_entry e;
	int n = 0;

	while (n < max - 1) {
		int32_t index = tree ? pclntab__pcvalue(pt, table, f->entry, pc) : -1;

		if (index < 0 || !pclntab__inl_entry(pt, tree, (uint32_t)index, &e))
			break;
		frames[n++] = make_frame(pt, f, pc, e.name, e.func_id);
		pc = f->entry + e.parent_pc;
	}
	frames[n++] = make_frame(pt, f, pc, f->name, f->func_id);
	return n;
}

/* The frames at `addr` if a function begins there, else 0. */
static int expand_entry(struct pclntab *pt, uint64_t addr, struct sym_frame *frames)
{
	struct func_info f;
	size_t index;

	if (!pclntab__search(pt, addr, &index) || !pclntab__info(pt, index, &f) || f.entry != addr)
		return 0;
	return expand(pt, &f, addr, frames, SYM_INLINE_MAX);
}

/*
 * A goroutine that was stopped by a signal may stand at the first instruction of a function: one
 * byte back is another one. There runtime.CallersFrames takes the address as it is, and what is
 * innermost at it; but what is around it, and whether it is a wrapper, fpunwindExpand has asked the
 * one before. Up to 1.20 runtime.gentraceback took the address as it is for all of that.
 */
static int frames_at_entry(struct pclntab *pt, uint64_t addr, struct sym_frame *ret, int n)
{
	struct sym_frame entered[SYM_INLINE_MAX];
	int m = expand_entry(pt, addr, entered);

	if (!m)
		return 0;
	if (!pt->since_1_21 || !n) {
		n = pt->since_1_21 ? 1 : m;
		memcpy(ret, entered, (size_t)n * sizeof(*ret));
		return n;
	}
	entered->wrapper = ret->wrapper;
	entered->elides = ret->elides;
	*ret = *entered;
	return n;
}

static int frames(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	struct pclntab *pt = ctx;
	uint64_t call = pc - pt->bias - 1;
	struct func_info f;
	size_t index;
	int n, at_entry;

	if (!pclntab__search(pt, call, &index) || !pclntab__info(pt, index, &f))
		return frames_at_entry(pt, call + 1, ret, 0);
	n = expand(pt, &f, call, ret, SYM_INLINE_MAX);
	at_entry = frames_at_entry(pt, call + 1, ret, n);
	if (at_entry)
		return at_entry;
	switch (pclntab__pcvalue(pt, f.pcsp, f.entry, call)) {
	case 0:
		ret->pushed = SYM_PUSHED_NOTHING;
		break;
	case 8:
		ret->pushed = SYM_PUSHED_WORD;
		break;
	}
	return n;
}

/* As runtime.startPCForTrace: a `go` statement's wrapper knows what it wraps by its funcdata. */
static int start(void *ctx, uint64_t startpc, struct sym_frame *ret)
{
	struct sym_frame all[SYM_INLINE_MAX];
	struct pclntab *pt = ctx;
	uint64_t pc = startpc - pt->bias, wrapped;
	struct func_info f;
	uint32_t offset;
	size_t index;

	if (!pclntab__search(pt, pc, &index) || !pclntab__info(pt, index, &f))
		return 0;
	wrapped = pclntab__funcdata(pt, &f, FUNCDATA_WRAP_INFO);
	if (wrapped && pclntab__data_u32(pt, wrapped, &offset)) {
		pc = pt->text + offset;
		if (!pclntab__search(pt, pc, &index) || !pclntab__info(pt, index, &f))
			return 0;
	}
	expand(pt, &f, pc, all, SYM_INLINE_MAX);
	*ret = all[0];
	return 1;
}

void pclntab__symbolizer(struct pclntab *pt, uint64_t bias, struct symbolizer *ret)
{
	pclntab__need(pt);
	pt->bias = bias;
	*ret = (struct symbolizer){ .ctx = pt, .frames = frames, .start = start };
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses to logical frames, as Go's tracer makes them.
 *
 * Upstream: pclntab.c and pclntab_inline.c. Downstream: sequence/stacks.c, once per PC. Go's tracer
 * expands a return address with runtime.fpunwindExpand and names the frames with
 * runtime.CallersFrames. So the PC of a frame in a trace is the address of the call (return address
 * minus one) or, for a frame around an inlined one, the parent PC in the inline tree.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/arch/arch.h"
#include "target/symbols/pclntab_impl.h"

/*
 * The text between the type arguments of a generic type and those of its generic method, which
 * Go 1.27 has: from *ret_end of the first to the result, which opens the second. NULL: there is only
 * one pair of brackets. *ret_end is NULL, too, if they do not match.
 */
static const char *second_group(const char *open, const char *close, const char **ret_end)
{
	unsigned int depth = 1;

	*ret_end = close;
	if (!memchr(open + 1, '[', (size_t)(close - open - 1)))
		return NULL;
	for (const char *c = open + 1; c < close; c++) {
		if (*c == '[' && !depth++)
			return c;
		if (*c == ']' && !depth--)
			break;
		if (*c == ']' && !depth)
			*ret_end = c;
	}
	if (*ret_end != close || depth != 1)
		*ret_end = NULL;
	return NULL;
}

char *pclntab__shown(const struct pclntab *pt, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']'), *end, *second = NULL;
	char *text;
	int len;

	if (!open || !close || close <= open)
		return NULL;
	if (pt->since_1_27) {
		second = second_group(open, close, &end);
		if (!end)
			return NULL;
	}
	if (second)
		len = asprintf(&text, "%.*s[...]%.*s[...]%s", (int)(open - name), name,
			       (int)(second - end - 1), end + 1, close + 1);
	else
		len = asprintf(&text, "%.*s[...]%s", (int)(open - name), name, close + 1);
	return len < 0 ? NULL : text;
}

static const char *printed_name(struct pclntab *pt, const char *name)
{
	char *text;

	if (!strchr(name, '['))
		return name;
	for (size_t i = 0; i < pt->nprinted; i++) {
		if (pt->printed[i].name == name)
			return pt->printed[i].text;
	}
	if (array__grow(&pt->printed, pt->nprinted, &pt->printed_cap, sizeof(*pt->printed)))
		return name;
	text = pclntab__shown(pt, name);
	if (!text)
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

/* Expands the address of a call into frames, as runtime.inlineUnwinder does. */
static int expand(struct pclntab *pt, const struct func_info *f, uint64_t pc,
		  struct sym_frame *frames)
{
	struct inl_entry e;
	int n = 0;

	while (n < SYM_INLINE_MAX - 1 && pclntab__inl_entry_at(pt, f, pc, &e)) {
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
	return expand(pt, &f, addr, frames);
}

/*
 * A goroutine stopped by a signal may be at the first instruction of a function; the byte before
 * belongs to another function. There runtime.CallersFrames uses the address itself for the
 * innermost frame, but fpunwindExpand has used the byte before for the frames around it and for
 * whether it is a wrapper. Up to 1.20 runtime.gentraceback used it for all.
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
	n = expand(pt, &f, call, ret);
	at_entry = frames_at_entry(pt, call + 1, ret, n);
	if (at_entry)
		return at_entry;
	switch (pclntab__pcvalue(pt, f.pcsp, f.entry, call)) {
	case 0:
		ret->pushed = SYM_PUSHED_NOTHING;
		break;
	case ARCH_FP_PUSHED:
		ret->pushed = SYM_PUSHED_WORD;
		break;
	}
	return n;
}

/*
 * The main goroutine starts in runtime.main, which the runtime's tracer omits from its stacks, so that Go's
 * tools name it after main.main. Package main is at the end of the program, where the search begins; an
 * index of all names would cost more.
 */
static bool find_main(struct pclntab *pt, struct func_info *ret)
{
	struct func_info f;

	for (size_t i = pt->nfunc; i-- > 0;) {
		if (!pclntab__info(pt, i, &f) || strcmp(pclntab__name(pt, f.name), "main.main"))
			continue;
		*ret = f;
		return true;
	}
	return false;
}

/* As runtime.startPCForTrace: funcdata of a `go` statement's wrapper name the wrapped function. */
static int start_frame(void *ctx, uint64_t startpc, struct sym_frame *ret)
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
	if (!strcmp(pclntab__name(pt, f.name), "runtime.main") && find_main(pt, &f))
		pc = f.entry;
	expand(pt, &f, pc, all);
	*ret = all[0];
	return 1;
}

void pclntab__symbolizer(struct pclntab *pt, uint64_t bias, struct symbolizer *ret)
{
	pclntab__need(pt);
	pt->bias = bias;
	*ret = (struct symbolizer){ .ctx = pt, .frames = frames, .start = start_frame };
}

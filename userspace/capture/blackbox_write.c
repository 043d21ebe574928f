// SPDX-License-Identifier: GPL-2.0
/*
 * Checkpoints of a black box: see blackbox.h.
 *
 * Made each second, so what does not change is made once: frames are looked up when a PC is met the
 * first time, and stay in front; only the snapshots behind them are new. Before it: the recorder of a black box
 * (blackbox_record.c). After it: the module keeps it; blackbox_checkpoint.c reads it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/blackbox.h"
#include "capture/blackbox_impl.h"
#include "gotrace/uapi.h"

struct blackbox_writer {
	struct rawfile *raw;
	struct symbolizer symbolizer;
	size_t kept;	 /* bytes of header and frames */
	uint64_t *index; /* of the stack table, as it was looked through last */
	uint32_t slots;
};

int blackbox_writer__create(struct blackbox_writer **ret, const struct raw_header *facts,
			    const struct symbolizer *symbolizer)
{
	struct blackbox_writer *w = calloc(1, sizeof(*w));
	int code = w ? rawfile__create_in_memory(&w->raw) : -ENOMEM;

	if (!code) {
		w->symbolizer = *symbolizer;
		code = rawfile__start(w->raw, facts);
	}
	if (code) {
		blackbox_writer__destroy(w);
		return code;
	}
	rawfile__bytes(w->raw, &w->kept);
	*ret = w;
	return 0;
}

void blackbox_writer__destroy(struct blackbox_writer *w)
{
	if (!w)
		return;
	rawfile__destroy(w->raw);
	free(w->index);
	free(w);
}

/* An entry is written before its slot of the index, and overwritten at any time: then its hash is another's. */
static int want_stack(struct blackbox_writer *w, const struct gt_session_page *page,
		      const struct buf *memory, uint64_t slot)
{
	const struct gt_stack *stack;
	struct blackbox_record r;
	int code = 0;
	uint32_t i;

	if (!stack_table__find(memory, page, GT_STACK_ID(slot >> 32, (uint32_t)slot - 1), &r))
		return 0;
	stack = (const void *)(&r.rec + 1);
	for (i = 0; !code && i < stack->depth; i++)
		code = rawfile__want(w->raw, stack->pc[i], false);
	return code;
}

static int want_stacks(struct blackbox_writer *w, const void *memory, size_t bytes)
{
	const struct gt_session_page *page = memory;
	struct buf all = buf__make(memory, bytes), index;
	uint32_t i;
	int code = 0;

	if (!w->index) {
		w->slots = page->stack_slots;
		w->index = calloc(w->slots + 1ul, sizeof(*w->index));
	}
	index = buf__slice(&all, page->index_offset, (uint64_t)w->slots * sizeof(*w->index));
	for (i = 0; w->index && !code && i < w->slots; i++) {
		uint64_t slot = buf__u64(&index);

		if (slot != w->index[i])
			code = want_stack(w, page, &all, slot);
		if (!code)
			w->index[i] = slot;
	}
	return w->index ? code : -ENOMEM;
}

static int want_starts(struct blackbox_writer *w, const struct snapshot *snap)
{
	int code = 0;
	size_t i;

	for (i = 0; snap && !code && i < snap->ng; i++)
		code = rawfile__want(w->raw, snap->g[i].startpc, true);
	return code;
}

int blackbox_writer__make(struct blackbox_writer *w, const void *memory, size_t bytes,
			  const struct snapshot *first, const struct snapshot *second,
			  const void **ret, size_t *ret_size)
{
	int code;

	rawfile__truncate(w->raw, w->kept);
	code = want_stacks(w, memory, bytes);
	if (!code)
		code = want_starts(w, first);
	if (!code)
		code = want_starts(w, second);
	if (!code)
		code = rawfile__frames(w->raw, &w->symbolizer);
	rawfile__bytes(w->raw, &w->kept); /* what was looked up stays, even if not all could be */
	if (!code && first)
		code = rawfile__snapshot(w->raw, first, second);
	*ret = rawfile__bytes(w->raw, ret_size);
	return code;
}

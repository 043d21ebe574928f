// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the checkpoints of the kernel flight recorder: see blackbox.h.
 *
 * A checkpoint is made each second, so what does not change is made once: frames are looked up when
 * a PC occurs for the first time, and stay at the front; only the snapshots after them are new.
 * Upstream: blackbox_record.c. Downstream: the module stores it, and blackbox_checkpoint.c reads
 * it.
 */
#include <errno.h>
#include <stdlib.h>

#include "blackbox/blackbox.h"
#include "blackbox/blackbox_impl.h"
#include "gotrace/uapi.h"

struct blackbox_writer {
	struct rawfile *raw;
	struct symbolizer symbolizer;
	size_t kept;	 /* bytes of header and frames */
	uint64_t *index; /* of the stack table, at the last search */
	uint32_t slots;
};

int blackbox_writer__create(struct blackbox_writer **ret, const struct raw_header *facts,
			    const struct symbolizer *symbolizer)
{
	struct blackbox_writer *w = calloc(1, sizeof(*w));
	int err = w ? rawfile__create_in_memory(&w->raw) : -ENOMEM;

	if (!err) {
		w->symbolizer = *symbolizer;
		err = rawfile__start(w->raw, facts);
	}
	if (err) {
		blackbox_writer__destroy(w);
		return err;
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

/*
 * An entry is written before its slot of the index, and may be overwritten at any time: the hash
 * shows that.
 */
static int want_stack(struct blackbox_writer *w, const struct gt_session_page *page,
		      const struct buf *memory, uint64_t slot)
{
	const struct gt_stack *stack;
	struct blackbox_record r;
	int err = 0;

	if (!stack_table__find(memory, page, GT_STACK_ID(slot >> 32, (uint32_t)slot - 1), &r))
		return 0;
	stack = (const void *)(&r.rec + 1);
	for (uint32_t i = 0; !err && i < stack->depth; i++)
		err = rawfile__want(w->raw, stack->pc[i], false);
	return err;
}

static int want_stacks(struct blackbox_writer *w, const void *memory, size_t bytes)
{
	const struct gt_session_page *page = memory;
	struct buf all = buf__make(memory, bytes), index;
	int err = 0;

	if (!w->index) {
		w->slots = page->stack_slots;
		w->index = calloc(w->slots + 1ul, sizeof(*w->index));
	}
	index = buf__slice(&all, page->index_offset, (uint64_t)w->slots * sizeof(*w->index));
	for (uint32_t i = 0; w->index && !err && i < w->slots; i++) {
		uint64_t slot = buf__u64(&index);

		if (slot != w->index[i])
			err = want_stack(w, page, &all, slot);
		if (!err)
			w->index[i] = slot;
	}
	return w->index ? err : -ENOMEM;
}

/* Those of the goroutines' stacks, too. */
static int want_starts(struct blackbox_writer *w, const struct snapshot *snap)
{
	const uint64_t *pc;
	uint32_t depth;
	bool cut;
	int err = 0;

	for (size_t i = 0; snap && !err && i < snap->ng; i++)
		err = rawfile__want(w->raw, snap->g[i].startpc, true);
	for (size_t at = 0; snap && (pc = snapshot__next_stack(snap, &at, &depth, &cut));)
		for (uint32_t i = 0; !err && i < depth; i++)
			err = rawfile__want(w->raw, pc[i], false);
	return err;
}

int blackbox_writer__make(struct blackbox_writer *w, const void *memory, size_t bytes,
			  const struct snapshot *first, const struct snapshot *second,
			  const void **ret, size_t *ret_size)
{
	int err;

	rawfile__truncate(w->raw, w->kept);
	err = want_stacks(w, memory, bytes);
	if (!err)
		err = want_starts(w, first);
	if (!err)
		err = want_starts(w, second);
	if (!err)
		err = rawfile__frames(w->raw, &w->symbolizer);
	rawfile__bytes(w->raw,
		       &w->kept); /* found frames are kept, even if looking up others failed */
	if (!err && first)
		err = rawfile__snapshot(w->raw, first, second);
	*ret = rawfile__bytes(w->raw, ret_size);
	return err;
}

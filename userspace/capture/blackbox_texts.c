// SPDX-License-Identifier: GPL-2.0
/*
 * The texts in a black box: see blackbox_impl.h. Before it: bpf/text.bpf.h. After it: blackbox_read.c writes
 * the records that are changed here.
 */
#include "capture/blackbox_impl.h"

/* FNV-1a; as bpf/text.bpf.h's numbers of names are: neither empty nor unread, nor for once. */
static uint64_t content_number(const struct gt_text *text)
{
	const unsigned char *bytes = (const void *)(text + 1);
	uint64_t hash = 0xcbf29ce484222325ull ^ text->cut;
	uint32_t i;

	for (i = 0; i < text->len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return (hash & ~GT_TEXT_ONCE) | 2;
}

int box_texts__note(struct box_texts *t, const struct gt_record *rec)
{
	const struct gt_log *log = (const void *)(rec + 1);

	if (rec->kind == GT_LOG)
		return map__put(&t->message, log->message, t);
	if (rec->kind != GT_TEXT || !(rec->object & GT_TEXT_ONCE))
		return 0;
	return map__put(&t->name, rec->object,
			(void *)(uintptr_t)content_number((const void *)(rec + 1)));
}

static gt_u64 renamed(const struct box_texts *t, gt_u64 number)
{
	const void *name = map__get(&t->name, number);

	return name ? (uintptr_t)name : number;
}

void box_texts__rename(const struct box_texts *t, struct gt_record *rec)
{
	struct gt_task *task = (void *)(rec + 1);
	struct gt_region *region = (void *)(rec + 1);
	struct gt_log *log = (void *)(rec + 1);

	switch (rec->kind) {
	case GT_TEXT:
		if (!map__get(&t->message, rec->object))
			rec->object = renamed(t, rec->object);
		break;
	case GT_TASK_BEGIN:
		task->type = renamed(t, task->type);
		break;
	case GT_REGION:
		region->name = renamed(t, region->name);
		break;
	case GT_LOG:
		log->category = renamed(t, log->category);
		break;
	}
}

void box_texts__deinit(struct box_texts *t)
{
	map__deinit(&t->name);
	map__deinit(&t->message);
}

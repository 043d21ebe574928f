// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the parts of a raw file: see rawfile.h.
 *
 * The input is untrusted: it is read through lib/buf.h, and every count is compared with the
 * available bytes. Downstream: replay.c, and blackbox_checkpoint.c for checkpoints, which are such
 * files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rawfile/rawfile.h"

#define END_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

int raw_header__read(struct buf *file, const char *name, struct raw_header *ret,
		     struct error *error)
{
	const void *data = buf__take(file, sizeof(*ret));
	struct raw_header header;

	if (data)
		memcpy(&header, data, sizeof(header));
	if (!data || memcmp(header.magic, RAW_MAGIC, sizeof(header.magic)))
		return error__set(error, -EINVAL,
				  "%s is not a file of gotrace-bpf record --save-input", name);
	if (header.version != RAW_VERSION || header.size != sizeof(header))
		return error__set(error, -EINVAL, "%s: unsupported raw file version %u", name,
				  header.version);
	*ret = header;
	END_TEXT(ret->go_version);
	END_TEXT(ret->build_id);
	END_TEXT(ret->exe);
	END_TEXT(ret->command);
	return 0;
}

bool raw_chunk__next(struct buf *file, struct raw_chunk *ret)
{
	uint32_t size;
	const void *data;

	ret->type = buf__u32(file);
	size = buf__u32(file);
	data = buf__take(file, size);
	if (!data)
		return false;
	ret->data = buf__make(data, size);
	if (buf__left(file))
		buf__skip(file, -size & 7);
	return true;
}

size_t raw_record__size(const struct buf *b)
{
	struct {
		struct gt_record rec;
		unsigned char payload[GT_PAYLOAD_MAX];
	} head;
	size_t size;
	int payload, tail;

	if (buf__left(b) < sizeof(head.rec))
		return buf__left(b);
	memcpy(&head.rec, b->pos, sizeof(head.rec));
	payload = gt_payload_size(head.rec.kind);
	if (payload < 0)
		return buf__left(b);
	size = sizeof(head.rec) + (size_t)payload;
	if (size <= buf__left(b)) {
		memcpy(&head, b->pos, size);
		tail = gt_tail_size(&head.rec);
		size += tail > 0 ? (size_t)tail : 0;
	}
	return size < buf__left(b) ? size : buf__left(b);
}

/* A copy of an array of `n` members; NULL, and b->bad is set, if the chunk is too short. */
static void *read_array(struct buf *b, uint64_t n, size_t size, size_t *ret_n)
{
	const void *data = NULL;
	void *copy = NULL;

	if (n > buf__left(b) / size)
		b->bad = true;
	else
		data = buf__take(b, (size_t)n * size);
	if (data && n)
		copy = malloc((size_t)n * size);
	if (copy)
		memcpy(copy, data, (size_t)n * size);
	*ret_n = copy ? (size_t)n : 0;
	return copy;
}

void raw_snapshots__add(struct raw_snapshots *both, struct buf *b)
{
	uint32_t which = buf__u32(b), present = buf__u32(b);
	uint64_t ng, nm, np, nstacks;
	struct snapshot *snap;

	if (b->bad || which > 1 || !present || both->present[which])
		return;
	snap = &both->snap[which];
	snap->time = buf__u64(b);
	snap->time_end = buf__u64(b);
	snap->procs = buf__u32(b);
	buf__skip(b, 4);
	ng = buf__u64(b);
	nm = buf__u64(b);
	np = buf__u64(b);
	nstacks = buf__u64(b);
	snap->stacks_left_out = buf__u64(b);
	snap->g = read_array(b, ng, sizeof(*snap->g), &snap->ng);
	snap->m = read_array(b, nm, sizeof(*snap->m), &snap->nm);
	snap->p = read_array(b, np, sizeof(*snap->p), &snap->np);
	snap->stacks = read_array(b, nstacks, sizeof(*snap->stacks), &snap->nstacks);
	both->present[which] = !b->bad;
	if (b->bad)
		snapshot__deinit(snap);
}

void raw_snapshots__free(struct raw_snapshots *both)
{
	snapshot__deinit(&both->snap[0]);
	snapshot__deinit(&both->snap[1]);
	*both = (struct raw_snapshots){};
}

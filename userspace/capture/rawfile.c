// SPDX-License-Identifier: GPL-2.0
/*
 * Writes raw files: see rawfile.h. replay.c reads them.
 *
 * Records of one ring that follow each other share a chunk. PCs are only noted on the way; their
 * frames are looked up at the end, when nothing waits for it. The same into memory is what a black box's
 * checkpoint is made of, and what is recovered from it (blackbox.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/rawfile.h"
#include "lib/map.h"
#include "trace/output.h"

#define CHUNK_MAX (256u << 10) /* bytes of records */
#define PCS_MAX	  (1u << 20)   /* remembered ones that are no code; of all, twice as many */

struct chunk_head {
	uint32_t type, size;
};

struct bytes {
	unsigned char *data;
	size_t len, cap;
};

struct rawfile {
	struct trace_file *file; /* NULL: into memory */
	struct bytes memory;
	uint64_t ring;
	unsigned char *records; /* CHUNK_MAX of room */
	size_t used;
	struct map pcs, starts; /* PCs met, as keys: is_due, has_frames, has_none */
};

/* Whether the frames of a PC were written; there are none. */
static char is_due, has_frames, has_none;

int rawfile__create_in_memory(struct rawfile **ret)
{
	struct rawfile *raw = calloc(1, sizeof(*raw));

	if (!raw)
		return -ENOMEM;
	raw->records = malloc(CHUNK_MAX);
	if (!raw->records) {
		free(raw);
		return -ENOMEM;
	}
	*ret = raw;
	return 0;
}

int rawfile__create(struct rawfile **ret, const char *path, struct error *err)
{
	struct rawfile *raw;
	int code = rawfile__create_in_memory(&raw);

	if (code)
		return error__set(err, code, "out of memory");
	code = output__open(&raw->file, path, FILE_RAW, err);
	if (code) {
		rawfile__destroy(raw);
		return code;
	}
	*ret = raw;
	return 0;
}

bool rawfile__in_folder_of_other(const struct rawfile *raw)
{
	return raw->file && trace_file__in_folder_of_other(raw->file);
}

void rawfile__destroy(struct rawfile *raw)
{
	if (!raw)
		return;
	trace_file__destroy(raw->file);
	map__deinit(&raw->pcs);
	map__deinit(&raw->starts);
	free(raw->records);
	free(raw->memory.data);
	free(raw);
}

static int put(struct bytes *b, const void *data, size_t len)
{
	size_t cap = b->cap;
	void *bigger;

	while (cap < b->len + len)
		cap = cap ? cap * 2 : 4096;
	if (cap != b->cap) {
		bigger = realloc(b->data, cap);
		if (!bigger)
			return -ENOMEM;
		b->data = bigger;
		b->cap = cap;
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

static int append(struct rawfile *raw, const struct iovec *iov, size_t n)
{
	size_t i, len = raw->memory.len;
	int code = 0;

	if (raw->file)
		return trace_file__appendv(raw->file, iov, n);
	for (i = 0; !code && i < n; i++)
		code = put(&raw->memory, iov[i].iov_base, iov[i].iov_len);
	if (code)
		raw->memory.len = len; /* all of it or nothing */
	return code;
}

static int write_chunk(struct rawfile *raw, enum raw_type type, const struct iovec *part, size_t n)
{
	static const char zeros[8];
	struct chunk_head head = { .type = type };
	struct iovec iov[8] = { { &head, sizeof(head) } };
	size_t i;

	for (i = 0; i < n; i++) {
		iov[i + 1] = part[i];
		head.size += part[i].iov_len;
	}
	iov[n + 1] = (struct iovec){ (void *)zeros, -head.size & 7 };
	return append(raw, iov, n + 2);
}

static int flush_records(struct rawfile *raw)
{
	struct iovec part[] = {
		{ &raw->ring, sizeof(raw->ring) },
		{ raw->records, raw->used },
	};

	if (!raw->used)
		return 0;
	raw->used = 0;
	return write_chunk(raw, RAW_RECORDS, part, 2);
}

/* What stands before a chunk in time is written before it. */
static int write_after_records(struct rawfile *raw, enum raw_type type, const struct iovec *part,
			       size_t n)
{
	int code = flush_records(raw);

	return code ? code : write_chunk(raw, type, part, n);
}

int rawfile__start(struct rawfile *raw, const struct raw_header *facts)
{
	struct raw_header header = *facts;

	memcpy(header.magic, RAW_MAGIC, sizeof(header.magic));
	header.version = RAW_VERSION;
	header.size = sizeof(header);
	return append(raw, &(struct iovec){ &header, sizeof(header) }, 1);
}

static int note(struct map *map, uint64_t pc)
{
	if (!pc || map->n >= 2 * PCS_MAX || map__get(map, pc))
		return 0;
	return map__put(map, pc, &is_due);
}

int rawfile__want(struct rawfile *raw, uint64_t pc, bool start)
{
	return note(start ? &raw->starts : &raw->pcs, pc);
}

static int note_pcs(struct rawfile *raw, const struct gt_record *rec)
{
	const struct gt_create *create = (const void *)(rec + 1);
	const struct gt_stack *stack = (const void *)(rec + 1);
	int code = 0;
	size_t i;

	if (rec->kind == GT_CREATE || rec->kind == GT_CREATE_BLOCKED)
		return note(&raw->starts, create->startpc);
	if (rec->kind != GT_STACK && rec->kind != GT_SAMPLE)
		return 0;
	for (i = 0; !code && i < stack->depth; i++)
		code = note(&raw->pcs, stack->pc[i]);
	return code;
}

/*
 * No probe's. Only its size tells where a record ends, so this one would take those behind it along:
 * it gets a chunk of its own, and less than a head of it, so that a replay counts it as broken, too.
 */
static int write_broken(struct rawfile *raw, unsigned int ring, const void *rec, size_t size)
{
	uint64_t ring64 = ring;
	struct iovec part[] = {
		{ &ring64, sizeof(ring64) },
		{ (void *)rec, size < sizeof(struct gt_record) ? size : 24 },
	};

	return write_after_records(raw, RAW_RECORDS, part, 2);
}

int rawfile__record(struct rawfile *raw, unsigned int ring, const struct gt_record *rec,
		    size_t size)
{
	int code = 0;

	if (!raw_record__is_whole(rec, size))
		return write_broken(raw, ring, rec, size);
	if (raw->ring != ring || raw->used + size > CHUNK_MAX)
		code = flush_records(raw);
	if (code)
		return code;
	raw->ring = ring;
	memcpy(raw->records + raw->used, rec, size);
	raw->used += size;
	return note_pcs(raw, rec);
}

int rawfile__watermark(struct rawfile *raw, uint64_t time)
{
	return write_after_records(raw, RAW_WATERMARK, &(struct iovec){ &time, sizeof(time) }, 1);
}

int rawfile__lost(struct rawfile *raw, unsigned int kind, uint64_t count)
{
	uint64_t lost[2] = { kind, count };

	return write_after_records(raw, RAW_LOST, &(struct iovec){ lost, sizeof(lost) }, 1);
}

struct snapshot_head {
	uint32_t which, there;
	uint64_t time, time_end;
	uint32_t procs, pad;
	uint64_t ng, nm, np;
};

static int write_snapshot(struct rawfile *raw, enum raw_type type, uint32_t which,
			  const struct snapshot *snap)
{
	struct snapshot_head head = { .which = which };
	struct iovec part[4] = { { &head, sizeof(head) } };
	int code = 0;
	size_t i;

	if (!snap)
		return write_after_records(raw, type, part, 1);
	head = (struct snapshot_head){ which, 1,	snap->time, snap->time_end, snap->procs,
				       0,     snap->ng, snap->nm,   snap->np };
	part[1] = (struct iovec){ snap->g, snap->ng * sizeof(*snap->g) };
	part[2] = (struct iovec){ snap->m, snap->nm * sizeof(*snap->m) };
	part[3] = (struct iovec){ snap->p, snap->np * sizeof(*snap->p) };
	for (i = 0; !code && i < snap->ng; i++)
		code = note(&raw->starts, snap->g[i].startpc);
	return code ? code : write_after_records(raw, type, part, 4);
}

int rawfile__snapshot(struct rawfile *raw, const struct snapshot *first,
		      const struct snapshot *second)
{
	int code = write_snapshot(raw, RAW_SNAPSHOT, 0, first);

	return code ? code : write_snapshot(raw, RAW_SNAPSHOT, 1, second);
}

int rawfile__resnapshot(struct rawfile *raw, const struct snapshot *first,
			const struct snapshot *second)
{
	int code = write_snapshot(raw, RAW_RESNAPSHOT, 0, first);

	return code ? code : write_snapshot(raw, RAW_RESNAPSHOT, 1, second);
}

/* ---- frames ---- */

static int put_frame(struct bytes *b, const struct sym_frame *frame)
{
	static const char zeros[8];
	size_t func = strlen(frame->func), file = strlen(frame->file);
	uint32_t word[4] = {
		frame->line,
		frame->wrapper | frame->elides << 1 | frame->pushed << 2,
		(uint32_t)func,
		(uint32_t)file,
	};
	int code = put(b, &frame->pc, sizeof(frame->pc));

	if (!code)
		code = put(b, word, sizeof(word));
	if (!code)
		code = put(b, frame->func, func);
	if (!code)
		code = put(b, frame->file, file);
	return code ? code : put(b, zeros, -(func + file) & 7);
}

static int write_frames(struct rawfile *raw, uint64_t pc, const struct sym_frame *frame, int n,
			uint32_t start)
{
	uint32_t word[2] = { (uint32_t)n, start };
	struct bytes b = {};
	int code, i;

	code = put(&b, &pc, sizeof(pc));
	if (!code)
		code = put(&b, word, sizeof(word));
	for (i = 0; !code && i < n; i++)
		code = put_frame(&b, &frame[i]);
	if (!code)
		code = write_chunk(raw, RAW_FRAMES, &(struct iovec){ b.data, b.len }, 1);
	free(b.data);
	return code;
}

/*
 * Where code is, is limited; what C code has in its frame pointer's place is not: a black box meets it for
 * weeks.
 */
static int forget_barren(struct map *map)
{
	struct map kept = {};
	size_t i, barren = 0;
	int code = 0;

	for (i = 0; i < map->cap; i++)
		barren += map->slot[i].value == &has_none;
	if (barren <= PCS_MAX)
		return 0;
	for (i = 0; !code && i < map->cap; i++)
		if (map->slot[i].value && map->slot[i].value != &has_none)
			code = map__put(&kept, map->slot[i].key, map->slot[i].value);
	if (code) {
		map__deinit(&kept);
		return code;
	}
	map__deinit(map);
	*map = kept;
	return 0;
}

/* What has none is not asked for again soon. */
static int write_due(struct rawfile *raw, struct map *map, const struct symbolizer *sym)
{
	bool start = map == &raw->starts;
	struct sym_frame frame[SYM_INLINE_MAX];
	int code = 0, n;
	size_t i;

	for (i = 0; !code && i < map->cap; i++) {
		struct map_slot *slot = &map->slot[i];

		if (slot->value != &is_due)
			continue;
		n = start ? sym->start(sym->ctx, slot->key, frame) :
			    sym->frames(sym->ctx, slot->key, frame);
		if (n > 0)
			code = write_frames(raw, slot->key, frame, start ? 1 : n, start);
		if (!code)
			slot->value = n > 0 ? &has_frames : &has_none;
	}
	return code ? code : forget_barren(map);
}

int rawfile__frames(struct rawfile *raw, const struct symbolizer *symbolizer)
{
	int code = flush_records(raw);

	if (!code)
		code = write_due(raw, &raw->pcs, symbolizer);
	return code ? code : write_due(raw, &raw->starts, symbolizer);
}

int rawfile__copy_frames(struct rawfile *raw, struct buf chunk)
{
	struct iovec part = { (void *)chunk.pos, buf__left(&chunk) };
	uint64_t pc = buf__u64(&chunk);
	uint32_t n = buf__u32(&chunk), start = buf__u32(&chunk);
	struct map *map = start ? &raw->starts : &raw->pcs;
	int code;

	if (chunk.bad || !n || !pc || map__get(map, pc) == &has_frames)
		return 0;
	code = map__put(map, pc, &has_frames);
	return code ? code : write_after_records(raw, RAW_FRAMES, &part, 1);
}

int rawfile__end(struct rawfile *raw, uint64_t t1)
{
	return write_after_records(raw, RAW_END, &(struct iovec){ &t1, sizeof(t1) }, 1);
}

int rawfile__finish(struct rawfile *raw, uint64_t t1, const struct symbolizer *symbolizer)
{
	int code = rawfile__frames(raw, symbolizer);

	if (!code)
		code = rawfile__end(raw, t1);
	return code ? code : rawfile__keep(raw);
}

const void *rawfile__bytes(const struct rawfile *raw, size_t *ret_size)
{
	*ret_size = raw->memory.len;
	return raw->memory.data;
}

void rawfile__truncate(struct rawfile *raw, size_t size)
{
	if (size < raw->memory.len)
		raw->memory.len = size;
}

int rawfile__keep(struct rawfile *raw)
{
	flush_records(raw);
	return trace_file__size(raw->file) ? trace_file__commit(raw->file) : 0;
}

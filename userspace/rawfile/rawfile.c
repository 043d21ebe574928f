// SPDX-License-Identifier: GPL-2.0
/*
 * Writes raw files: see rawfile.h. replay.c reads them.
 *
 * Successive records of one ring share a chunk. PCs are only collected during the recording; their
 * frames are looked up at the end. Raw files in memory are used for checkpoints and for recovery
 * (blackbox.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rawfile/rawfile.h"
#include "format/private.h"
#include "lib/map.h"
#include "writer/output.h"

#define CHUNK_MAX (256u << 10) /* bytes of records per chunk */
#define PCS_MAX	  (1u << 20) /* PCs without frames that are remembered; of all PCs, twice as many */

struct chunk_head {
	uint32_t type, size;
};

struct rawfile {
	struct trace_file *file; /* NULL: in memory */
	struct outbuf memory;
	uint64_t ring;
	size_t used;
	struct map pcs, starts; /* PC -> is_due, has_frames or has_none */
	unsigned char records[CHUNK_MAX];
};

/* Values of the maps: frames are to be looked up; were written; do not exist. */
static char is_due, has_frames, has_none;

int rawfile__create_in_memory(struct rawfile **ret)
{
	struct rawfile *raw = calloc(1, sizeof(*raw));

	if (!raw)
		return -ENOMEM;
	*ret = raw;
	return 0;
}

int rawfile__create(struct rawfile **ret, const char *path, struct error *error)
{
	struct rawfile *raw;
	int err = rawfile__create_in_memory(&raw);

	if (err)
		return error__set(error, err, "out of memory");
	err = output__open(&raw->file, path, FILE_RAW, error);
	if (err) {
		rawfile__destroy(raw);
		return err;
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
	outbuf__deinit(&raw->memory);
	free(raw);
}

static int append(struct rawfile *raw, const struct iovec *iov, size_t n)
{
	size_t i, len = raw->memory.len;
	int err = 0;

	if (raw->file)
		return trace_file__appendv(raw->file, iov, n);
	for (i = 0; !err && i < n; i++)
		err = outbuf__put(&raw->memory, iov[i].iov_base, iov[i].iov_len, NULL);
	if (err)
		raw->memory.len = len; /* all or nothing */
	return err;
}

static int write_chunk(struct rawfile *raw, enum raw_type type, const struct iovec *part, size_t n)
{
	static const char zeros[8];
	struct chunk_head head = { .type = type };
	struct iovec iov[8] = { { &head, sizeof(head) } };

	for (size_t i = 0; i < n; i++) {
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

/* Keeps the order: pending records are written before the chunk. */
static int write_after_records(struct rawfile *raw, enum raw_type type, const struct iovec *part,
			       size_t n)
{
	int err = flush_records(raw);

	return err ? err : write_chunk(raw, type, part, n);
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
	int err = 0;

	if (rec->kind == GT_CREATE || rec->kind == GT_CREATE_BLOCKED)
		return note(&raw->starts, create->startpc);
	if (rec->kind != GT_STACK && rec->kind != GT_SAMPLE)
		return 0;
	for (size_t i = 0; !err && i < stack->depth; i++)
		err = note(&raw->pcs, stack->pc[i]);
	return err;
}

/*
 * A record that no probe writes. Since the size of a record determines where the next one begins,
 * an invalid one gets a chunk of its own, shorter than a record header, so that a replay counts it
 * as invalid, too.
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
	int err = 0;

	if (!gt_record_is_whole(rec, size))
		return write_broken(raw, ring, rec, size);
	if (raw->ring != ring || raw->used + size > CHUNK_MAX)
		err = flush_records(raw);
	if (err)
		return err;
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

int rawfile__clock_error(struct rawfile *raw, uint64_t ns)
{
	return write_after_records(raw, RAW_CLOCK, &(struct iovec){ &ns, sizeof(ns) }, 1);
}

int rawfile__host_clock(struct rawfile *raw, const struct private_host_clock *clock)
{
	uint64_t data[] = { clock->time, clock->synchronized, clock->max_error, clock->error,
			    (uint64_t)clock->shift };

	return write_after_records(raw, RAW_HOST_CLOCK, &(struct iovec){ data, sizeof(data) }, 1);
}

int rawfile__cpu_samples(struct rawfile *raw, const struct private_cpu_samples *taken)
{
	uint64_t data[] = { taken->period_ns, taken->throttles, taken->throttled_ns };

	return write_after_records(raw, RAW_CPU_SAMPLES, &(struct iovec){ data, sizeof(data) }, 1);
}

struct snapshot_head {
	uint32_t which, present;
	uint64_t time, time_end;
	uint32_t procs, pad;
	uint64_t ng, nm, np, nstacks, stacks_left_out;
};

static int write_snapshot(struct rawfile *raw, enum raw_type type, uint32_t which,
			  const struct snapshot *snap)
{
	struct snapshot_head head = { .which = which };
	struct iovec part[5] = { { &head, sizeof(head) } };
	const uint64_t *pc;
	uint32_t depth;
	bool cut;
	int err = 0;

	if (!snap)
		return write_after_records(raw, type, part, 1);
	head = (struct snapshot_head){
		.which = which,
		.present = 1,
		.time = snap->time,
		.time_end = snap->time_end,
		.procs = snap->procs,
		.ng = snap->ng,
		.nm = snap->nm,
		.np = snap->np,
		.nstacks = snap->nstacks,
		.stacks_left_out = snap->stacks_left_out,
	};
	part[1] = (struct iovec){ snap->g, snap->ng * sizeof(*snap->g) };
	part[2] = (struct iovec){ snap->m, snap->nm * sizeof(*snap->m) };
	part[3] = (struct iovec){ snap->p, snap->np * sizeof(*snap->p) };
	part[4] = (struct iovec){ snap->stacks, snap->nstacks * sizeof(*snap->stacks) };
	for (size_t i = 0; !err && i < snap->ng; i++)
		err = note(&raw->starts, snap->g[i].startpc);
	for (size_t at = 0; (pc = snapshot__next_stack(snap, &at, &depth, &cut));)
		for (uint32_t i = 0; !err && i < depth; i++)
			err = note(&raw->pcs, pc[i]);
	return err ? err : write_after_records(raw, type, part, 5);
}

int rawfile__snapshot(struct rawfile *raw, const struct snapshot *first,
		      const struct snapshot *second)
{
	int err = write_snapshot(raw, RAW_SNAPSHOT, 0, first);

	return err ? err : write_snapshot(raw, RAW_SNAPSHOT, 1, second);
}

int rawfile__resnapshot(struct rawfile *raw, const struct snapshot *first,
			const struct snapshot *second)
{
	int err = write_snapshot(raw, RAW_RESNAPSHOT, 0, first);

	return err ? err : write_snapshot(raw, RAW_RESNAPSHOT, 1, second);
}

/* ---- frames ---- */

static int put_frame(struct outbuf *b, const struct sym_frame *frame)
{
	static const char zeros[8];
	size_t func = strlen(frame->func), file = strlen(frame->file);
	uint32_t word[4] = {
		frame->line,
		frame->wrapper | frame->elides << 1 | frame->pushed << 2,
		(uint32_t)func,
		(uint32_t)file,
	};
	int err = outbuf__put(b, &frame->pc, sizeof(frame->pc), NULL);

	err = err ?: outbuf__put(b, word, sizeof(word), NULL);
	err = err ?: outbuf__put(b, frame->func, func, NULL);
	err = err ?: outbuf__put(b, frame->file, file, NULL);
	return err ?: outbuf__put(b, zeros, -(func + file) & 7, NULL);
}

static int write_frames(struct rawfile *raw, uint64_t pc, const struct sym_frame *frame, int n,
			uint32_t start)
{
	uint32_t word[2] = { (uint32_t)n, start };
	struct outbuf b = {};
	int err, i;

	err = outbuf__put(&b, &pc, sizeof(pc), NULL);
	err = err ?: outbuf__put(&b, word, sizeof(word), NULL);
	for (i = 0; !err && i < n; i++)
		err = put_frame(&b, &frame[i]);
	if (!err)
		err = write_chunk(raw, RAW_FRAMES, &(struct iovec){ b.data, b.len }, 1);
	outbuf__deinit(&b);
	return err;
}

/*
 * The number of PCs with code is limited, but that of arbitrary values which C code keeps in the
 * frame pointer is not, and the kernel flight recorder may run for weeks: drops PCs without frames.
 */
static int forget_unknown(struct map *map)
{
	struct map kept = {};
	size_t i, unknown = 0;
	int err = 0;

	for (i = 0; i < map->cap; i++)
		unknown += map->slot[i].value == &has_none;
	if (unknown <= PCS_MAX)
		return 0;
	for (i = 0; !err && i < map->cap; i++)
		if (map->slot[i].value && map->slot[i].value != &has_none)
			err = map__put(&kept, map->slot[i].key, map->slot[i].value);
	if (err) {
		map__deinit(&kept);
		return err;
	}
	map__deinit(map);
	*map = kept;
	return 0;
}

/* A PC without frames is remembered, so that it is not looked up again each time. */
static int write_due(struct rawfile *raw, struct map *map, const struct symbolizer *sym)
{
	bool start = map == &raw->starts;
	struct sym_frame frame[SYM_INLINE_MAX];
	int err = 0, n;

	for (size_t i = 0; !err && i < map->cap; i++) {
		struct map_slot *slot = &map->slot[i];

		if (slot->value != &is_due)
			continue;
		n = start ? sym->start(sym->ctx, slot->key, frame) :
			    sym->frames(sym->ctx, slot->key, frame);
		if (n > 0)
			err = write_frames(raw, slot->key, frame, start ? 1 : n, start);
		if (!err)
			slot->value = n > 0 ? &has_frames : &has_none;
	}
	return err ? err : forget_unknown(map);
}

int rawfile__frames(struct rawfile *raw, const struct symbolizer *symbolizer)
{
	int err = flush_records(raw);

	if (!err)
		err = write_due(raw, &raw->pcs, symbolizer);
	return err ? err : write_due(raw, &raw->starts, symbolizer);
}

int rawfile__copy_frames(struct rawfile *raw, struct buf chunk)
{
	struct iovec part = { (void *)chunk.pos, buf__left(&chunk) };
	uint64_t pc = buf__u64(&chunk);
	uint32_t n = buf__u32(&chunk), start = buf__u32(&chunk);
	struct map *map = start ? &raw->starts : &raw->pcs;
	int err;

	if (chunk.bad || !n || !pc || map__get(map, pc) == &has_frames)
		return 0;
	err = map__put(map, pc, &has_frames);
	return err ? err : write_after_records(raw, RAW_FRAMES, &part, 1);
}

int rawfile__end(struct rawfile *raw, uint64_t t1)
{
	return write_after_records(raw, RAW_END, &(struct iovec){ &t1, sizeof(t1) }, 1);
}

int rawfile__finish(struct rawfile *raw, uint64_t t1, const struct symbolizer *symbolizer)
{
	int err = rawfile__frames(raw, symbolizer);

	if (!err)
		err = rawfile__end(raw, t1);
	return err ? err : rawfile__keep(raw);
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

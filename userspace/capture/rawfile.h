/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw files: everything that a recording gave to its sequencer, in the same order.
 *
 * Written by the recorder (--raw), replayed by `gotrace-bpf sequence` and by tests, so that each
 * fault of the sequencer can be met again without the program that showed it.
 *
 * The file: struct raw_header, then chunks, all 8-byte aligned, little-endian:
 *
 *	 0       4       8
 *	+-------+-------+------------------------------+
 *	| type  | size  | size bytes, padded to 8      |
 *	+-------+-------+------------------------------+
 *
 *	RECORDS		u64 ring, then records one after the other as gotrace/record.h has them
 *	WATERMARK	u64 time
 *	SNAPSHOT	u32 which (0, 1), u32 there (0: could not be had), u64 time, time_end,
 *			u32 procs, u32 0, u64 ng, nm, np, then the arrays of target/snapshot.h.
 *			They come as a pair.
 *	RESNAPSHOT	the same, of a pair taken after a loss; readers of before pass over it
 *	LOST		u64 kind, u64 count: the probes' counter so far
 *	FRAMES		of one PC: u64 pc, u32 how many, u32 start (1: as a goroutine's start), then
 *			each frame: u64 pc, u32 line, u32 flags (1 wrapper, 2 elides, 4, 8 by what is pushed), u32 length of
 *			the function's name, u32 of the file's, the two names, padded to 8
 *	END		u64 time: the window's end
 *
 * A file without END is that of a recorder that was killed: it lacks FRAMES, too, and is replayed
 * as far as it goes.
 */
#ifndef CAPTURE_RAWFILE_H
#define CAPTURE_RAWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "target/snapshot.h"
#include "target/symbolize.h"

struct layout;
struct rawfile;
struct sequencer;

#define RAW_MAGIC   "GOTRRAW" /* and its NUL */
#define RAW_VERSION 2

enum raw_type {
	RAW_RECORDS = 1,
	RAW_WATERMARK = 2,
	RAW_SNAPSHOT = 3,
	RAW_LOST = 4,
	RAW_FRAMES = 5,
	RAW_END = 6,
	RAW_RESNAPSHOT = 7,
};

struct raw_header {
	char magic[8];
	uint32_t version, size;	      /* of this header, in bytes */
	uint64_t t0, wall_ns;	      /* the window's start */
	uint64_t bias;		      /* of the program: run-time minus link-time address */
	uint32_t stacks, no_syscalls; /* struct sequencer_opts */
	char go_version[64];	      /* texts end with a NUL */
	char build_id[128];	      /* Go's own has 83 characters */
	char exe[512];
	char command[1024];
};

/* ---- writing; errors are negative errnos ---- */

int rawfile__create(struct rawfile **ret, const char *path, struct error *err);
int rawfile__start(struct rawfile *raw, const struct raw_header *facts); /* first */
int rawfile__record(struct rawfile *raw, unsigned int ring, const struct gt_record *rec,
		    size_t size);
int rawfile__watermark(struct rawfile *raw, uint64_t time);
int rawfile__snapshot(struct rawfile *raw, const struct snapshot *first,
		      const struct snapshot *second);
int rawfile__resnapshot(struct rawfile *raw, const struct snapshot *first,
			const struct snapshot *second);
int rawfile__lost(struct rawfile *raw, unsigned int kind, uint64_t count);
/* Frames of every PC that went by, END, rename. */
int rawfile__finish(struct rawfile *raw, uint64_t t1, const struct symbolizer *symbolizer);
/* Renames what there is, without an END: the recording failed, and this may show why. */
int rawfile__keep(struct rawfile *raw);
/* As trace_file__in_folder_of_other(). */
bool rawfile__in_folder_of_other(const struct rawfile *raw);
void rawfile__destroy(struct rawfile *raw); /* NULL allowed; unfinished: removed */

/* The same into memory, which is to be ended by _end(), not finished or kept. */
int rawfile__create_in_memory(struct rawfile **ret);
/* The frames of this PC are wanted, too. start: as of a goroutine's start. */
int rawfile__want(struct rawfile *raw, uint64_t pc, bool start);
/* Frames of every PC that went by since, or was wanted. */
int rawfile__frames(struct rawfile *raw, const struct symbolizer *symbolizer);
/* What another file's FRAMES chunk says of a PC; nothing, if it makes no sense or is there already. */
int rawfile__copy_frames(struct rawfile *raw, struct buf chunk);
int rawfile__end(struct rawfile *raw, uint64_t t1);
/* What was written so far; good until something is written. _truncate() takes back what came last. */
const void *rawfile__bytes(const struct rawfile *raw, size_t *ret_size);
void rawfile__truncate(struct rawfile *raw, size_t size);

/* ---- reading ---- */

struct raw_chunk {
	uint32_t type;
	struct buf data;
};

/* -EINVAL and the reason if this is none; else the cursor stands at the first chunk. `name`: for messages. */
int raw_header__read(struct buf *file, const char *name, struct raw_header *ret, struct error *err);
/* False at the end of the file, and at a chunk that was not written to its end. */
bool raw_chunk__next(struct buf *file, struct raw_chunk *ret);
/* Bytes of the record at the cursor; a broken one takes the rest of the buffer with it. */
size_t raw_record__size(const struct buf *b);
/* It is as long as its kind says. */
bool raw_record__is_whole(const struct gt_record *rec, size_t size);

struct raw_snapshots { /* a pair */
	struct snapshot snap[2];
	bool there[2];
};

/* Adds what a SNAPSHOT or RESNAPSHOT chunk holds; of two that are the same one, the first counts. */
void raw_snapshots__add(struct raw_snapshots *both, struct buf *b);
void raw_snapshots__free(struct raw_snapshots *both);

struct replay;

/* Maps the file; -EINVAL and the reason if it is none. */
int replay__open(struct replay **ret, const char *path, struct error *err);
/* The same of what stands in memory, which is borrowed. */
int replay__open_memory(struct replay **ret, const void *data, size_t size, const char *name,
			struct error *err);
void replay__destroy(struct replay *r);
const struct raw_header *replay__header(const struct replay *r);
void replay__symbolizer(struct replay *r, struct symbolizer *ret);
/* Gives everything to the sequencer, from its start to its finish. Its errors come back. */
int replay__run(struct replay *r, struct sequencer *seq);
/* After a run: whether the recorder wrote the file to its end. */
bool replay__ended(const struct replay *r);

#endif

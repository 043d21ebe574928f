/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw files: everything that a recording passed to its sequencer, in the same order.
 *
 * The recorder writes them (--save-input); 'gotrace-bpf replay' and tests replay them, so that each
 * fault of the sequencer can be reproduced without the program that caused it.
 *
 * The file: struct raw_header, then chunks, all 8-byte aligned, little-endian:
 *
 *	 0       4       8
 *	+-------+-------+------------------------------+
 *	| type  | size  | size bytes, padded to 8      |
 *	+-------+-------+------------------------------+
 *
 *	RECORDS		u64 ring, then records, as in gotrace/record.h
 *	WATERMARK	u64 time
 *	SNAPSHOT	u32 which (0, 1), u32 present (0: could not be read), u64 time, time_end,
 *			u32 procs, u32 0, u64 ng, nm, np, nstacks, stacks_left_out, then the
 *			arrays of target/process/snapshot.h, the stacks last.
 *			They are written as a pair.
 *	RESNAPSHOT	the same, for a pair taken after a loss; older readers ignore it
 *	LOST		u64 kind, u64 count: value of the loss counter of that kind
 *	FRAMES		of one PC: u64 pc, u32 number, u32 start (1: start function of a
 *			goroutine), then each frame: u64 pc, u32 line, u32 flags (1 wrapper,
 *			2 elides, 4 and 8: sym_frame.pushed), u32 lengths of the names of
 *			function and file, the two names, padded to 8
 *	CLOCK		u64 ns: sequencer__clock_error(); older readers ignore it
 *	HOST_CLOCK	u64 time, u64 synchronized, u64 max_error, error, shift:
 *			sequencer__host_clock(); older readers ignore it
 *	CPU_SAMPLES	u64 period, u64 throttles, u64 throttled ns:
 *			sequencer__cpu_samples(); older readers ignore it
 *	END		u64 time: end of the window
 *
 * If END is missing, the recorder was killed. FRAMES are then missing, too, and the file is
 * replayed as far as it goes.
 */
#ifndef RAWFILE_RAWFILE_H
#define RAWFILE_RAWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "target/process/snapshot.h"
#include "target/symbols/symbolize.h"

struct layout;
struct private_cpu_samples;
struct private_host_clock;
struct rawfile;
struct sequencer;

#define RAW_MAGIC   "GOTRRAW" /* and its NUL */
#define RAW_VERSION 3

enum raw_type {
	RAW_RECORDS = 1,
	RAW_WATERMARK = 2,
	RAW_SNAPSHOT = 3,
	RAW_LOST = 4,
	RAW_FRAMES = 5,
	RAW_END = 6,
	RAW_RESNAPSHOT = 7,
	RAW_CLOCK = 8,
	RAW_HOST_CLOCK = 9,
	RAW_CPU_SAMPLES = 10,
};

/*
 * No kernel events were recorded. Should the file contain some, they are of programs that were
 * attached before the attachment of another one failed, and are ignored.
 */
#define RAW_NO_KERNEL	2
#define RAW_CALLS_ONLY	4 /* sequencer__calls_only() */
#define RAW_STACKS	1 /* informative */
/* The bits from here on: sequencer__max_names() */
#define RAW_NAMES_SHIFT 8

struct raw_header {
	char magic[8];
	uint32_t version, size; /* of this header, in bytes */
	uint64_t t0, wall_ns;	/* start of the window */
	uint64_t bias;		/* of the program: run-time minus link-time addresses */
	uint32_t flags;		/* RAW_STACKS and the others */
	uint32_t no_syscalls;	/* struct sequencer_opts */
	char go_version[64];	/* texts end with a NUL */
	char build_id[128];	/* that of Go has 83 characters */
	char exe[512];
	char command[1024];
};

/* ---- writing; errors are negative errnos ---- */

int rawfile__create(struct rawfile **ret, const char *path, struct error *error);
int rawfile__start(struct rawfile *raw, const struct raw_header *facts); /* first */
int rawfile__record(struct rawfile *raw, unsigned int ring, const struct gt_record *rec,
		    size_t size);
int rawfile__watermark(struct rawfile *raw, uint64_t time);
int rawfile__snapshot(struct rawfile *raw, const struct snapshot *first,
		      const struct snapshot *second);
int rawfile__resnapshot(struct rawfile *raw, const struct snapshot *first,
			const struct snapshot *second);
int rawfile__lost(struct rawfile *raw, unsigned int kind, uint64_t count);
int rawfile__clock_error(struct rawfile *raw, uint64_t ns);
int rawfile__host_clock(struct rawfile *raw, const struct private_host_clock *clock);
int rawfile__cpu_samples(struct rawfile *raw, const struct private_cpu_samples *taken);
/* Writes the frames of every PC that occurred, and END, and renames the file. */
int rawfile__finish(struct rawfile *raw, uint64_t t1, const struct symbolizer *symbolizer);
/* Renames the file without END: the recording failed, and the file may show why. */
int rawfile__keep(struct rawfile *raw);
/* See trace_file__in_folder_of_other(). */
bool rawfile__in_folder_of_other(const struct rawfile *raw);
void rawfile__destroy(struct rawfile *raw); /* NULL allowed; unfinished: removed */

/* A raw file in memory. It is completed by rawfile__end(), not by _finish() or _keep(). */
int rawfile__create_in_memory(struct rawfile **ret);
/* Adds a PC whose frames are to be written. start: it is the start function of a goroutine. */
int rawfile__want(struct rawfile *raw, uint64_t pc, bool start);
/* Writes the frames of every PC that occurred or was added since the last call. */
int rawfile__frames(struct rawfile *raw, const struct symbolizer *symbolizer);
/* Copies a FRAMES chunk of another file, unless it is invalid or the PC has frames already. */
int rawfile__copy_frames(struct rawfile *raw, struct buf chunk);
int rawfile__end(struct rawfile *raw, uint64_t t1);
/*
 * What was written so far; valid until the next write. _truncate() removes everything after `size`
 * bytes.
 */
const void *rawfile__bytes(const struct rawfile *raw, size_t *ret_size);
void rawfile__truncate(struct rawfile *raw, size_t size);

/* ---- reading ---- */

struct raw_chunk {
	uint32_t type;
	struct buf data;
};

/*
 * Moves the cursor to the first chunk. -EINVAL and the reason: not a raw file. `name`: for
 * messages.
 */
int raw_header__read(struct buf *file, const char *name, struct raw_header *ret,
		     struct error *error);
/* False at the end of the file, and at an incomplete chunk. */
bool raw_chunk__next(struct buf *file, struct raw_chunk *ret);
/* Size of the record at the cursor; that of an invalid one is the rest of the buffer. */
size_t raw_record__size(const struct buf *b);

/* A pair of snapshots. */
struct raw_snapshots {
	struct snapshot snap[2];
	bool present[2];
};

/* Adds a SNAPSHOT or RESNAPSHOT chunk, unless that one of the pair is present already. */
void raw_snapshots__add(struct raw_snapshots *both, struct buf *b);
void raw_snapshots__free(struct raw_snapshots *both);

struct replay;

/* Maps the file. -EINVAL and the reason: not a raw file. */
int replay__open(struct replay **ret, const char *path, struct error *error);
/* The same for a file in memory, which is borrowed. */
int replay__open_memory(struct replay **ret, const void *data, size_t size, const char *name,
			struct error *error);
void replay__destroy(struct replay *r);
const struct raw_header *replay__header(const struct replay *r);
void replay__symbolizer(struct replay *r, struct symbolizer *ret);
/* Passes everything to the sequencer, from its start to its finish. Returns its error. */
int replay__run(struct replay *r, struct sequencer *seq);
/* The same without its finish; *ret_end: the time of the end. */
int replay__play(struct replay *r, struct sequencer *seq, uint64_t *ret_end);
/* After a run: whether the file has an END. */
bool replay__ended(const struct replay *r);

#endif

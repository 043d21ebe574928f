/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the reader: blackbox_read.c and blackbox_stacks.c (memory of the session),
 * and blackbox_checkpoint.c.
 */
#ifndef BLACKBOX_BLACKBOX_IMPL_H
#define BLACKBOX_BLACKBOX_IMPL_H

#include <string.h>

#include "blackbox/blackbox.h"
#include "gotrace/record.h"
#include "gotrace/uapi.h"
#include "lib/map.h"

/* A copy of a record of any kind. */
struct blackbox_record {
	union {
		struct gt_record rec;
		unsigned char bytes[sizeof(struct gt_record) + sizeof(struct gt_stack) +
				    8 * GT_STACK_MAX];
	};
	size_t size;
};

/* Copies the record at the cursor and advances. False: none, or an incomplete one. */
static inline bool next_record(struct buf *b, struct blackbox_record *ret)
{
	size_t size = raw_record__size(b);

	if (!size || size > sizeof(ret->bytes))
		return false;
	memcpy(ret->bytes, buf__take(b, size), size);
	ret->size = size;
	return gt_record_is_whole(&ret->rec, size);
}

struct checkpoint {
	bool is_valid; /* it has a header; else `header` is a substitute */
	bool complete; /* no chunk is missing */
	struct raw_header header;
	struct buf chunks;
	struct raw_snapshots both;
};

/* Reads both checkpoints of an image, the better one first. */
void checkpoints__read(const struct blackbox_image *image, struct checkpoint ret[2]);
void checkpoints__free(struct checkpoint both[2]);
/* Copies the frames of each PC once. 0 or -ENOMEM. */
int checkpoints__copy_frames(const struct checkpoint both[2], struct rawfile *raw);

/*
 * The most suitable pair of snapshots for the window: the oldest one within it, else the newest one
 * before it (facts->stale); NULL: none.
 */
struct raw_snapshots *checkpoints__choose(struct checkpoint both[2], struct blackbox_facts *facts);

/* Goroutines (addresses) and threads (TIDs) that have a record in the window. */
struct touched {
	struct map g, tid;
};

int touched__add(struct touched *t, const struct gt_record *rec, uint64_t t0);
void touched__deinit(struct touched *t);

/*
 * Reduces a pair from before the window to what is probably still valid: a goroutine that was
 * waiting and has no record in the window is still waiting, and so is one in a system call whose
 * thread has no record. The state of the others follows from the records up to t1, which becomes
 * the time of the pair.
 */
void raw_snapshots__age(struct raw_snapshots *both, const struct touched *t, uint64_t t1);

/*
 * Fills in the payload and the size of a STACK record; the caller sets the header. False: the stack
 * of that id was overwritten, or is incomplete.
 */
bool stack_table__find(const struct buf *memory, const struct gt_session_page *page, uint32_t id,
		       struct blackbox_record *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two halves of a black box's reader share: blackbox_read.c (the session's memory) and
 * blackbox_checkpoint.c (what stands beside it).
 */
#ifndef CAPTURE_BLACKBOX_IMPL_H
#define CAPTURE_BLACKBOX_IMPL_H

#include <string.h>

#include "capture/blackbox.h"
#include "gotrace/record.h"
#include "gotrace/uapi.h"
#include "lib/map.h"

/* A record's copy, with room for any. */
struct blackbox_record {
	union {
		struct gt_record rec;
		unsigned char bytes[sizeof(struct gt_record) + sizeof(struct gt_stack) +
				    8 * GT_STACK_MAX];
	};
	size_t size;
};

/* The record at the cursor, which moves behind it, as a copy. False: there is none, or no whole one. */
static inline bool next_record(struct buf *b, struct blackbox_record *ret)
{
	size_t size = raw_record__size(b);

	if (!size || size > sizeof(ret->bytes))
		return false;
	memcpy(ret->bytes, buf__take(b, size), size);
	ret->size = size;
	return raw_record__is_whole(&ret->rec, size);
}

struct checkpoint {
	bool is_one,
		whole; /* it has a header, else that is a stand-in; all of its chunks are there */
	struct raw_header header;
	struct buf chunks;
	struct raw_snapshots both;
};

/* Both checkpoints of an image, the better one first. */
void checkpoints__read(const struct blackbox_image *image, struct checkpoint ret[2]);
void checkpoints__free(struct checkpoint both[2]);
/* What they know of PCs, once. 0 or -ENOMEM. */
int checkpoints__copy_frames(const struct checkpoint both[2], struct rawfile *raw);

/*
 * The pair of snapshots that suits the window best: the oldest one within it, else the newest from before
 * it (facts->stale); NULL: none.
 */
struct raw_snapshots *checkpoints__choose(struct checkpoint both[2], struct blackbox_facts *facts);

/* Who has a record in the window: addresses of Gs, TIDs. */
struct touched {
	struct map g, tid;
};

int touched__add(struct touched *t, const struct gt_record *rec, uint64_t t0);
void touched__deinit(struct touched *t);

/*
 * What is still likely of a pair from before the window. Who waited and has no record in it waits still;
 * so does a system call whose thread has none. Of the others the records tell, up to t1: so it counts as
 * taken then.
 */
void raw_snapshots__age(struct raw_snapshots *both, const struct touched *t, uint64_t t1);

/*
 * The payload of a STACK record and its size; the record itself is the caller's. False: what had the id was
 * overwritten, or never written to its end.
 */
bool stack_table__find(const struct buf *memory, const struct gt_session_page *page, uint32_t id,
		       struct blackbox_record *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session's memory as the kernel module would write it, for tests of its readers: made without a
 * kernel, by the rules of include/gotrace/uapi.h. Downstream: userspace/blackbox/blackbox_read.c.
 */
#ifndef SELFTESTS_BLACKBOX_IMAGE_H
#define SELFTESTS_BLACKBOX_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "gotrace/uapi.h"

struct image {
	unsigned char *memory; /* begins with struct gt_session_page */
	size_t bytes;
	struct gt_session_page *page;
};

/* A record that is reserved and not committed. */
struct image_slot {
	unsigned int ring;
	uint32_t slot, size;
};

/* Sizes may be smaller than the module's; powers of two. False: no memory. */
bool image__create(struct image *im, unsigned int rings, uint32_t subbuf_size, uint32_t subbufs,
		   uint32_t stack_words, uint64_t created);
void image__destroy(struct image *im);
struct gt_ring_control *image__control(const struct image *im, unsigned int ring);

/*
 * Adds a record with the ring's next number. False: no space, it is lost. held: uncommitted. The
 * writes are in the order of the module's, so that another thread may read meanwhile; there is one
 * writer.
 */
bool image__emit(struct image *im, unsigned int ring, const struct gt_record *rec, size_t size,
		 struct image_slot *held);
void image__commit(struct image *im, const struct image_slot *held);

/* Adds an entry to the stack table, even if there is an equal one; returns its id. */
uint32_t image__stack(struct image *im, const uint64_t *pcs, uint32_t depth, bool cut);

#endif

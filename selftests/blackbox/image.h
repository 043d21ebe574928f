/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session's memory as the kernel module would have written it, for tests of what reads it: made without
 * a kernel, by the rules of gotrace/uapi.h. After it: userspace/capture/blackbox_read.c.
 */
#ifndef SELFTESTS_BLACKBOX_IMAGE_H
#define SELFTESTS_BLACKBOX_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "gotrace/uapi.h"

struct image {
	unsigned char *memory; /* begins with the page */
	size_t bytes;
	struct gt_session_page *page;
};

struct image_slot { /* of a record that is reserved and not committed */
	unsigned int ring;
	uint32_t slot, size;
};

/* Sizes may be smaller than the module's; powers of two. False: no memory. */
bool image__create(struct image *im, unsigned int rings, uint32_t subbuf_size, uint32_t subbufs,
		   uint32_t stack_words, uint64_t created);
void image__destroy(struct image *im);
struct gt_ring_control *image__control(const struct image *im, unsigned int ring);

/* Takes the ring's next number for it. False: no room, it is lost. held: it is not committed yet. */
bool image__emit(struct image *im, unsigned int ring, const struct gt_record *rec, size_t size,
		 struct image_slot *held);
void image__commit(struct image *im, const struct image_slot *held);

/* A new entry of the stack table, whatever there is; its id. */
uint32_t image__stack(struct image *im, const uint64_t *pcs, uint32_t depth, bool cut);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A session's memory: see image.h.
 */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 64ull /* readers use the offsets; seeds of a fuzzer must be small */

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

bool image__create(struct image *im, unsigned int rings, uint32_t subbuf_size, uint32_t subbufs,
		   uint32_t stack_words, uint64_t created)
{
	struct gt_session_page page = {
		.magic = GT_ABI_MAGIC,
		.version = GT_ABI_VERSION,
		.page_size = PAGE,
		.rings = rings,
		.subbuf_size = subbuf_size,
		.subbufs = subbufs,
		.stack_words = stack_words,
		.stack_slots = stack_words / 8,
		.control_offset = whole_pages(sizeof(page)),
		.control_stride = whole_pages(sizeof(struct gt_ring_control) + 8ull * subbufs),
		.ring_stride = whole_pages((uint64_t)subbuf_size * subbufs),
		.half_stride = whole_pages(8ull * stack_words),
		.created = created,
		.wall = created + 1000000,
	};

	page.ring_offset = page.control_offset + rings * page.control_stride;
	page.index_offset = page.ring_offset + rings * page.ring_stride;
	page.half_offset = page.index_offset + whole_pages(8ull * page.stack_slots);
	im->bytes = page.half_offset + 2 * page.half_stride;
	page.size = (uint32_t)(im->bytes / PAGE);
	im->memory = calloc(1, im->bytes);
	if (!im->memory)
		return false;
	im->page = (void *)im->memory;
	*im->page = page;
	return true;
}

void image__destroy(struct image *im)
{
	free(im->memory);
	*im = (struct image){};
}

struct gt_ring_control *image__control(const struct image *im, unsigned int ring)
{
	return (void *)(im->memory + im->page->control_offset + ring * im->page->control_stride);
}

static struct gt_subbuf *subbuf_of(const struct image *im, unsigned int ring, uint64_t number)
{
	return (void *)(im->memory + im->page->ring_offset + ring * im->page->ring_stride +
			number % im->page->subbufs * im->page->subbuf_size);
}

static void count(const struct image *im, unsigned int ring, uint64_t number, uint64_t bytes)
{
	__atomic_fetch_add(&image__control(im, ring)->committed[number % im->page->subbufs], bytes,
			   __ATOMIC_RELEASE);
}

/* Where a record of that size begins in the stream; false: its sub-buffer is not complete. */
static bool find_place(const struct image *im, unsigned int ring, size_t size, uint64_t *ret)
{
	const struct gt_ring_control *control = image__control(im, ring);
	uint64_t head = control->head, subbuf_size = im->page->subbuf_size, number;
	uint32_t subbufs = im->page->subbufs;

	*ret = head;
	if (head % subbuf_size && head % subbuf_size + size <= subbuf_size)
		return true;
	number = (head + subbuf_size - 1) / subbuf_size;
	*ret = number * subbuf_size + sizeof(struct gt_subbuf);
	return control->committed[number % subbufs] == number / subbufs * subbuf_size;
}

/* The head has been moved from the end of one sub-buffer into the next one. */
static void move_on(struct image *im, unsigned int ring, uint64_t head, uint64_t number)
{
	uint32_t subbuf_size = im->page->subbuf_size;

	if (head % subbuf_size) {
		subbuf_of(im, ring, head / subbuf_size)->used = (uint32_t)(head % subbuf_size);
		count(im, ring, head / subbuf_size, subbuf_size - head % subbuf_size);
	}
	subbuf_of(im, ring, number)->number = number;
	count(im, ring, number, sizeof(struct gt_subbuf));
}

bool image__emit(struct image *im, unsigned int ring, const struct gt_record *rec, size_t size,
		 struct image_slot *held)
{
	struct gt_ring_control *control = image__control(im, ring);
	uint32_t subbuf_size = im->page->subbuf_size;
	uint64_t head = control->head, at, number;
	struct gt_record copy = *rec;
	struct image_slot slot;

	if (!find_place(im, ring, size, &at)) {
		control->seq++;
		control->lost++;
		return false;
	}
	__atomic_exchange_n(&control->head, at + size, __ATOMIC_SEQ_CST); /* before any write */
	copy.seq = __atomic_fetch_add(&control->seq, 1, __ATOMIC_SEQ_CST);
	number = at / subbuf_size;
	if (at != head)
		move_on(im, ring, head, number);
	if ((at + size) % subbuf_size == 0)
		subbuf_of(im, ring, number)->used = subbuf_size;
	memcpy((char *)subbuf_of(im, ring, number) + at % subbuf_size, rec, size);
	memcpy((char *)subbuf_of(im, ring, number) + at % subbuf_size, &copy, sizeof(copy));
	slot = (struct image_slot){ ring, (uint32_t)(number % im->page->subbufs), (uint32_t)size };
	if (held)
		*held = slot;
	else
		image__commit(im, &slot);
	return true;
}

void image__commit(struct image *im, const struct image_slot *held)
{
	count(im, held->ring, held->slot, held->size);
}

uint32_t image__stack(struct image *im, const uint64_t *pcs, uint32_t depth, bool cut)
{
	struct gt_session_page *page = im->page;
	uint32_t epoch = page->stack_state >> 32, word = (uint32_t)page->stack_state;
	uint32_t words = (uint32_t)(sizeof(struct gt_stack_entry) / 8) + depth;
	uint64_t hash = 0, *index = (void *)(im->memory + page->index_offset);
	struct gt_stack_entry *entry;
	uint32_t i;

	if (word + words > page->stack_words) {
		epoch++;
		word = 0;
	}
	page->stack_state = (uint64_t)epoch << 32 | (word + words);
	entry = (void *)(im->memory + page->half_offset + (epoch & 1) * page->half_stride +
			 8ull * word);
	for (i = 0; i < depth; i++) {
		hash = (hash ^ pcs[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	hash = (hash & ((1ull << 56) - 1)) | (uint64_t)depth << 56;
	entry->hash = hash;
	entry->epoch = epoch;
	entry->depth = (uint16_t)depth;
	entry->cut = cut;
	memcpy(entry->pc, pcs, depth * sizeof(*pcs));
	index[hash % page->stack_slots] = (uint64_t)epoch << 32 | (word + 1);
	return GT_STACK_ID(epoch, word);
}

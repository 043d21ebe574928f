// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of a flight recorder buffer while a thread writes to it: whatever the thread does at that
 * moment, a copy has each record of its window once, none of them torn, and no loss that there was
 * not. A record's contents follow from its time, which counts the records.
 */
#include <pthread.h>

#include "unit/test.h"
#include "blackbox/blackbox.h"
#include "blackbox/blackbox_copy.h"
#include "blackbox/image.h"

#define CREATED 1000ull
#define SUBBUF	1024u
#define SUBBUFS 4u
#define COPIES	1000

struct full_record {
	struct gt_record rec;
	struct gt_create create;
};

static bool emit (struct image *im, unsigned int ring, uint64_t time, struct image_slot * held)
{
	struct full_record full = {
		.rec = { .time = time, .tid = 7, .kind = GT_CREATE, .object = time * 8 }
	};

	memset(&full.create, (int)(time % 251), sizeof(full.create));
	return image__emit(im, ring, &full.rec, sizeof(full), held);
}

/* What a copy contains. */
struct contents {
	struct blackbox_facts facts;
	uint64_t first, last, n; /* times of the records; their number */
};

static void check_record(struct contents *c, const struct full_record *full)
{
	struct gt_create create;

	memset(&create, (int)(full->rec.time % 251), sizeof(create));
	assert_memory_equal(&full->create, &create, sizeof(create));
	assert_int_equal(full->rec.object, full->rec.time * 8);
	assert_int_equal(full->rec.seq, (uint32_t)(full->rec.time - CREATED - 1));
	if (c->n++)
		assert_int_equal(full->rec.time, c->last + 1);
	else
		c->first = full->rec.time;
	c->last = full->rec.time;
}

static void read_copy(const struct blackbox_copy *copy, struct contents *ret)
{
	struct blackbox_image image = { .memory = copy->memory, .bytes = copy->bytes };
	struct raw_header header;
	struct raw_chunk chunk;
	struct full_record full;
	struct rawfile *raw;
	struct error err = {};
	const void *data;
	size_t size;
	struct buf b;

	*ret = (struct contents){};
	assert_int_equal(blackbox__read(&image, NULL, &raw, &ret->facts, &err), 0);
	data = rawfile__bytes(raw, &size);
	b = buf__make(data, size);
	assert_int_equal(raw_header__read(&b, "it", &header, &err), 0);
	while (buf__left(&b) && raw_chunk__next(&b, &chunk)) {
		if (chunk.type != RAW_RECORDS)
			continue;
		assert_int_equal(buf__u64(&chunk.data), 0);
		while (buf__left(&chunk.data)) {
			assert_int_equal(raw_record__size(&chunk.data), sizeof(full));
			memcpy(&full, buf__take(&chunk.data, sizeof(full)), sizeof(full));
			check_record(ret, &full);
		}
	}
	rawfile__destroy(raw);
}

/* ---- a thread that writes ---- */

static struct {
	struct image im;
	uint64_t done; /* time of the last record that was begun */
	bool ends;
	uint64_t hold; /* each such record is committed later; 0: none */
} w;

static void spin(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

/* As probes, it mostly does something else: a copy waits for a moment without a writer. */
static void *write_on(void *ctx)
{
	struct image_slot held;

	for (uint64_t time = CREATED + 1; !__atomic_load_n(&w.ends, __ATOMIC_RELAXED); time++) {
		bool holds = w.hold && time % w.hold == 0;

		__atomic_store_n(&w.done, time, __ATOMIC_RELEASE);
		if (!emit (&w.im, 0, time, holds ? &held : NULL))
			abort();
		spin();
		if (holds)
			image__commit(&w.im, &held);
		spin();
	}
	return NULL;
}

/* Copies while the thread writes; returns how many copies had lost their oldest parts meanwhile. */
static void copy_while_writing(uint32_t subbuf, uint64_t hold)
{
	struct blackbox_copy copy;
	struct contents c;
	pthread_t thread;
	uint64_t before;

	memset(&w, 0, sizeof(w));
	w.hold = hold;
	assert_true(image__create(&w.im, 1, subbuf, SUBBUFS, 1024, CREATED));
	assert_int_equal(pthread_create(&thread, NULL, write_on, NULL), 0);
	while (__atomic_load_n(&w.done, __ATOMIC_ACQUIRE) < CREATED + 2)
		usleep(1);
	for (int i = 0; i < COPIES; i++) {
		before = __atomic_load_n(&w.done, __ATOMIC_ACQUIRE) - 1; /* that one is complete */
		assert_int_equal(
			blackbox_copy__take(&copy, w.im.memory, w.im.bytes, UINT64_MAX - 1), 0);
		read_copy(&copy, &c);
		assert_int_equal(c.facts.broken, 0);
		assert_int_equal(c.facts.lost, 0);
		if (c.n)
			assert_true(c.last >= before);
		blackbox_copy__free(&copy);
	}
	__atomic_store_n(&w.ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	image__destroy(&w.im);
}

TEST(while_written)
{
	copy_while_writing(SUBBUF, 0);
	copy_while_writing(64 * SUBBUF, 0);
}

TEST(while_a_writer_is_slow)
{
	copy_while_writing(16 * SUBBUF, 3);
}

/* ---- one that does not write ---- */

static void assert_copy(struct image *im, struct contents *ret)
{
	struct blackbox_copy copy;

	assert_int_equal(blackbox_copy__take(&copy, im->memory, im->bytes, CREATED + 5000), 0);
	assert_int_equal(copy.bytes, im->bytes);
	read_copy(&copy, ret);
	blackbox_copy__free(&copy);
	assert_null(copy.memory);
}

/* After each record, also with one that stays uncommitted, and is reported as lost. */
TEST(after_each_record)
{
	struct image_slot held;
	struct contents c;
	struct image im;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	assert_copy(&im, &c);
	assert_int_equal(c.n, 0);
	for (uint64_t t = CREATED + 1; t < CREATED + 300; t++) {
		assert_true(emit (&im, 0, t, NULL));
		assert_copy(&im, &c);
		assert_int_equal(c.last, t);
		assert_int_equal(c.facts.t1, CREATED + 5000);
		assert_int_equal(c.facts.lost + c.facts.broken, 0);
		assert_true(c.facts.overwritten || c.first == CREATED + 1);
	}
	assert_true(emit (&im, 0, CREATED + 300, &held));
	assert_copy(&im, &c);
	assert_int_equal(c.facts.broken, 1);
	assert_in_range(c.facts.lost, 1, SUBBUF / sizeof(struct full_record));
	image__commit(&im, &held);
	assert_copy(&im, &c);
	assert_int_equal(c.last, CREATED + 300);
	assert_int_equal(c.facts.lost + c.facts.broken, 0);
	image__destroy(&im);
}

/* A frozen session keeps its end; the stacks are there. */
TEST(frozen)
{
	struct blackbox_copy copy;
	struct contents c;
	struct image im;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	assert_true(emit (&im, 0, CREATED + 1, NULL));
	image__stack(&im, (uint64_t[]){ 1, 2, 3 }, 3, false);
	im.page->frozen = CREATED + 7;
	assert_copy(&im, &c);
	assert_int_equal(c.facts.t1, CREATED + 7);
	assert_int_equal(blackbox_copy__take(&copy, im.memory, im.bytes, CREATED + 5000), 0);
	assert_memory_equal((char *)copy.memory + im.page->index_offset,
			    im.memory + im.page->index_offset, im.bytes - im.page->index_offset);
	blackbox_copy__free(&copy);
	image__destroy(&im);
}

TEST(another_layout)
{
	struct blackbox_copy copy;
	struct image im;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 1024, CREATED));
	assert_int_equal(blackbox_copy__take(&copy, im.memory, 16, 1), -EPROTO);
	assert_int_equal(blackbox_copy__take(&copy, im.memory, im.page->index_offset - 8, 1),
			 -EPROTO);
	im.page->version++;
	assert_int_equal(blackbox_copy__take(&copy, im.memory, im.bytes, 1), -EPROTO);
	assert_null(copy.memory);
	blackbox_copy__free(&copy);
	image__destroy(&im);
}

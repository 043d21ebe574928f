// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers, chunks and batches byte by byte, and the map from threads to streams.
 */
#include "unit/test.h"
#include "format/encode.h"
#include "unit/trace_bytes.h"
#include "writer/stream_map.h"

static uint64_t leb_round_trip(uint64_t v, size_t *ret_len)
{
	uint8_t data[LEB_MAX];
	struct bytes b = { data, leb__put(data, v) - data, 0 };

	*ret_len = b.len;
	v = bytes__leb(&b);
	assert_int_equal(b.at, b.len);
	return v;
}

TEST(leb128_numbers)
{
	size_t len;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		uint64_t v = UINT64_C(1) << bit;

		assert_true(leb_round_trip(v, &len) == v);
		assert_int_equal(len, bit / 7 + 1);
		assert_true(leb_round_trip(v - 1, &len) == v - 1);
	}
	assert_true(leb_round_trip(UINT64_MAX, &len) == UINT64_MAX);
	assert_int_equal(len, 10);
}

static struct bytes gather(const struct stream *s)
{
	const struct chunk *c;
	struct bytes b = { 0 };

	for (c = s->first; c; c = c->next) {
		b.data = realloc(b.data, b.len + c->len);
		memcpy(b.data + b.len, c->data, c->len);
		b.len += c->len;
	}
	return b;
}

TEST(a_batch_byte_by_byte)
{
	static const uint8_t want[] = {
		1,    3,    0xac, 0x02, 0x90,
		0x4e, 0x86, 0x80, 0x00, /* batch: gen 3, m 300, time 10000 */
		16,   5,    7,	  1,	/* GoStart dt 5 g 7 seq 1 */
		11,   0,		/* ProcStop dt 0 */
	};
	struct chunk_pool pool = { 0 };
	struct stream s;
	struct bytes b;

	stream__init(&s, &pool, 300, 0);
	s.gen = 3;
	s.time = 10000;
	assert_int_equal(stream__room(&s, EVENT_MAX), 0);
	stream__put_event(&s, 16, 5, (uint64_t[]){ 7, 1 }, 2);
	stream__put_event(&s, 11, 0, NULL, 0);
	stream__end(&s);
	b = gather(&s);
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	free(b.data);
	stream__deinit(&s);
	chunk_pool__deinit(&pool);
}

/*
 * Requests of all sizes: no batch is too long, no byte is lost, each batch has the time of its
 * first event.
 */
TEST(batches_respect_the_limit)
{
	struct chunk_pool pool = { 0 };
	struct read_batch batch;
	struct stream s;
	struct bytes b;
	size_t total = 0, found = 0, batches = 0;
	uint64_t i;

	stream__init(&s, &pool, TRACE_NO_M, 0);
	s.gen = 1;
	for (i = 1; i < 2000; i++) {
		size_t n = 1 + i * 7919 % 3000;

		s.time = i;
		assert_int_equal(stream__room(&s, n), 0);
		assert_true((size_t)(s.end - s.pos) >= n);
		memset(s.pos, 11, n);
		s.pos += n;
		total += n;
	}
	stream__end(&s);
	b = gather(&s);
	for (i = 0; bytes__batch(&b, &batch); i = batch.time) {
		assert_true(batch.time > i);
		assert_true(batch.m == TRACE_NO_M);
		found += batch.len;
		batches++;
	}
	assert_int_equal(found, total);
	assert_int_equal(batches, s.chunks);
	free(b.data);
	stream__deinit(&s);
	chunk_pool__deinit(&pool);
}

TEST(kind_is_the_first_byte)
{
	struct chunk_pool pool = { 0 };
	struct read_batch batch;
	struct stream s;
	struct bytes b;
	int i;

	stream__init(&s, &pool, 1, EV_STRINGS);
	s.gen = 1;
	for (i = 0; i < 100; i++) {
		assert_int_equal(stream__room(&s, 1030), 0);
		s.pos += 1030;
	}
	stream__end(&s);
	b = gather(&s);
	while (bytes__batch(&b, &batch))
		assert_int_equal(batch.data[0], EV_STRINGS);
	free(b.data);
	stream__deinit(&s);
	chunk_pool__deinit(&pool);
}

TEST(several_threads_in_a_chunk)
{
	struct chunk_pool pool = { 0 };
	struct read_batch batch;
	struct stream s;
	struct bytes b;
	uint64_t m;

	stream__init(&s, &pool, 0, 0);
	s.gen = 1;
	for (m = 1; m < 500; m++) {
		s.m = m;
		assert_int_equal(stream__begin(&s, EVENT_MAX), 0);
		stream__put_event(&s, EV_PROC_STOP, 0, NULL, 0);
	}
	stream__end(&s);
	assert_true(s.chunks <= 2);
	b = gather(&s);
	for (m = 1; bytes__batch(&b, &batch); m++) {
		assert_int_equal(batch.m, m);
		assert_int_equal(batch.len, 2);
	}
	assert_int_equal(m, 500);
	free(b.data);
	stream__deinit(&s);
	chunk_pool__deinit(&pool);
}

static void fill(struct chunk_pool *pool, size_t bytes)
{
	struct stream s;

	stream__init(&s, pool, 1, 0);
	for (; bytes > 1000; bytes -= 1000) {
		assert_int_equal(stream__room(&s, 1000), 0);
		s.pos += 1000;
	}
	stream__deinit(&s);
}

TEST(chunks_are_reused)
{
	struct chunk_pool pool = { 0 };
	size_t total;
	int i;

	fill(&pool, 8 << 20);
	total = pool.total;
	assert_in_range(total, 8 << 20, 9 << 20);
	for (i = 0; i < 20; i++)
		fill(&pool, 8 << 20);
	assert_int_equal(pool.total, total);
	assert_int_equal(pool.free, total);
	fill(&pool, 100 << 20); /* exceptional use: most of the memory is freed afterwards */
	assert_in_range(pool.total, 0, 17 << 20);
	chunk_pool__deinit(&pool);
}

/* A batch uses a chunk as long as its longest header and the requested bytes just fit. */
TEST(last_batch_of_a_chunk)
{
	const size_t header = 1 + 3 * LEB_MAX + 3 + 1;
	struct chunk_pool pool = { 0 };
	struct stream s;

	stream__init(&s, &pool, 7, EV_STRINGS);
	assert_int_equal(stream__begin(&s, 100), 0);
	s.pos = s.end - header - 50;
	assert_int_equal(stream__begin(&s, 50), 0);
	assert_int_equal(s.chunks, 1);
	assert_true(s.pos <= s.end - 50);
	assert_int_equal(stream__room(&s, (size_t)(s.end - s.pos)), 0);
	assert_int_equal(s.chunks, 1);
	s.pos = s.end - header - 49;
	assert_int_equal(stream__begin(&s, 50), 0);
	assert_int_equal(s.chunks, 2);
	stream__end(&s);
	assert_null(s.size);
	stream__deinit(&s);
	chunk_pool__deinit(&pool);
}

/* The pool keeps 16 MiB of free chunks for the next generation, and not one more. */
TEST(pool_keeps_16_mib)
{
	const uint32_t kept = (16 << 20) / CHUNK_LARGE;
	struct chunk_pool pool = { 0 };
	struct stream s;

	stream__init(&s, &pool, 7, 0);
	for (uint32_t i = 0; i < kept + 2; i++) {
		assert_int_equal(stream__begin(&s, CHUNK_SMALL), 0);
		s.pos = s.end;
	}
	assert_int_equal(s.chunks, kept + 2);
	assert_int_equal(pool.total, (kept + 2) * (size_t)CHUNK_LARGE);
	stream__deinit(&s);
	assert_int_equal(pool.total, 16 << 20);
	assert_int_equal(pool.free, 16 << 20);
	chunk_pool__deinit(&pool);
	assert_true(!pool.small && !pool.large && !pool.free && !pool.total);
}

TEST(streams_are_found_by_thread)
{
	static struct stream *seen[5000];
	struct chunk_pool pool = { 0 };
	struct stream_map t;
	uint64_t m, first;

	stream_map__init(&t, &pool);
	for (m = 0; m < 5000; m++) {
		seen[m] = stream_map__get(&t, m * 4096);
		assert_non_null(seen[m]);
		assert_int_equal(seen[m]->m, m * 4096);
	}
	first = (uint64_t)(uintptr_t)stream_map__get(&t, TRACE_NO_M);
	for (m = 0; m < 5000; m++)
		assert_ptr_equal(stream_map__get(&t, m * 4096), seen[m]);
	assert_true((uint64_t)(uintptr_t)stream_map__get(&t, TRACE_NO_M) == first);
	assert_int_equal(t.count, 5001);
	stream_map__deinit(&t);
	chunk_pool__deinit(&pool);
}

TEST(idle_threads_are_removed)
{
	struct chunk_pool pool = { 0 };
	struct stream_map t;
	struct stream *s;
	uint64_t m;

	stream_map__init(&t, &pool);
	stream_map__reset(&t);
	for (m = 0; m < 1000; m++) {
		s = stream_map__get(&t, m);
		if (m % 10 == 0)
			assert_int_equal(stream__room(s, 100), 0);
	}
	stream_map__reset(&t);
	assert_int_equal(t.count, 100);
	for (m = 0; m < 1000; m++)
		assert_int_equal(stream_map__get(&t, m)->m, m);
	assert_int_equal(t.count, 1000);
	stream_map__reset(&t);
	assert_int_equal(t.count, 0);
	stream_map__deinit(&t);
	chunk_pool__deinit(&pool);
}

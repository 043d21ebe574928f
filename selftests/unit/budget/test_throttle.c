// SPDX-License-Identifier: GPL-2.0
/*
 * For how long samples were throttled, from hand-made rings: the times between pairs of records, also
 * across the end of the ring and between two calls, and rings that are full or corrupt.
 */
#include <sys/mman.h>

#include <linux/perf_event.h>

#include "unit/test.h"
#include "budget/throttle.h"

struct made_record {
	struct perf_event_header header;
	uint64_t value[3];
};

static struct {
	int fd;
	struct perf_event_mmap_page *page;
	size_t size; /* of the data */
	struct throttle throttle;
	struct private_cpu_samples sum;
} t;

static void set_up(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	memset(&t, 0, sizeof(t));
	t.size = THROTTLE_PAGES * page;
	t.fd = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(t.fd, (off_t)(page + t.size)), 0);
	t.page = mmap(NULL, page + t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0);
	assert_true(t.page != MAP_FAILED);
	throttle__open(&t.throttle, t.fd);
	assert_non_null(t.throttle.ring);
}

static void tear_down(void)
{
	throttle__close(&t.throttle);
	munmap(t.page, (size_t)sysconf(_SC_PAGESIZE) + t.size);
	close(t.fd);
}

static void put(uint32_t type, uint16_t size, uint64_t a, uint64_t b)
{
	struct made_record r = { .header = { .type = type, .size = size }, .value = { a, b } };
	const uint8_t *from = (const uint8_t *)&r;
	uint8_t *data = (uint8_t *)t.page + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size && i < sizeof(r); i++)
		data[t.page->data_head++ % t.size] = from[i];
}

static void throttled(uint64_t from, uint64_t to)
{
	put(PERF_RECORD_THROTTLE, sizeof(struct made_record), from, 0);
	put(PERF_RECORD_UNTHROTTLE, sizeof(struct made_record), to, 0);
}

static void assert_sum(uint64_t throttles, uint64_t ns)
{
	throttle__read(&t.throttle, &t.sum);
	assert_int_equal(t.sum.throttles, throttles);
	assert_int_equal(t.sum.throttled_ns, ns);
	assert_int_equal(t.page->data_tail, t.page->data_head);
}

TEST(pairs)
{
	set_up();
	assert_sum(0, 0);
	put(PERF_RECORD_UNTHROTTLE, sizeof(struct made_record), 5,
	    0); /* when it began is unknown */
	throttled(100, 150);
	put(PERF_RECORD_THROTTLE, sizeof(struct made_record), 200, 0);
	assert_sum(2, 50);
	put(PERF_RECORD_UNTHROTTLE, sizeof(struct made_record), 230, 0);
	assert_sum(2, 80);
	throttled(300, 290); /* clocks of two CPUs */
	assert_sum(3, 80);
	tear_down();
}

TEST(around_the_end)
{
	set_up();
	put(PERF_RECORD_LOST, 24, 0, 0); /* so that records do not end at the end */
	for (uint64_t i = 1; i <= 1000; i++) {
		throttled(100 * i, 100 * i + 7);
		assert_sum(i, 7 * i);
	}
	assert_true(t.page->data_head > 2 * t.size);
	tear_down();
}

TEST(full)
{
	set_up();
	put(PERF_RECORD_THROTTLE, sizeof(struct made_record), 100, 0);
	put(PERF_RECORD_LOST, 24, 0, 11);
	put(PERF_RECORD_UNTHROTTLE, sizeof(struct made_record), 9000,
	    0); /* of another throttling */
	assert_sum(1 + 5, 0);
	tear_down();
}

TEST(corrupt)
{
	set_up();
	put(PERF_RECORD_THROTTLE, 16, 100, 0);
	assert_sum(0, 0);
	throttled(100, 150);
	put(PERF_RECORD_THROTTLE, 4, 100, 0);
	put(0, 4, 0, 0);
	throttled(200, 250);
	assert_sum(1, 50);
	put(PERF_RECORD_THROTTLE, sizeof(struct made_record), 300, 0);
	t.page->data_head -= 8;
	throttle__read(&t.throttle, &t.sum);
	assert_int_equal(t.sum.throttles, 1);
	tear_down();
}

TEST(no_ring)
{
	struct private_cpu_samples sum = {};
	struct throttle none = {};

	throttle__open(&none, -1);
	assert_null(none.ring);
	throttle__read(&none, &sum);
	assert_int_equal(sum.throttles, 0);
	throttle__close(&none);
}

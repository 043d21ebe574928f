// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a session's rings: many writers with a concurrent reader of the mapping; overwriting;
 * poll(). Under test: kmod/ring.c, kmod/emit.c.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define WRITERS 6

struct writer {
	pthread_t thread;
	int fd;
	uint32_t number, records;
	uint32_t stored, full; /* out */
	int error;	       /* out: an error other than -ENOSPC */
};

static void *write_records(void *arg)
{
	struct writer *w = arg;

	for (uint32_t i = 0; i < w->records && !w->error; i++) {
		int code = emit (w->fd, w->number, i);

		w->stored += !code;
		w->full += code == -ENOSPC;
		w->error = code == -ENOSPC ? 0 : code;
	}
	return NULL;
}

/* What a reader has read of one session. */
struct seen {
	const struct gt_session_page *page;
	struct subbuf copy;
	uint64_t *next;	  /* per ring: the sub-buffer to read */
	uint8_t *numbers; /* per ring: 1 for each number that was read */
	uint32_t numbers_max;
	uint64_t records, skipped, partial; /* skipped: sub-buffers */
};

static bool seen__init(struct seen *seen, const struct gt_session_page *page, uint32_t numbers_max)
{
	*seen = (struct seen){ .page = page, .numbers_max = numbers_max };
	seen->copy.bytes = malloc(page->subbuf_size);
	seen->next = calloc(page->rings, sizeof(*seen->next));
	seen->numbers = calloc(page->rings, numbers_max);
	return seen->copy.bytes && seen->next && seen->numbers;
}

static void seen__deinit(struct seen *seen)
{
	free(seen->copy.bytes);
	free(seen->next);
	free(seen->numbers);
}

/* Each record of the copy was written by the test, and its number is new. */
static bool seen__records(struct seen *seen, uint32_t i)
{
	size_t size;

	CHECK(seen->copy.used >= sizeof(struct gt_subbuf) &&
	      seen->copy.used <= seen->page->subbuf_size);
	for (uint32_t at = sizeof(struct gt_subbuf); at < seen->copy.used; at += size) {
		const struct gt_record *rec = (const void *)(seen->copy.bytes + at);
		uint8_t *mark;

		size = record_size(rec, seen->copy.used - at);
		CHECK(size > 0);
		CHECK(rec->seq < seen->numbers_max);
		mark = &seen->numbers[(size_t)i * seen->numbers_max + rec->seq];
		CHECK(!*mark);
		*mark = 1;
		seen->records++;
	}
	return true;
}

/* Reads all that is available. last: also incomplete sub-buffers, because no writer is left. */
static bool seen__read(struct seen *seen, uint32_t i, bool last)
{
	uint64_t size = seen->page->subbuf_size, subbufs = seen->page->subbufs, head;

	for (;;) {
		head = __atomic_load_n(&ring(seen->page, i)->head, __ATOMIC_ACQUIRE);
		if (!last && head / size <= seen->next[i])
			return true;
		switch (subbuf__copy(seen->page, i, seen->next[i], &seen->copy)) {
		case 0:
			CHECK(!last || seen->next[i] * size >= head);
			return true;
		case -1:
			head = __atomic_load_n(&ring(seen->page, i)->head, __ATOMIC_ACQUIRE);
			seen->skipped += head / size - subbufs + 1 - seen->next[i];
			seen->next[i] = head / size - subbufs + 1;
			break;
		default:
			CHECK_EQUAL(seen->copy.number, seen->next[i]);
			CHECK(seen__records(seen, i));
			seen->next[i]++;
		}
	}
}

static bool writers_and_reader(struct gt_abi_create *want, uint32_t records, struct seen *seen,
			       uint64_t *ret_stored)
{
	struct writer writers[WRITERS] = {};
	int fd = session(want);
	const struct gt_session_page *page = map(fd, want->bytes);
	uint64_t stored = 0, full = 0, lost = 0, seqs = 0;

	CHECK(page && seen__init(seen, page, WRITERS * records));
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .fd = fd, .number = i, .records = records };
		CHECK(!pthread_create(&writers[i].thread, NULL, write_records, &writers[i]));
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		while (pthread_tryjoin_np(writers[i].thread, NULL) == EBUSY)
			for (uint32_t r = 0; r < page->rings; r++)
				CHECK(seen__read(seen, r, false));
		CHECK_EQUAL(writers[i].error, 0);
		stored += writers[i].stored;
		full += writers[i].full;
	}
	for (uint32_t r = 0; r < page->rings; r++) {
		CHECK(seen__read(seen, r, true));
		lost += ring(page, r)->lost;
		seqs += ring(page, r)->seq;
	}
	CHECK_EQUAL(lost, full);
	CHECK_EQUAL(seqs, WRITERS * records);
	CHECK_EQUAL(stored + full, seqs);
	printf("# %llu records of %llu seen, %llu sub-buffers overwritten unread, %llu without room\n",
	       (unsigned long long)seen->records, (unsigned long long)stored,
	       (unsigned long long)seen->skipped, (unsigned long long)lost);
	*ret_stored = stored;
	munmap((void *)page, want->bytes);
	close(fd);
	return true;
}

/* Nothing is overwritten: each stored record is read once. */
static bool all_seen(uint32_t rings)
{
	struct gt_abi_create want = small("", 0);
	struct seen seen;
	uint64_t stored;

	want.rings = rings;
	want.subbufs = 256;
	CHECK(writers_and_reader(&want, 4000, &seen, &stored));
	CHECK_EQUAL(seen.skipped, 0);
	CHECK_EQUAL(seen.records, stored);
	seen__deinit(&seen);
	return true;
}

static bool test_one_ring(void)
{
	return all_seen(1);
}

static bool test_ring_each(void)
{
	return all_seen(0);
}

/* The ring is small: no record is torn, and each gap has a skipped sub-buffer. */
static bool overwritten(uint64_t *skipped)
{
	struct gt_abi_create want = small("", 0);
	uint64_t stored, most = GT_SUBBUF_MIN / sizeof(struct gt_record);
	struct seen seen;

	CHECK(writers_and_reader(&want, 8000, &seen, &stored));
	CHECK(seen.records <= stored);
	CHECK(stored - seen.records <= seen.skipped * most);
	CHECK(stored - seen.records >= seen.skipped * (GT_SUBBUF_MIN / RECORD_MAX - 1));
	*skipped += seen.skipped;
	seen__deinit(&seen);
	return true;
}

/* Repeats until the writers were faster. */
static bool test_overwritten(void)
{
	uint64_t skipped = 0;

	for (int i = 0; i < 20 && !skipped; i++)
		CHECK(overwritten(&skipped));
	CHECK(skipped > 0);
	return true;
}

/* One writer, no reader: the last four sub-buffers exist, with the newest records without a gap. */
static bool test_order(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	uint8_t bytes[GT_SUBBUF_MIN];
	struct subbuf copy = { .bytes = bytes };
	uint64_t last, next = 0;
	uint32_t n = 0;

	CHECK(page);
	while (page->subbufs * 5ull > ring(page, 0)->head / GT_SUBBUF_MIN)
		CHECK_EQUAL(emit (fd, 7, n++), 0);
	last = ring(page, 0)->head / GT_SUBBUF_MIN;
	CHECK_EQUAL(subbuf__copy(page, 0, last - page->subbufs, &copy), -1);
	for (uint64_t i = last - page->subbufs + 1; i <= last; i++) {
		CHECK_EQUAL(subbuf__copy(page, 0, i, &copy), 1);
		for (uint32_t at = sizeof(struct gt_subbuf); at < copy.used;) {
			const struct gt_record *rec = (const void *)(bytes + at);
			size_t size = record_size(rec, copy.used - at);

			CHECK(size);
			CHECK(!next || rec->seq == next);
			CHECK_EQUAL(rec->object, 7ull << 32 | rec->seq);
			next = rec->seq + 1;
			at += size;
		}
	}
	CHECK_EQUAL(next, n);
	CHECK_EQUAL(ring(page, 0)->lost, 0);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

/* A record with a time keeps it and its CPU; without one it gets both. */
static bool test_time(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	struct gt_record rec = { .kind = GT_EXEC, .cpu = 77 }, *stored;
	struct gt_abi_emit emit = { .size = sizeof(emit),
				    .record_size = sizeof(rec),
				    .record = (uintptr_t)&rec };
	uint8_t bytes[GT_SUBBUF_MIN];
	struct subbuf copy = { .bytes = bytes };

	CHECK(page);
	CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), 0);
	rec.time = 12345;
	CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), 0);
	CHECK_EQUAL(subbuf__copy(page, 0, 0, &copy), 1);
	stored = (struct gt_record *)(bytes + sizeof(struct gt_subbuf));
	CHECK(stored[0].time > page->created && stored[0].cpu < 77);
	CHECK(stored[1].time == 12345 && stored[1].cpu == 77);
	CHECK(stored[0].seq == 0 && stored[1].seq == 1);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

static short polled(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) < 0 ? -1 : p.revents;
}

static uint64_t tell(int fd)
{
	uint64_t head = 0;
	struct gt_abi_positions positions = { .size = sizeof(positions),
					      .count = 1,
					      .heads = (uintptr_t)&head };

	return call(fd, GT_IOC_POSITIONS, &positions) ? ~0ull : head;
}

static void *write_later(void *arg)
{
	usleep(200000);
	return write_records(arg);
}

static bool test_poll(void)
{
	struct gt_abi_create want = small("", 0);
	struct writer w = { .fd = session(&want), .records = 1000 };
	uint64_t head;

	CHECK_EQUAL(polled(w.fd, 0), 0);
	CHECK_EQUAL(emit (w.fd, 1, 1), 0);
	CHECK_EQUAL(polled(w.fd, 0), 0);
	CHECK(!pthread_create(&w.thread, NULL, write_later, &w));
	CHECK_EQUAL(polled(w.fd, 30000), POLLIN);
	pthread_join(w.thread, NULL);
	CHECK_EQUAL(w.error, 0);
	head = tell(w.fd);
	CHECK(head > GT_SUBBUF_MIN && head != ~0ull);
	CHECK_EQUAL(polled(w.fd, 0), 0);
	CHECK_EQUAL(call(w.fd, GT_IOC_FREEZE, NULL), 0);
	CHECK_EQUAL(polled(w.fd, 0), POLLHUP);
	close(w.fd);
	return true;
}

static void *freeze_later(void *arg)
{
	usleep(200000);
	return (void *)(long)call(*(int *)arg, GT_IOC_FREEZE, NULL);
}

static void *release_later(void *arg)
{
	usleep(200000);
	return (void *)(long)call(*(int *)arg, GT_IOC_RELEASE, NULL);
}

/* poll() and epoll report the end of the session. */
static bool test_hang_up(void)
{
	void *(*const endings[])(void *) = { freeze_later, release_later };

	for (int i = 0; i < 4; i++) {
		struct gt_abi_create want = small("", 0);
		struct epoll_event event = { .events = EPOLLIN };
		int fd = session(&want), waiter = epoll_create1(EPOLL_CLOEXEC);
		pthread_t thread;

		CHECK(!epoll_ctl(waiter, EPOLL_CTL_ADD, fd, &event));
		CHECK(!pthread_create(&thread, NULL, endings[i % 2], &fd));
		if (i < 2)
			CHECK_EQUAL(polled(fd, 30000), POLLHUP);
		else
			CHECK_EQUAL(epoll_wait(waiter, &event, 1, 30000), 1);
		pthread_join(thread, NULL);
		close(fd);
		CHECK_EQUAL(epoll_wait(waiter, &event, 1, 0), 0);
		close(waiter);
	}
	return true;
}

static bool test_frozen(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	uint64_t head, frozen;

	CHECK(page);
	CHECK_EQUAL(emit (fd, 1, 1), 0);
	CHECK_EQUAL(page->frozen, 0);
	CHECK_EQUAL(call(fd, GT_IOC_FREEZE, NULL), 0);
	head = ring(page, 0)->head;
	frozen = page->frozen;
	CHECK(frozen > page->created);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_EQUAL(emit (fd, 1, i), -ESHUTDOWN);
	CHECK_EQUAL(call(fd, GT_IOC_FREEZE, NULL), 0);
	CHECK(page->refused == 5 && ring(page, 0)->head == head && page->frozen == frozen);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

int main(void)
{
	static const struct test tests[] = {
		{ "six writers of one ring: every record arrives once", test_one_ring },
		{ "six writers, a ring for each CPU: every record arrives once", test_ring_each },
		{ "overwritten while read: no torn record, every gap explained", test_overwritten },
		{ "the oldest sub-buffers are overwritten first", test_order },
		{ "a record's time is kept or set", test_time },
		{ "poll() wakes for a complete sub-buffer", test_poll },
		{ "poll() and epoll report the end", test_hang_up },
		{ "a frozen session rejects and counts records", test_frozen },
	};

	return TEST_RUN(tests);
}

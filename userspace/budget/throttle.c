// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the ring buffer of a perf event for records of its throttling: see throttle.h.
 */
#include "budget/throttle.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "lib/log.h"

/* PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE; also long enough for PERF_RECORD_LOST. */
struct throttle_record {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void throttle__open(struct throttle *t, int fd)
{
	void *ring = mmap(NULL, (1 + THROTTLE_PAGES) * page_size(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);

	*t = (struct throttle){ .ring = ring == MAP_FAILED ? NULL : ring };
	if (!t->ring)
		log__debug("throttled CPU samples are not counted: %s", strerror(errno));
}

/* A record may continue at the begin of the ring. */
static void copy(const struct throttle *t, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)t->ring + page_size();
	uint8_t *bytes = to;

	for (size_t i = 0; i < size; i++)
		bytes[i] = data[(at + i) % (THROTTLE_PAGES * page_size())];
}

static void note(struct throttle *t, uint64_t at, const struct perf_event_header *header,
		 struct private_cpu_samples *ret)
{
	struct throttle_record record;
	struct lost_record lost;

	if (header->type == PERF_RECORD_LOST && header->size >= sizeof(lost)) {
		copy(t, at, &lost, sizeof(lost));
		ret->throttles += lost.lost / 2;
		t->since = 0; /* for how long is unknown */
	}
	if (header->size < sizeof(record))
		return;
	copy(t, at, &record, sizeof(record));
	if (header->type == PERF_RECORD_THROTTLE) {
		ret->throttles++;
		t->since = record.time;
	} else if (header->type == PERF_RECORD_UNTHROTTLE && t->since) {
		ret->throttled_ns += record.time > t->since ? record.time - t->since : 0;
		t->since = 0;
	}
}

void throttle__read(struct throttle *t, struct private_cpu_samples *ret)
{
	struct perf_event_mmap_page *page = t->ring;
	struct perf_event_header header;
	uint64_t head, at;

	if (!page)
		return;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (at = page->data_tail; head - at >= sizeof(header); at += header.size) {
		copy(t, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at)
			break;
		note(t, at, &header, ret);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void throttle__close(struct throttle *t)
{
	if (t->ring)
		munmap(t->ring, (1 + THROTTLE_PAGES) * page_size());
	*t = (struct throttle){};
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Rings to memory: see drain.h.
 *
 * The watermark: a record's time is stamped after its slot was reserved. So each record with a time
 * up to T0 lies before the producer position that is read after T0, and once the consumer has
 * passed that position in every ring, all of them have been seen. A slot that is reserved but not
 * yet submitted (its thread was preempted in the probe) stops the consumer, and the watermark
 * stays.
 */
#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "capture/clock.h"
#include "capture/drain.h"
#include "capture/session.h"

struct drain_ring {
	struct drain *drain;
	struct ring *ring;
	unsigned int index;
	unsigned long produced; /* position at T0 */
};

struct drain {
	struct ring_buffer *buffers;
	drain_fn fn;
	void *ctx;
	uint64_t watermark;
	unsigned int n, fill;
	int got; /* records in this run */
	struct drain_ring ring[GT_RINGS_MAX];
};

/* A stack's slot was sized before its depth was known, a text's is of one of two sizes. */
static size_t record_size(const struct gt_record *rec, size_t size)
{
	int payload = gt_payload_size(rec->kind), tail;
	size_t used = sizeof(*rec) + (size_t)payload;

	if (payload < 0 || size < used)
		return size;
	tail = gt_tail_size(rec);
	return tail < 0 || (size_t)tail > size - used ? size : used + (size_t)tail;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct drain_ring *r = ctx;

	int code = 0;

	if (size >= sizeof(struct gt_record))
		code = r->drain->fn(r->drain->ctx, r->index, data, record_size(data, size));
	r->drain->got++;
	/* What came after the mark is for the next run: a fast producer would keep us here for ever. */
	if (!code && (long)(ring__consumer_pos(r->ring) - r->produced) >= 0)
		code = -EAGAIN;
	return code;
}

static int add_ring(struct drain *d, unsigned int index, int fd)
{
	struct drain_ring *r = &d->ring[index];

	r->drain = d;
	r->index = index;
	if (!d->buffers) {
		d->buffers = ring_buffer__new(fd, on_record, r, NULL);
		if (!d->buffers)
			return -errno;
	} else {
		int ret = ring_buffer__add(d->buffers, fd, on_record, r);

		if (ret)
			return ret;
	}
	r->ring = ring_buffer__ring(d->buffers, index);
	return r->ring ? 0 : -EINVAL;
}

int drain__create(struct drain **ret, const struct session *session, drain_fn fn, void *ctx)
{
	struct drain *d = calloc(1, sizeof(*d));
	int code = 0;

	if (!d)
		return -ENOMEM;
	d->fn = fn;
	d->ctx = ctx;
	for (; d->n < session__rings(session) && !code; d->n++)
		code = add_ring(d, d->n, session__ring_fd(session, d->n));
	if (code) {
		drain__destroy(d);
		return code;
	}
	*ret = d;
	return 0;
}

void drain__destroy(struct drain *d)
{
	if (!d)
		return;
	ring_buffer__free(d->buffers);
	free(d);
}

static uint64_t mark(struct drain *d)
{
	uint64_t t0 = clock__now();
	unsigned int i, percent;
	struct drain_ring *r;

	d->fill = 0;
	for (i = 0; i < d->n; i++) {
		r = &d->ring[i];
		r->produced = ring__producer_pos(r->ring);
		percent = (r->produced - ring__consumer_pos(r->ring)) * 100 / ring__size(r->ring);
		if (percent > d->fill)
			d->fill = percent;
	}
	return t0;
}

int drain__run(struct drain *d, uint64_t *ret_watermark)
{
	uint64_t t0 = mark(d);
	unsigned int i;
	int code;

	d->got = 0;
	for (i = 0; i < d->n; i++) {
		code = ring__consume(d->ring[i].ring);
		if (code < 0 && code != -EAGAIN)
			return code;
		if ((long)(ring__consumer_pos(d->ring[i].ring) - d->ring[i].produced) < 0)
			t0 = 0;
	}
	if (t0 > d->watermark)
		d->watermark = t0;
	*ret_watermark = d->watermark;
	return d->got;
}

unsigned int drain__fill(const struct drain *d)
{
	return d->fill;
}

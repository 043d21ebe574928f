// SPDX-License-Identifier: GPL-2.0
/*
 * Consumes the ring buffers: see drain.h.
 *
 * The watermark: the time of a record is taken after its slot was reserved. So each record with a
 * time up to T0 lies before the producer position that is read after T0, and once the consumer has
 * passed that position in every ring, all of them have been seen. A slot that is reserved but not
 * yet submitted, because its thread was preempted in the probe, stops the consumer and so holds the
 * watermark back.
 */
#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "capture/drain.h"
#include "capture/probes.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"

struct drain_ring {
	struct drain *drain;
	struct ring *ring;
	unsigned int index;
	unsigned long produced; /* position at T0 */
};

struct drain {
	struct ring_buffer *buffers;
	struct inline_probes *inl;
	drain_fn fn;
	void *ctx;
	uint64_t watermark;
	unsigned int n, fill;
	int got; /* records in this run */
	struct drain_ring ring[GT_RINGS_MAX];
};

/*
 * Bytes that the record uses of its slot: that of a stack was reserved before its depth was known,
 * that of a text has one of two sizes.
 */
static size_t record_size(const struct gt_record *rec, size_t size)
{
	int payload = gt_payload_size(rec->kind), tail;
	size_t used = sizeof(*rec) + (size_t)payload;

	if (payload < 0 || size < used)
		return size;
	tail = gt_tail_size(rec);
	return tail < 0 || (size_t)tail > size - used ? size : used + (size_t)tail;
}

/* Callback of libbpf. */
static int handle_sample(void *ctx, void *data, size_t size)
{
	struct drain_ring *r = ctx;
	int err = 0;

	if (size >= sizeof(struct gt_record))
		err = r->drain->fn(r->drain->ctx, r->index, data, record_size(data, size));
	r->drain->got++;
	/* Stop at the position of T0: a fast producer would keep this loop running for ever. */
	if (!err && (long)(ring__consumer_pos(r->ring) - r->produced) >= 0)
		err = -EAGAIN;
	return err;
}

static int add_ring(struct drain *d, unsigned int index, int fd)
{
	struct drain_ring *r = &d->ring[index];
	int err = 0;

	r->drain = d;
	r->index = index;
	if (d->buffers)
		err = ring_buffer__add(d->buffers, fd, handle_sample, r);
	else
		d->buffers = ring_buffer__new(fd, handle_sample, r, NULL);
	if (!d->buffers)
		err = -errno;
	if (err)
		return err;
	r->ring = ring_buffer__ring(d->buffers, index);
	return r->ring ? 0 : -EINVAL;
}

int drain__create(struct drain **ret, const struct probes *probes, struct inline_probes *inl,
		  drain_fn fn, void *ctx)
{
	struct drain *d = calloc(1, sizeof(*d));
	int err = 0;

	if (!d)
		return -ENOMEM;
	d->inl = inl;
	d->fn = fn;
	d->ctx = ctx;
	for (; d->n < probes__rings(probes) && !err; d->n++)
		err = add_ring(d, d->n, probes__ring_fd(probes, d->n));
	if (err) {
		drain__destroy(d);
		return err;
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
	uint64_t t0 = d->inl ? inline_probes__now(d->inl) : clock__now();
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
	percent = d->inl ? inline_probes__fill(d->inl) : 0;
	if (percent > d->fill)
		d->fill = percent;
	return t0;
}

/* Callback of the inline probes. */
static int handle_inline(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct drain *d = ctx;

	d->got++;
	return d->fn(d->ctx, d->n + ring, rec, size);
}

int drain__run(struct drain *d, uint64_t *ret_watermark)
{
	uint64_t now = mark(d), t0 = now;
	bool complete;
	int err;

	d->got = 0;
	for (unsigned int i = 0; i < d->n; i++) {
		err = ring__consume(d->ring[i].ring);
		if (err < 0 && err != -EAGAIN)
			return err;
		if ((long)(ring__consumer_pos(d->ring[i].ring) - d->ring[i].produced) < 0)
			t0 = 0;
	}
	if (d->inl) {
		err = inline_probes__drain(d->inl, now, handle_inline, d, &complete);
		if (err)
			return err;
		if (!complete)
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

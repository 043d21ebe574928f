// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary events and batches of experiment AllocFree. What is live at the end is the sum of the rows
 * and does not exceed what began; nothing is kept that was not allocated.
 */
#include <stdlib.h>

#include "heap/heap.h"
#include "lib/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool so)
{
	if (!so)
		abort();
}

/* Numbers near each other, so that events meet the same spans; or anything. */
static uint64_t take_number(struct buf *b)
{
	uint8_t n = buf__u8(b);

	return n < 250 ? n : buf__uleb(b);
}

static void check(struct heap *h, uint64_t begun)
{
	const struct heap_result *r;
	uint64_t rows = 0;

	r = heap__result(h);
	require(r->total.live.objects == r->end.live.objects);
	require(r->total.live.bytes == r->end.live.bytes);
	require(r->end.live.objects <= begun && r->total.allocated.objects <= begun);
	require(r->total.kept.objects <= r->total.allocated.objects);
	require(r->end.spans.objects <= begun && r->end.stacks.objects <= begun);
	require(r->curve->n >= 1 && r->curve->n <= HEAP_POINTS);
	for (size_t i = 0; i < r->nrows; i++) {
		rows += r->rows[i].allocated.objects;
		heap__name(h, &r->rows[i]);
	}
	require(rows == r->total.allocated.objects);
}

static uint64_t feed(struct heap *h, struct buf *b, const struct dictionary *d, int64_t *time)
{
	const struct trace_sync sync = { .n = 1 };
	struct trace_event ev = trace_event__sync(*time, &sync, d);
	uint64_t n = 0;

	require(!heap__event(h, &ev));
	while (buf__left(b) && !b->bad) {
		ev = (struct trace_event){ .m = TRACE_NO_M, .p = TRACE_NO_P, .g = TRACE_NO_G };
		ev.dictionary = d;
		ev.type = EV_SPAN + buf__u8(b) % (EV_END - EV_SPAN);
		ev.time = ++*time;
		ev.arg[0] = take_number(b);
		ev.arg[1] = take_number(b);
		ev.arg[2] = take_number(b);
		if (ev.arg[0] == 100) /* objects are smaller than pages */
			ev.arg[0] = 8192 / 8 * ev.arg[1];
		require(!heap__event(h, &ev));
		n++;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	uint8_t options = buf__u8(&b), len = buf__u8(&b);
	const void *batch = buf__take(&b, len);
	struct heap_opts opts = { .by = options % HEAP_KEYS, .sort = options / 4 % HEAP_SORTS };
	struct dictionary d;
	int64_t time = 1;
	struct heap *h;
	uint64_t n;

	if (!batch)
		return 0;
	dictionary__init(&d);
	h = heap__create(&opts);
	require(h && !dictionary__add_experiment(&d, batch, len));
	if (options & 64)
		heap__set_window(h, 10, 50);
	n = feed(h, &b, &d, &time);
	heap__finish(h, options & 64 && time > 50 ? 50 : time);
	check(h, n);
	heap__destroy(h);
	dictionary__deinit(&d);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations and the live heap, by made events: sizes of slots, shared slots, the window, missing and
 * invalid events. check/alloc.sh compares the figures of programs.
 */
#include "unit/test.h"
#include "heap/heap.h"

enum { TICKET = 1, STAMP, TYPES };

/* span classes: size class times 2, plus 1 without pointers; then an event's kind, 0, below */
#define CLASS(class, noscan) (((class) << 1 | (noscan)) << 1)
#define SLOTS_64	     CLASS(6, 0)
#define SLOTS_TINY	     CLASS(2, 1)
#define LARGE		     CLASS(0, 0)
#define OF_STACKS	     1

#define PAGE(n)		     ((n) * 8192 / 8) /* the id of an object at its begin */

static struct dictionary dictionary;
static struct heap *h;
static int64_t now;

/* Records of id, address, size, bytes with pointers, length of the name, name; then units. */
static const char types[] = "\0\1\1\100\10\6ticket\2\1\30\0\5stamp";
static const char units[] = "\1\0\200\100\10\200\20";

static void begin(enum heap_key by, int64_t from, int64_t to)
{
	const struct trace_sync sync = { .n = 1 };
	struct trace_event ev;

	dictionary__init(&dictionary);
	assert_int_equal(dictionary__add_experiment(&dictionary, types, sizeof(types) - 1), 0);
	assert_int_equal(dictionary__add_experiment(&dictionary, units, sizeof(units) - 1), 0);
	h = heap__create(&(struct heap_opts){ .by = by });
	assert_non_null(h);
	heap__set_window(h, from, to);
	now = 0;
	ev = trace_event__sync(now, &sync, &dictionary);
	assert_int_equal(heap__event(h, &ev), 0);
}

static int try_event(unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = {
		.time = ++now,
		.type = (uint8_t)type,
		.m = TRACE_NO_M,
		.p = TRACE_NO_P,
		.g = TRACE_NO_G,
		.arg = { a, b, c },
		.dictionary = &dictionary,
	};

	return heap__event(h, &ev);
}

static void event(unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	assert_int_equal(try_event(type, a, b, c), 0);
}

static const char *sum_text(char *to, const struct heap_row *r)
{
	snprintf(to, 128,
		 "%" PRIu64 "/%" PRIu64 " -%" PRIu64 "/%" PRIu64 " kept %" PRIu64 "/%" PRIu64
		 " live %" PRIu64 "/%" PRIu64,
		 r->allocated.objects, r->allocated.bytes, r->freed.objects, r->freed.bytes,
		 r->kept.objects, r->kept.bytes, r->live.objects, r->live.bytes);
	return to;
}

static const struct heap_result *finish(const char *want)
{
	char got[128];

	heap__finish(h, now);
	assert_string_equal(sum_text(got, &heap__result(h)->total), want);
	assert_int_equal(heap__result(h)->end.live.objects, heap__result(h)->total.live.objects);
	assert_int_equal(heap__result(h)->end.live.bytes, heap__result(h)->total.live.bytes);
	return heap__result(h);
}

static void expect_row(size_t i, const char *name, const char *want)
{
	const struct heap_row *row = &heap__result(h)->rows[i];
	struct trace_string s = heap__name(h, row);
	char got[128];

	assert_true(i < heap__result(h)->nrows);
	assert_true(trace_string__equals(s, name));
	assert_string_equal(sum_text(got, row), want);
}

static void end(void)
{
	heap__destroy(h);
	dictionary__deinit(&dictionary);
}

/* An object behind a header lies within its slot; a large one takes its whole span. */
TEST(sizes_are_those_of_slots)
{
	begin(HEAP_BY_TYPE, INT64_MIN, INT64_MAX);
	event(EV_SPAN, 5, 1, SLOTS_64);
	event(EV_HEAP_OBJECT, PAGE(5), 0, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(5) + 8 + 1, TICKET, 0);
	event(EV_SPAN_ALLOC, 6, 3, LARGE);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(6), STAMP, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(5), 0, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(5) + 8, 0, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(5) + 8, 0, 0);
	finish("2/24640 -2/128 kept 1/24576 live 1/24576");
	assert_int_equal(heap__result(h)->nrows, 3);
	expect_row(0, "stamp", "1/24576 -0/0 kept 1/24576 live 1/24576");
	expect_row(1, "ticket", "1/64 -1/64 kept 0/0 live 0/0");
	expect_row(2, "", "0/0 -1/64 kept 0/0 live 0/0");
	assert_int_equal(heap__result(h)->end.spans.objects, 2);
	assert_int_equal(heap__result(h)->end.spans.bytes, 4 * 8192);
	assert_int_equal(heap__result(h)->peak.live.bytes, 64 + 64 + 24576);
	end();
}

TEST(tiny_objects_share_slots)
{
	begin(HEAP_BY_SIZE, INT64_MIN, INT64_MAX);
	event(EV_SPAN_ALLOC, 1, 1, SLOTS_TINY);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1), 0, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1) + 1, 0, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1) + 2, 0, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(1), 0, 0);
	finish("3/32 -1/16 kept 1/16 live 1/16");
	expect_row(0, "", "3/32 -1/16 kept 1/16 live 1/16");
	assert_int_equal(heap__result(h)->rows[0].key, 16);
	end();
}

/* Kept is what was allocated in the window and lives at the end of the trace. */
TEST(window)
{
	begin(HEAP_BY_TYPE, 4, 8);
	event(EV_SPAN_ALLOC, 0, 1, SLOTS_64);
	event(EV_HEAP_OBJECT_ALLOC, 0, TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, 8, TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, 16, TICKET, 0); /* 4 */
	event(EV_HEAP_OBJECT_ALLOC, 24, TICKET, 0);
	event(EV_HEAP_OBJECT_FREE, 0, 0, 0);
	event(EV_HEAP_OBJECT_ALLOC, 32, TICKET, 0); /* 7 */
	event(EV_HEAP_OBJECT_FREE, 24, 0, 0);
	event(EV_HEAP_OBJECT_FREE, 8, 0, 0);
	event(EV_HEAP_OBJECT_ALLOC, 40, TICKET, 0);
	now = 8;
	finish("3/192 -1/64 kept 2/128 live 4/256");
	assert_int_equal(heap__result(h)->start.live.objects, 2);
	assert_int_equal(heap__result(h)->start.time, 4);
	end();
}

/* A slot that is allocated again, and a span that is freed or overlapped by another, ends what it held. */
TEST(missing_frees)
{
	begin(HEAP_BY_TYPE, INT64_MIN, INT64_MAX);
	event(EV_SPAN_ALLOC, 3, 1, SLOTS_64);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(3), TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(3), STAMP, 0);
	event(EV_SPAN_ALLOC, 3, 1, SLOTS_64);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(3), TICKET, 0);
	event(EV_SPAN_FREE, 3, 0, 0);
	event(EV_SPAN_FREE, 3, 0, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(3), 0, 0);
	finish("3/192 -3/192 kept 0/0 live 0/0");
	assert_int_equal(heap__result(h)->end.spans.objects, 0);
	end();
}

TEST(objects_without_a_span)
{
	begin(HEAP_BY_TYPE, INT64_MIN, INT64_MAX);
	event(EV_SPAN_ALLOC, 3, 1, OF_STACKS);
	event(EV_SPAN_ALLOC, 4, 17, SLOTS_64);	   /* has too many pages */
	event(EV_SPAN_ALLOC, 40, 1, CLASS(68, 0)); /* no such class */
	event(EV_SPAN_ALLOC, 50, 9, SLOTS_TINY);   /* too many slots */
	event(EV_HEAP_OBJECT_ALLOC, PAGE(3), TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(4), TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(40), TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(50), TICKET, 0);
	event(EV_HEAP_OBJECT_ALLOC, UINT64_MAX, UINT64_MAX, 0);
	event(EV_HEAP_OBJECT_FREE, PAGE(3), 0, 0);
	finish("5/0 -0/0 kept 0/0 live 0/0");
	assert_int_equal(heap__result(h)->unsized, 5);
	end();
}

TEST(stacks)
{
	begin(HEAP_BY_FUNCTION, INT64_MIN, INT64_MAX);
	event(EV_GOROUTINE_STACK, 1, 12, 0);
	event(EV_GOROUTINE_STACK, UINT64_MAX, 0, 0); /* of a goroutine that has ended */
	event(EV_GOROUTINE_STACK_ALLOC, 2, 13, 0);
	event(EV_GOROUTINE_STACK_ALLOC, 2, 14, 0);
	event(EV_GOROUTINE_STACK_ALLOC, 3, UINT64_MAX, 0);
	event(EV_GOROUTINE_STACK_FREE, 1, 0, 0);
	event(EV_GOROUTINE_STACK_FREE, 1, 0, 0);
	finish("0/0 -0/0 kept 0/0 live 0/0");
	assert_int_equal(heap__result(h)->end.stacks.objects, 1);
	assert_int_equal(heap__result(h)->end.stacks.bytes, 8192);
	assert_int_equal(heap__result(h)->start.stacks.bytes, 2048);
	end();
}

/* A span at the end of the address space, ids that wrap, and all bits set. */
TEST(extreme_ids)
{
	static const uint64_t ids[] = {
		0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 8192, UINT64_MAX / 8, 1ull << 63
	};
	const size_t n = sizeof(ids) / sizeof(*ids);

	begin(HEAP_BY_SIZE, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < n * n * n; i++)
		for (unsigned int type = EV_SPAN; type < EV_END; type++)
			event(type, ids[i % n], ids[i / n % n], ids[i / n / n]);
	heap__finish(h, now);
	end();
}

/* The points are regular, at most HEAP_POINTS, and none is missing. */
TEST(curve)
{
	static const int64_t lengths[] = { 0, 999, 1000, 64000, 1000000007, INT64_MAX };
	const struct heap_curve *c;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		begin(HEAP_BY_TYPE, INT64_MIN, INT64_MAX);
		event(EV_SPAN_ALLOC, 0, 1, SLOTS_64);
		event(EV_HEAP_OBJECT_ALLOC, 0, 0, 0);
		now = lengths[i] == INT64_MAX ? INT64_MAX : lengths[i] + 1;
		heap__finish(h, now);
		c = heap__result(h)->curve;
		assert_in_range(c->n, 1, HEAP_POINTS);
		assert_int_equal(c->at[0].time, 1);
		assert_int_equal(c->at[0].live.objects, 0);
		for (size_t k = 1; k < c->n; k++) {
			assert_int_equal(c->at[k].time - c->at[k - 1].time, c->step);
			assert_int_equal(c->at[k].live.objects, 1);
		}
		if (lengths[i] < INT64_MAX / 2)
			assert_int_equal((uint64_t)lengths[i] / c->step, c->n - 1);
		end();
	}
}

/* Records that do not fit, and units that are none, are ignored; the types before them are known. */
TEST(invalid_batches)
{
	static const char cut[] = "\0\1\1\1\1\4name\2\1\1\1\177x", wrong[] = "\1\0\3\10\1";
	const struct trace_sync sync = { .n = 2 };
	struct trace_event ev;

	begin(HEAP_BY_TYPE, INT64_MIN, INT64_MAX);
	dictionary__clear(&dictionary);
	assert_int_equal(dictionary__add_experiment(&dictionary, cut, sizeof(cut) - 1), 0);
	assert_int_equal(dictionary__add_experiment(&dictionary, wrong, sizeof(wrong) - 1), 0);
	assert_int_equal(dictionary__add_experiment(&dictionary, "\1\200", 2), 0);
	assert_int_equal(dictionary__add_experiment(&dictionary, "\2", 1), 0);
	assert_int_equal(dictionary__add_experiment(&dictionary, "", 0), 0);
	ev = trace_event__sync(now, &sync, &dictionary);
	assert_int_equal(heap__event(h, &ev), 0);
	event(EV_SPAN_ALLOC, 1, 1, SLOTS_64);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1), 1, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1) + 8, 2, 0);
	event(EV_HEAP_OBJECT_ALLOC, PAGE(1) + 16, 2, 0);
	finish("3/192 -0/0 kept 3/192 live 3/192");
	expect_row(0, "", "2/128 -0/0 kept 2/128 live 2/128");
	expect_row(1, "name", "1/64 -0/0 kept 1/64 live 1/64");
	end();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The encodings of selftests/encoding: the bytes of some events, events with extreme numbers through
 * every decoder, invalid and truncated bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "encoding/encoding.h"

typedef bool (*take_fn)(struct buf *b, struct event *e, const uint8_t count[256]);
typedef int (*put_fn)(struct outbuf *o, const struct event *e, const uint8_t count[256]);

static uint8_t count[256];

static bool take_words(struct buf *b, struct event *e, const uint8_t n[256])
{
	return words__take(b, e, n);
}

static bool take_groups(struct buf *b, struct event *e, const uint8_t n[256])
{
	return groups__take(b, e, n);
}

#ifdef HAVE_VECTORS
static VECTORS bool take_words_vector(struct buf *b, struct event *e, const uint8_t n[256])
{
	return words__take_vector(b, e, n);
}

static VECTORS bool take_groups_vector(struct buf *b, struct event *e, const uint8_t n[256])
{
	return groups__take_vector(b, e, n);
}
#else
#define take_words_vector  take_words
#define take_groups_vector take_groups
#endif

#define TAKES 3

static const struct encoding {
	put_fn put;
	take_fn take[TAKES]; /* the last one: with vectors */
} words = { words__put, { words__take_slow, take_words, take_words_vector } },
  groups = { groups__put, { groups__take_slow, take_groups, take_groups_vector } };

static unsigned int takes; /* number of decoders that work on this CPU */

static int setup(void **state)
{
	const struct ev_spec *spec;

	for (unsigned int type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		if (spec && spec->timed)
			count[type] = spec->nargs;
	}
	takes = TAKES;
#ifdef HAVE_VECTORS
	groups__init();
	if (!vectors_work())
		takes--;
#endif
	return 0;
}

/* ---- bytes ---- */

static void assert_bytes(const struct encoding *encoding, struct event e, const char *bytes,
			 size_t len)
{
	struct outbuf o = {};

	assert_int_equal(encoding->put(&o, &e, count), 0);
	assert_int_equal(o.len, len);
	assert_memory_equal(o.data, bytes, len);
	outbuf__deinit(&o);
}

#define ASSERT_BYTES(encoding, e, bytes) assert_bytes(encoding, e, bytes, sizeof(bytes) - 1)

static void test_bytes(void **state)
{
	struct event create = { { 5, 7, 0x100, 0x12345 }, EV_GO_CREATE };
	struct event status = { { 0x1000000, UINT64_MAX, 2, 3 }, EV_GO_STATUS };
	struct event late = { { 0x0807060504030201 }, EV_GC_ACTIVE };
	struct event log = { { 1, 2, 0, 3, 4 }, EV_USER_LOG };

	late.number[1] = 9;
	ASSERT_BYTES(&words, create,
		     "\x0e\5\0\0"
		     "\7\0\0\0"
		     "\0\1\0\0"
		     "\x45\x23\1\0");
	ASSERT_BYTES(&groups, create,
		     "\x0e\xe5"
		     "\5"
		     "\7"
		     "\0\1"
		     "\x45\x23\1\0");
	ASSERT_BYTES(&words, status,
		     "\xff\3\0\0"
		     "\1\0\0\0"
		     "\xff\xff\xff\xff"
		     "\x19\0\0\0"
		     "\xff\xff\xff\xff"
		     "\2\0\0\0"
		     "\3\0\0\0");
	ASSERT_BYTES(&groups, status,
		     "\xff\2"
		     "\xff\xff\xff\xff"
		     "\x19\x5f"
		     "\0\0\0\1"
		     "\xff\xff\xff\xff"
		     "\2"
		     "\3");
	ASSERT_BYTES(&words, late,
		     "\xff\1\x08\0"
		     "\4\5\6\7"
		     "\x1c\1\2\3"
		     "\x09\0\0\0");
	ASSERT_BYTES(&groups, log,
		     "\x2c\x45"
		     "\1"
		     "\2"
		     "\3"
		     "\4\0\0\0");
}

/* ---- round trips ---- */

static uint64_t random_number(uint64_t *seed)
{
	static const uint64_t extreme[] = {
		0,	    1,		0xff,
		0x100,	    0xffff,	0x10000,
		0xffffff,   0x1000000,	0x7fffffff,
		0xffffffff, 1ull << 32, (1ull << 56) - 1,
		1ull << 56, UINT64_MAX, UINT64_MAX - 0xffffffff,
		1ull << 63,
	};
	unsigned int choice;

	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	choice = *seed >> 59;
	if (choice < sizeof(extreme) / sizeof(extreme[0]))
		return extreme[choice];
	return (*seed << 7 ^ *seed >> 31) >> (*seed >> 40) % 64;
}

#define EVENTS 20000

static void make_events(struct event *e)
{
	uint64_t seed = 1;
	uint8_t type = 0;

	for (unsigned int i = 0; i < EVENTS; i++) {
		do
			type++;
		while (!count[type]);
		e[i].type = type;
		for (unsigned int n = 0; n < EV_ARGS_MAX; n++)
			e[i].number[n] = random_number(&seed);
	}
}

static void assert_event(const struct event *e, const struct event *expected)
{
	assert_int_equal(e->type, expected->type);
	for (unsigned int i = 0; i < count[e->type]; i++)
		assert_true(e->number[i] == expected->number[i]);
}

static void round_trip(const struct encoding *encoding)
{
	struct event *events = calloc(EVENTS, sizeof(*events)), e;
	bool seen[256] = {};
	struct outbuf o = {};
	struct buf b;

	assert_non_null(events);
	make_events(events);
	for (unsigned int i = 0; i < EVENTS; i++) {
		assert_int_equal(encoding->put(&o, &events[i], count), 0);
		seen[events[i].type] = true;
	}
	for (unsigned int type = 0; type < 256; type++)
		assert_int_equal(seen[type], count[type] > 0);
	for (unsigned int t = 0; t < takes; t++) {
		b = buf__make(o.data, o.len);
		for (unsigned int i = 0; i < EVENTS; i++) {
			assert_true(encoding->take[t](&b, &e, count));
			assert_event(&e, &events[i]);
		}
		assert_int_equal(buf__left(&b), 0);
		assert_false(b.bad);
	}
	outbuf__deinit(&o);
	free(events);
}

static void test_words(void **state)
{
	round_trip(&words);
}

static void test_groups(void **state)
{
	round_trip(&groups);
}

/* ---- invalid bytes ---- */

/* The bytes are copied, so that a sanitizer detects an access outside of them. */
static bool is_taken(take_fn take, const void *bytes, size_t len)
{
	void *copy = malloc(len ?: 1);
	struct event e;
	struct buf b;
	bool taken;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	b = buf__make(copy, len);
	taken = take(&b, &e, count);
	assert_int_equal(taken, !b.bad);
	free(copy);
	return taken;
}

static void assert_invalid(const struct encoding *encoding, const char *bytes, size_t len)
{
	char padded[64] = {};

	for (unsigned int t = 0; t < takes; t++) {
		assert_false(is_taken(encoding->take[t], bytes, len));
		memcpy(padded, bytes, len);
		assert_false(is_taken(encoding->take[t], padded, sizeof(padded)));
	}
}

#define ASSERT_INVALID(encoding, bytes) assert_invalid(encoding, bytes, sizeof(bytes) - 1)

static void test_invalid(void **state)
{
	ASSERT_INVALID(&words, "\0\0\0\0");   /* no event */
	ASSERT_INVALID(&words, "\1\0\0\0");   /* not a timed event */
	ASSERT_INVALID(&words, "\xfe\0\0\0"); /* an unknown type */
	ASSERT_INVALID(&words, "\xff\0\0\0"
			       "\x1c\0\0\0"
			       "\0\0\0\0"); /* no bit in the mask */
	ASSERT_INVALID(&words, "\xff\x21\0\0"
			       "\0\0\0\0"
			       "\x1c\0\0\0"
			       "\0\0\0\0"); /* bit 13 */
	ASSERT_INVALID(&words, "\xff\1\0\1"
			       "\0\0\0\0"
			       "\x1c\0\0\0"
			       "\0\0\0\0"); /* bit 24 */
	ASSERT_INVALID(&words, "\xff\4\0\0"
			       "\0\0\0\0"
			       "\x1c\0\0\0"
			       "\0\0\0\0"); /* 2 numbers */
	ASSERT_INVALID(&words, "\xff\1\0\0"
			       "\0\0\0\0"
			       "\xff\1\0\0"
			       "\0\0\0\0"
			       "\x1c\0\0\0"
			       "\0\0\0\0");
	ASSERT_INVALID(&groups, "\0\0");
	ASSERT_INVALID(&groups, "\1\0");
	ASSERT_INVALID(&groups, "\xfe\0");
	ASSERT_INVALID(&groups, "\xff\0\x1c\0");
	ASSERT_INVALID(&groups, "\xff\4\0\0\0\0\x1c\0");
	ASSERT_INVALID(&groups, "\xff\x20\0\0\0\0\x2c\0\0\0\0\0"); /* bit 5 */
	ASSERT_INVALID(&groups, "\xff\1\0\0\0\0\xff\1\0\0\0\0\x1c\0");
}

static void test_truncated(void **state)
{
	static const struct encoding *const all[] = { &words, &groups };
	struct event e = { { UINT64_MAX, UINT64_MAX, 1, UINT64_MAX, 1ull << 40 }, EV_USER_LOG };
	struct outbuf o;

	for (unsigned int i = 0; i < 2; i++) {
		o = (struct outbuf){};
		assert_int_equal(all[i]->put(&o, &e, count), 0);
		for (unsigned int t = 0; t < takes; t++) {
			for (size_t len = 0; len < o.len; len++)
				assert_false(is_taken(all[i]->take[t], o.data, len));
			assert_true(is_taken(all[i]->take[t], o.data, o.len));
		}
		outbuf__deinit(&o);
	}
}

/* All decoders agree on any bytes. */
static void test_random(void **state)
{
	static const struct encoding *const all[] = { &words, &groups };
	unsigned char bytes[48];
	uint64_t seed = 7;
	bool taken;

	for (unsigned int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)random_number(&seed);
		bytes[0] = round % 3 ? bytes[0] : ESCAPE;
		for (unsigned int i = 0; i < 2; i++) {
			taken = is_taken(all[i]->take[0], bytes, round % sizeof(bytes));
			for (unsigned int t = 1; t < takes; t++)
				assert_int_equal(taken, is_taken(all[i]->take[t], bytes,
								 round % sizeof(bytes)));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	  cmocka_unit_test(test_words),
		cmocka_unit_test(test_groups),	  cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_truncated), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

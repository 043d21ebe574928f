// SPDX-License-Identifier: GPL-2.0
/* Tests of the private data about why goroutines wait: what is written is read again. */
#include "unit/test.h"
#include "format/encode.h"
#include "format/parked_read.h"
#include "format/private.h"
#include "reader/semantics.h"
#include "writer/private_parked.h"
#include "writer/private_write.h"
#include "writer/writer.h"

static struct dictionary d;
static uint64_t strings;

struct writer {
	int unused;
};

int writer__private(struct writer *w, const void *data, size_t len)
{
	return dictionary__add_string(&d, ++strings, data, len);
}

static int begin(void **state)
{
	dictionary__init(&d);
	strings = 0;
	return 0;
}

static int end(void **state)
{
	dictionary__deinit(&d);
	return 0;
}

FIXTURE(begin, end)

static const char *const reasons[] = { "chan receive", "network", "sync.(*Cond).Wait" };

static struct parked_record record_of(unsigned int n)
{
	return (struct parked_record){ .reasons = reasons, .n = n };
}

static void expect_reason(uint64_t goid, const char *text)
{
	struct trace_string reason = parked_list__reason(&d.parked, goid);

	assert_int_equal(reason.len, strlen(text));
	assert_memory_equal(reason.data, text, reason.len);
}

TEST(reasons_of_goroutines)
{
	struct parked_record r = record_of(3);

	assert_int_equal(private__parked(NULL, &r, 5, 1, 0), 0);
	assert_int_equal(private__parked(NULL, &r, 6, 0, 1000), 0);
	assert_int_equal(private__parked(NULL, &r, UINT64_MAX, 2, UINT64_MAX), 0);
	assert_int_equal(private__parked_end(NULL, &r), 0);
	parked_record__deinit(&r);
	assert_int_equal(parked_list__load(&d), 0);
	expect_reason(0, "");
	expect_reason(4, "");
	expect_reason(5, "network");
	expect_reason(6, "chan receive");
	expect_reason(7, "");
	expect_reason(UINT64_MAX, "sync.(*Cond).Wait");
	dictionary__clear(&d);
	expect_reason(5, "");
}

/* Without goroutines there is no record. */
TEST(none)
{
	struct parked_record r = record_of(3);

	assert_int_equal(private__parked_end(NULL, &r), 0);
	parked_record__deinit(&r);
	assert_int_equal(strings, 0);
	assert_int_equal(parked_list__load(&d), 0);
	expect_reason(1, "");
}

/* More than a record has room for. */
TEST(many)
{
	enum { MANY = 300000 };
	struct parked_record r = record_of(2);
	struct private_reader in;
	struct private_record record;
	unsigned int n = 0;

	for (uint64_t i = 1; i <= MANY; i++)
		assert_int_equal(private__parked(NULL, &r, i * 3, i % 2, i), 0);
	assert_int_equal(private__parked_end(NULL, &r), 0);
	parked_record__deinit(&r);
	private_reader__init(&in, &d);
	for (; private_reader__next(&in, &record) > 0; n++)
		assert_in_range(buf__left(&record.data), 1, PARKED_RECORD_BYTES + 100);
	private_reader__deinit(&in);
	assert_in_range(n, 3, 10);
	assert_int_equal(parked_list__load(&d), 0);
	assert_int_equal(d.parked.n, MANY);
	assert_int_equal(d.parked.ntexts, 2);
	for (uint64_t i = 1; i <= MANY; i++)
		expect_reason(i * 3, reasons[i % 2]);
	expect_reason(4, "");
}

/* What follows an invalid byte is ignored. */
TEST(invalid)
{
	static const struct {
		const char *bytes;
		size_t len, entries;
	} bad[] = {
		{ "", 0, 0 },
		{ "\x01", 1, 0 },
		{ "\x01\x05"
		  "abc",
		  5, 0 },
		{ "\x01\x3d", 2, 0 },
		{ "\xff\xff\x7f", 3, 0 },
		{ "\x00\x05\x00\x00", 4, 0 },
		{ "\x01\x01"
		  "a"
		  "\x05\x01\x00",
		  6, 0 },
		{ "\x01\x01"
		  "a"
		  "\x05\x00",
		  5, 0 },
		{ "\x01\x01"
		  "a"
		  "\x05\x00\x00\x00\x00\x00",
		  9, 1 },
		{ "\x01\x01"
		  "a"
		  "\x05\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00",
		  18, 1 },
		{ "\x01\x01"
		  "a"
		  "\x05\x00\x00\x01\x00\x00\x80",
		  10, 2 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(NULL);
		assert_int_equal(private__record(NULL, PRIVATE_PARKED, bad[i].bytes, bad[i].len),
				 0);
		assert_int_equal(parked_list__load(&d), 0);
		assert_int_equal(d.parked.n, bad[i].entries);
		if (bad[i].entries)
			expect_reason(5, "a");
		end(NULL);
	}
	begin(NULL);
}

/* Of more different texts than PARKED_TEXTS_MAX, the rest is left out. */
TEST(many_texts)
{
	for (unsigned int i = 0; i < 300; i++) {
		uint8_t bytes[] = {
			1, 2, (uint8_t)('a' + i / 26), (uint8_t)('a' + i % 26), 0, 0, 0
		};
		uint8_t *p = leb__put(bytes + 4, 1);

		p[0] = p[1] = 0;
		assert_int_equal(private__record(NULL, PRIVATE_PARKED, bytes, sizeof(bytes)), 0);
	}
	assert_int_equal(parked_list__load(&d), 0);
	assert_int_equal(d.parked.ntexts, PARKED_TEXTS_MAX);
	assert_int_equal(d.parked.n, PARKED_TEXTS_MAX);
}

/* Only a first state of waiting gets a reason. */
TEST(statuses)
{
	struct parked_record r = record_of(2);
	struct trace_event ev = { .type = EV_GO_STATUS,
				  .dictionary = &d,
				  .arg = { 5, 0, GO_WAITING } };
	struct semantics m;

	assert_int_equal(private__parked(NULL, &r, 5, 1, 0), 0);
	assert_int_equal(private__parked_end(NULL, &r), 0);
	parked_record__deinit(&r);
	assert_int_equal(parked_list__load(&d), 0);
	ev.old = GO_STATE_UNDETERMINED;
	semantics__of(&ev, &m);
	assert_int_equal(m.name.len, 0);
	m.from = GO_STATE_UNDETERMINED;
	m.to = GO_STATE_WAITING;
	semantics__add_reason(&ev, &m);
	assert_int_equal(m.name.len, 7);
	m.name.len = 0;
	m.from = GO_STATE_WAITING;
	semantics__add_reason(&ev, &m);
	assert_int_equal(m.name.len, 0);
	m.from = GO_STATE_UNDETERMINED;
	m.to = GO_STATE_RUNNABLE;
	semantics__add_reason(&ev, &m);
	assert_int_equal(m.name.len, 0);
}

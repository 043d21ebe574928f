// SPDX-License-Identifier: GPL-2.0
/*
 * Private data read from the strings of a generation: our own, and corrupt data.
 */
#include "unit/test.h"
#include "format/describe.h"
#include "format/private_read.h"
#include "unit/writer_fixture.h"
#include "writer/private_write.h"

static int setup(void **state)
{
	start(25, 1);
	ok(writer__open(x.w, 1000, 2000));
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	return 0;
}

static void assert_string(struct trace_string s, const char *expected, size_t len)
{
	assert_int_equal(s.len, len);
	assert_memory_equal(s.data, expected, len);
}

TEST_WITH(reads_what_was_written, setup, stop)
{
	static const struct private_loss losses[] = { { 1, 5, 100, 250 },
						      { 50, UINT64_MAX, 7, UINT64_MAX } };
	static const char command[] = "/bin/x\0-p";
	struct private_meta m = { .tool = "gotrace-bpf 0.1", .command = command, .command_len = 9 };
	struct dictionary dictionary;
	struct private_reader r;
	struct private_record record;
	struct private_pair pair;
	struct private_loss loss;
	struct private_ticks ticks;

	private__ticks(x.w, 64, 123456789012, 1757300000000000000);
	private__record(x.w, PRIVATE_KIND_END, "of a later version", 18);
	private__meta(x.w, &m);
	private__losses(x.w, losses, 2);
	dictionary = dictionary_of_file();
	private_reader__init(&r, &dictionary);

	assert_int_equal(private_reader__next(&r, &record), 1);
	assert_int_equal(record.kind, PRIVATE_TICKS);
	assert_true(private_read__ticks(&record.data, &ticks));
	assert_int_equal(ticks.tick_ns, 64);
	assert_int_equal(ticks.start_ns, 123456789012);
	assert_int_equal(ticks.wall_ns, 1757300000000000000);

	assert_int_equal(private_reader__next(&r, &record), 1);
	assert_int_equal(record.kind, PRIVATE_META);
	assert_true(private_read__pair(&record.data, &pair));
	assert_string(pair.name, "tool", 4);
	assert_string(pair.value, "gotrace-bpf 0.1", 15);
	assert_true(private_read__pair(&record.data, &pair));
	assert_string(pair.name, "command", 7);
	assert_string(pair.value, command, 9);
	assert_false(private_read__pair(&record.data, &pair));
	assert_false(record.data.bad);

	assert_int_equal(private_reader__next(&r, &record), 1);
	assert_int_equal(record.kind, PRIVATE_LOSSES);
	for (size_t i = 0; i < 2; i++) {
		assert_true(private_read__loss(&record.data, &loss));
		assert_memory_equal(&loss, &losses[i], sizeof(loss));
	}
	assert_false(private_read__loss(&record.data, &loss));
	assert_false(record.data.bad);

	assert_int_equal(private_reader__next(&r, &record), 0);
	assert_int_equal(r.records, 3);
	assert_int_equal(r.unknown, 1);
	assert_int_equal(r.bad, 0);
	private_reader__deinit(&r);
	dictionary__deinit(&dictionary);
}

TEST_WITH(reads_the_table, setup, stop)
{
	struct dictionary dictionary;
	struct description *d = NULL;
	struct error err = {};
	uint8_t *bytes;
	size_t len;

	assert_int_equal(private__ticks(x.w, 1, 2, 3), 0);
	assert_int_equal(private__table(x.w), 0);
	dictionary = dictionary_of_file();
	assert_int_equal(private_read__table(&dictionary, &d, &err), 1);
	assert_int_equal(description__encode(&bytes, &len), 0);
	assert_int_equal(d->len, len);
	assert_memory_equal(d->bytes, bytes, len);
	assert_int_equal(d->n, 61);
	free(bytes);
	description__destroy(d);
	dictionary__deinit(&dictionary);
}

TEST_WITH(record_of_many_parts, setup, stop)
{
	char *data = malloc(300000);
	struct dictionary dictionary;
	struct private_reader r;
	struct private_record record;

	for (size_t i = 0; i < 300000; i++)
		data[i] = i * 7 + i / 1000;
	private__record(x.w, PRIVATE_LOSSES, data, 300000);
	private__record(x.w, PRIVATE_META, data, 1000);
	dictionary = dictionary_of_file();
	private_reader__init(&r, &dictionary);
	assert_int_equal(private_reader__next(&r, &record), 1);
	assert_int_equal(buf__left(&record.data), 300000);
	assert_memory_equal(record.data.start, data, 300000);
	assert_int_equal(private_reader__next(&r, &record), 1);
	assert_int_equal(record.kind, PRIVATE_META);
	assert_int_equal(buf__left(&record.data), 1000);
	assert_int_equal(private_reader__next(&r, &record), 0);
	private_reader__deinit(&r);
	dictionary__deinit(&dictionary);
	free(data);
}

/* Hand-made parts: kind, number, more, and one byte of data. */
struct parts {
	struct dictionary dictionary;
	struct private_reader r;
	uint64_t id;
};

static void add_string(struct parts *p, const char *s, size_t len)
{
	assert_int_equal(dictionary__add_string(&p->dictionary, ++p->id, s, len), 0);
}

static void add_part(struct parts *p, char kind, char number, char more, char data)
{
	char s[] = "\0gotrace-bpf/1 KNMD";

	s[15] = kind;
	s[16] = number;
	s[17] = more;
	s[18] = data;
	add_string(p, s, 19);
}

static void assert_record(struct parts *p, enum private_kind kind, const char *data)
{
	struct private_record record;

	assert_int_equal(private_reader__next(&p->r, &record), 1);
	assert_int_equal(record.kind, kind);
	assert_int_equal(buf__left(&record.data), strlen(data));
	assert_memory_equal(record.data.start, data, strlen(data));
}

static void assert_end(struct parts *p, uint64_t records, uint64_t unknown, uint64_t bad)
{
	struct private_record record;

	assert_int_equal(private_reader__next(&p->r, &record), 0);
	assert_int_equal(p->r.records, records);
	assert_int_equal(p->r.unknown, unknown);
	assert_int_equal(p->r.bad, bad);
	private_reader__deinit(&p->r);
	dictionary__deinit(&p->dictionary);
}

static struct parts *no_parts(void)
{
	static struct parts p;

	p = (struct parts){ 0 };
	dictionary__init(&p.dictionary);
	private_reader__init(&p.r, &p.dictionary);
	return &p;
}

TEST(parts_are_joined)
{
	struct parts *p = no_parts();

	add_part(p, 1, 0, 1, 'a');
	add_string(p, "runtime.main", 12);
	add_part(p, 1, 1, 1, 'b');
	add_part(p, 1, 2, 0, 'c');
	add_part(p, 2, 0, 0, 'd');
	add_part(p, 99, 0, 1, 'x');
	add_part(p, 99, 1, 0, 'x');
	add_part(p, 3, 0, 0, 'e');
	assert_record(p, PRIVATE_META, "abc");
	assert_record(p, PRIVATE_LOSSES, "d");
	assert_record(p, PRIVATE_TICKS, "e");
	assert_end(p, 3, 1, 0);
}

TEST(parts_may_be_empty)
{
	struct parts *p = no_parts();
	struct description *d = NULL;
	struct error err = {};

	add_string(p, "\0gotrace-bpf/1 \4\0\1", 18);
	add_string(p, "\0gotrace-bpf/1 \4\1\0", 18);
	assert_int_equal(private_read__table(&p->dictionary, &d, &err), -EBADMSG);
	assert_record(p, PRIVATE_TABLE, "");
	assert_end(p, 1, 0, 0);
}

TEST(corrupt_records_are_skipped)
{
	struct parts *p = no_parts();

	add_part(p, 1, 1, 0, 'a'); /* no first part */
	add_part(p, 1, 0, 1, 'a'); /* no last part: another record begins */
	add_part(p, 1, 0, 0, 'b');
	add_part(p, 1, 0, 1,
		 'a'); /* the second part is missing, so the third belongs to no record */
	add_part(p, 1, 2, 1, 'a');
	add_part(p, 1, 3, 0, 'a');
	add_part(p, 2, 0, 0, 'c');
	add_part(p, 1, 0, 1, 'a'); /* continues with another kind */
	add_part(p, 2, 1, 0, 'a');
	add_part(p, 1, 0, 2, 'a'); /* `more` is neither 0 nor 1 */
	add_part(p, 1, 1, 0, 'a');
	add_part(p, 0, 0, 0, 'a'); /* kind 0 is invalid */
	add_string(p, "\0gotrace-bpf/1 ", 15);
	add_string(p, "\0gotrace-bpf/1 \x81\x82\x83", 18);
	add_string(p, "\0gotrace-bpf/2 \1\0\0z", 19); /* of a later format: ignored */
	add_string(p, "\0gotrace-bpf/1", 14);
	add_string(p, "", 0);
	add_part(p, 3, 0, 0, 'd');
	add_part(p, 1, 0, 1, 'a'); /* cut off */
	assert_record(p, PRIVATE_META, "b");
	assert_record(p, PRIVATE_LOSSES, "c");
	assert_record(p, PRIVATE_TICKS, "d");
	assert_end(p, 3, 1, 10);
}

/* Bytes after a string in memory are not part of it. */
TEST(short_string_is_not_private)
{
	struct parts *p = no_parts();

	add_part(p, 1, 0, 0, 'a');
	dictionary__clear(&p->dictionary);
	add_string(p, "\0gotrace-bpf/1", 14);
	assert_end(p, 0, 0, 0);
}

TEST(record_size_is_limited)
{
	const uint64_t parts = PRIVATE_RECORD_MAX / 1000 + 2;
	struct parts *p = no_parts();
	char s[1024] = "\0gotrace-bpf/1 \2";
	uint64_t i, n;
	size_t at;

	for (i = 0; i < parts; i++) {
		for (at = 16, n = i; n >= 0x80; n >>= 7)
			s[at++] = (char)(n | 0x80);
		s[at++] = (char)n;
		s[at++] = i + 1 < parts;
		add_string(p, s, at + 1000);
	}
	add_part(p, 3, 0, 0, 'd');
	assert_record(p, PRIVATE_TICKS, "d");
	assert_in_range(p->r.joined.cap, PRIVATE_RECORD_MAX / 2, 2 * PRIVATE_RECORD_MAX);
	assert_end(p, 1, 0,
		   1 + 1); /* the record, and the part after the one that exceeded the limit */
}

/* Of several generations: the sums, and the highest minimum. */
TEST_WITH(short_calls_are_summed, setup, stop)
{
	struct private_short sum = {};
	struct private_record record;
	struct dictionary dictionary;
	struct private_reader r;

	private__short(x.w, &(struct private_short){ 2000, 3, 1u << 20, 4, 5 });
	private__short(x.w, &(struct private_short){ 1000, 10, 20, 30, 40 });
	dictionary = dictionary_of_file();
	private_reader__init(&r, &dictionary);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(private_reader__next(&r, &record), 1);
		assert_int_equal(record.kind, PRIVATE_SHORT);
		assert_true(private_read__add_short(&record.data, &sum));
		assert_int_equal(buf__left(&record.data), 0);
	}
	assert_int_equal(sum.min_ns, 2000);
	assert_int_equal(sum.calls, 13);
	assert_int_equal(sum.calls_ns, (1u << 20) + 20);
	assert_int_equal(sum.kernel, 34);
	assert_int_equal(sum.kernel_ns, 45);
	private_reader__deinit(&r);
	dictionary__deinit(&dictionary);
}

static bool any_loss(const char *data, size_t len)
{
	struct buf b = buf__make(data, len);
	struct private_loss loss;
	bool got = private_read__loss(&b, &loss);

	assert_true(got || b.bad);
	return got;
}

TEST(corrupt_entries_are_rejected)
{
	struct buf b;
	struct private_pair pair;
	struct private_ticks ticks;
	struct private_short sum = {};
	struct private_start start;
	struct trace_clock clock = {};
	struct parts *p = no_parts();
	struct description *d = NULL;
	struct error err = {};

	assert_true(any_loss("\1\1\1\1", 4));
	assert_false(any_loss("\1\1\1", 3));
	/* ends beyond the range of time */
	assert_false(any_loss("\1\1\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 13));
	b = buf__make("\1n\5val", 6);
	assert_false(private_read__pair(&b, &pair));
	assert_true(b.bad);
	b = buf__make("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1n\0", 12);
	assert_false(private_read__pair(&b, &pair));
	assert_true(b.bad);
	b = buf__make("\1\1", 2);
	assert_false(private_read__ticks(&b, &ticks));
	assert_true(b.bad);
	b = buf__make("\1\1\1", 3);
	assert_false(private_read__snapshot(&b, &clock));
	b = buf__make("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1\1",
		      13); /* the time is negative */
	assert_false(private_read__snapshot(&b, &clock));
	assert_false(clock.known);
	b = buf__make("\5\6\7", 3);
	assert_true(private_read__start(&b, &start));
	assert_true(start.g == 5 && start.stack == 6);
	assert_false(private_read__start(&b, &start));
	assert_true(b.bad && start.g == 5);
	b = buf__make("\1\1\1\1", 4);
	assert_false(private_read__add_short(&b, &sum));
	assert_true(b.bad);
	assert_int_equal(sum.min_ns, 0);

	assert_int_equal(private_read__table(&p->dictionary, &d, &err), 0);
	add_part(p, PRIVATE_TABLE, 0, 0, 0);
	assert_int_equal(private_read__table(&p->dictionary, &d, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "event table"));
	assert_null(d);
	dictionary__deinit(&p->dictionary);
}

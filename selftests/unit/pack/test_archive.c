// SPDX-License-Identifier: GPL-2.0
/*
 * Packed traces as files: they are read like the trace itself, in any steps, from any position and
 * from a pipe; and one that is truncated or changed is rejected with a reason.
 */
#include <fcntl.h>

#include "unit/test.h"
#include "format/encode.h"
#include "lib/input.h"
#include "pack/archive.h"
#include "pack/archive_impl.h"
#include "unit/trace_bytes.h"

#define GENERATIONS 5

static struct outbuf trace, packed;

static void put(struct outbuf *o, const void *data, size_t len)
{
	assert_int_equal(outbuf__put(o, data, len, NULL), 0);
}

static void put_leb(struct outbuf *o, uint64_t v)
{
	assert_int_equal(outbuf__room(o, LEB_MAX, NULL), 0);
	leb__append(o, v);
}

/* A batch with events of one goroutine, or with strings. */
static void put_batch(struct outbuf *o, uint64_t gen, bool strings)
{
	struct outbuf data = {};
	char text[40];

	if (strings)
		put(&data, "\4", 1);
	for (uint64_t i = 1; i < 300; i++) {
		if (strings) {
			put(&data, "\5", 1);
			put_leb(&data, i);
			snprintf(text, sizeof(text), "example.com/function%u", (unsigned int)i);
			put_leb(&data, strlen(text));
			put(&data, text, strlen(text));
		} else {
			put(&data, i % 2 ? "\x10" : "\x14", 1); /* GoStart, GoBlock */
			put_leb(&data, i * i % 97);
			put_leb(&data, i % 2 ? 7 : 1);
			put_leb(&data, i % 2 ? i : i % 5);
		}
	}
	put(o, "\1", 1);
	put_leb(o, gen);
	put_leb(o, 3);
	put_leb(o, gen * 1000000);
	put_leb(o, data.len);
	put(o, data.data, data.len);
	outbuf__deinit(&data);
}

static int pack(const struct outbuf *from, struct outbuf *to, struct error *error)
{
	struct input *in;
	int err;

	assert_int_equal(input__open_memory(&in, from->data, from->len, NULL), 0);
	err = archive__write(in, to, error);
	input__destroy(in);
	return err;
}

static void make(void)
{
	struct error error = {};

	unpack__add_format(&archive_format);
	put(&trace, "go 1.25 trace\0\0\0", 16);
	for (uint64_t gen = 1; gen <= GENERATIONS; gen++) {
		put_batch(&trace, gen, false);
		put_batch(&trace, gen, true);
		put_batch(&trace, gen, false);
	}
	assert_int_equal(pack(&trace, &packed, &error), 0);
}

static void clean(void)
{
	outbuf__deinit(&trace);
	outbuf__deinit(&packed);
}

GROUP(make, clean)

/* Compares what follows in the input with the trace, from `at` on. Returns as input__need(). */
static int compare(struct input *in, size_t at, size_t want, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err;

	while (!(err = input__need(in, want, &data, &len, error)) && len) {
		len = len < want ? len : want;
		assert_in_range(at + len, 1, trace.len);
		assert_memory_equal(data, trace.data + at, len);
		input__consume(in, len);
		at += len;
	}
	if (!err)
		assert_int_equal(at, trace.len);
	return err;
}

TEST(it_is_smaller)
{
	assert_in_range(packed.len, 100, trace.len / 8);
}

TEST(it_is_read_in_any_steps)
{
	static const size_t steps[] = { 1, 7, 1000, INPUT_WINDOW };
	struct error error = {};
	struct input *in;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		assert_int_equal(input__open_memory(&in, packed.data, packed.len, &error), 0);
		assert_string_equal(input__format(in), "packed");
		assert_false(input__seekable(in));
		assert_int_equal(compare(in, 0, steps[i], &error), 0);
		input__destroy(in);
	}
}

static const char *write_file(const struct outbuf *o)
{
	const char *path = scratch("archive");
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(o->data, 1, o->len, f), o->len);
	fclose(f);
	return path;
}

TEST(a_file_is_read_from_any_position)
{
	const char *path = write_file(&packed);
	struct error error = {};
	struct input *in;
	size_t at = 0;

	assert_int_equal(input__open(&in, path, &error), 0);
	assert_true(input__seekable(in));
	assert_int_equal(input__size(in), trace.len);
	for (unsigned int i = 0; i < 40; i++) {
		at = (at + 104729 * (i + 1)) % trace.len;
		assert_int_equal(input__seek(in, at, &error), 0);
		assert_int_equal(input__offset(in), at);
		assert_int_equal(compare(in, at, i % 2 ? 100 : INPUT_WINDOW, &error), 0);
	}
	assert_int_equal(input__seek(in, trace.len, &error), 0);
	assert_int_equal(compare(in, trace.len, 1, &error), 0);
	assert_int_equal(input__seek(in, trace.len + 100, &error), 0);
	assert_int_equal(input__offset(in), trace.len + 100);
	assert_int_equal(input__seek(in, 0, &error), 0);
	assert_int_equal(compare(in, 0, 9, &error), 0);
	input__destroy(in);
}

/* Only the head and the tables of the segments before are read, and no byte of their events. */
TEST(a_seek_skips_events)
{
	struct archive_index ix = {};
	struct archive_head head;
	struct outbuf changed = {};
	const char *path;
	struct error error = {};
	struct input *in;
	int fd;

	put(&changed, packed.data, packed.len);
	path = write_file(&changed);
	fd = open(path, O_RDONLY);
	assert_int_equal(archive_index__read(&ix, fd), 0);
	close(fd);
	assert_int_equal(ix.n, GENERATIONS + 1); /* the header is a segment, too */
	for (size_t i = 0; i + 1 < ix.n; i++) {
		assert_true(
			archive_head__parse((uint8_t *)changed.data + ix.entry[i].offset, &head));
		assert_int_equal(head.generation, i);
		memset(changed.data + ix.entry[i].offset + ARCHIVE_HEAD_LEN + head.tables, 'x',
		       head.events);
	}
	memcpy(changed.data + ix.entry[0].offset + ARCHIVE_HEAD_LEN, trace.data, 16);
	path = write_file(&changed);
	assert_int_equal(input__open(&in, path, &error), 0);
	assert_int_equal(input__seek(in, ix.entry[GENERATIONS].plain, &error), 0);
	assert_int_equal(compare(in, ix.entry[GENERATIONS].plain, 1000, &error), 0);
	assert_int_equal(input__seek(in, 0, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), -EBADMSG);
	input__destroy(in);
	free(ix.entry);
	outbuf__deinit(&changed);
}

TEST(truncated_archives_are_rejected)
{
	struct outbuf part = {};
	struct error error;
	struct input *in;
	int err;

	for (size_t len = ARCHIVE_MAGIC_LEN; len < packed.len; len += 1 + len / 40) {
		part.len = 0;
		put(&part, packed.data, len);
		for (unsigned int file = 0; file < 2; file++) {
			error = (struct error){};
			err = file ? input__open(&in, write_file(&part), &error) :
				     input__open_memory(&in, part.data, part.len, &error);
			assert_int_equal(err, 0);
			assert_int_equal(compare(in, 0, 1000, &error), -EBADMSG);
			assert_non_null(strstr(error.text, "truncated packed data"));
			input__destroy(in);
		}
	}
	outbuf__deinit(&part);
}

/* A few bytes at the end of what a coder wrote have no effect: then the trace is the same. */
TEST(changed_archives_are_rejected)
{
	unsigned int rejected = 0, n = 0;
	struct outbuf changed = {};
	struct error error = {};
	struct input *in;
	int err;

	put(&changed, packed.data, packed.len);
	for (size_t at = ARCHIVE_MAGIC_LEN; at < packed.len; at += 1 + packed.len / 300) {
		changed.data[at] ^= 0x41;
		error = (struct error){};
		assert_int_equal(input__open_memory(&in, changed.data, changed.len, &error), 0);
		err = compare(in, 0, 1000, &error);
		assert_true(!err || (err == -EBADMSG && error.text[0]));
		rejected += err != 0;
		n++;
		input__destroy(in);
		changed.data[at] ^= 0x41;
	}
	assert_in_range(rejected, n * 9 / 10, n);
	put(&changed, "x", 1);
	assert_int_equal(input__open_memory(&in, changed.data, changed.len, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), -EBADMSG);
	input__destroy(in);
	outbuf__deinit(&changed);
}

/* Bytes after the last valid batch, and whole traces that are not of v2. */
TEST(other_traces_are_returned)
{
	struct outbuf v2 = trace, again = {};
	struct error error = {};
	struct input *in;

	trace = (struct outbuf){};
	put(&trace, v2.data, v2.len - 50);
	assert_int_equal(pack(&trace, &again, &error), 0);
	assert_int_equal(input__open_memory(&in, again.data, again.len, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), 0);
	input__destroy(in);
	memcpy(trace.data, "go 1.21 trace", 13);
	again.len = 0;
	assert_int_equal(pack(&trace, &again, &error), 0);
	assert_int_equal(input__open_memory(&in, again.data, again.len, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), 0);
	input__destroy(in);
	memcpy(trace.data, "no trace at al", 14);
	again.len = 0;
	assert_int_equal(pack(&trace, &again, &error), -EPROTONOSUPPORT);
	outbuf__deinit(&trace);
	outbuf__deinit(&again);
	trace = v2;
}

/* A trace of more batches than a segment may have is split, and an archive that has them is rejected. */
TEST(many_batches_are_split)
{
	struct archive_head head = { .kind = ARCHIVE_MODEL };
	struct outbuf v2 = trace, forged = {}, tables = {}, events = {};
	struct table_model writer = {};
	struct error error = {};
	uint8_t bytes[ARCHIVE_HEAD_LEN];
	struct input *in;

	trace = (struct outbuf){};
	put(&trace, v2.data, 16);
	for (uint64_t m = 0; m <= SEGMENT_PIECES_MAX; m++) {
		put(&trace, "\1\1", 2);
		put_leb(&trace, m);
		put(&trace, "\1\0", 2);
	}
	assert_int_equal(pack(&trace, &forged, &error), 0);
	assert_in_range(forged.len, 1, 4000); /* zstd: more */
	assert_int_equal(input__open_memory(&in, forged.data, forged.len, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), 0);
	input__destroy(in);
	assert_int_equal(
		segment__encode(&writer, trace.data + 16, trace.len - 16, &tables, &events), 0);
	head.plain = (uint32_t)trace.len - 16;
	head.tables = (uint32_t)tables.len;
	head.events = (uint32_t)events.len;
	head.sum = archive__sum(0, trace.data + 16, trace.len - 16);
	archive_head__put(bytes, &head);
	forged.len = ARCHIVE_MAGIC_LEN + ARCHIVE_HEAD_LEN + 16; /* the header of the trace */
	put(&forged, bytes, sizeof(bytes));
	put(&forged, tables.data, tables.len);
	put(&forged, events.data, events.len);
	assert_int_equal(input__open_memory(&in, forged.data, forged.len, &error), 0);
	assert_int_equal(compare(in, 0, 1000, &error), -EBADMSG);
	assert_non_null(strstr(error.text, "a segment is corrupt"));
	input__destroy(in);
	table_model__deinit(&writer);
	outbuf__deinit(&trace);
	outbuf__deinit(&forged);
	outbuf__deinit(&tables);
	outbuf__deinit(&events);
	trace = v2;
}

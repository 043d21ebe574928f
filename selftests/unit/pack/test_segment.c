// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: any bytes are decoded as they were, whether models fit them or not; tables that repeat
 * are taken from the dictionary; corrupt data is rejected, or decoded to as many bytes as announced.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "format/encode.h"
#include "format/kernel.h"
#include "format/private.h"
#include "pack/segment.h"

/* Allocations beyond fail. Not with a sanitizer, whose shadow memory would count. */
static void limit_data(rlim_t bytes)
{
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_DATA, &(struct rlimit){ bytes, bytes });
#endif
}

struct coded {
	struct outbuf tables, events;
};

static void put(struct outbuf *o, const void *data, size_t len)
{
	assert_int_equal(outbuf__put(o, data, len, NULL), 0);
}

static void put_leb(struct outbuf *o, uint64_t v)
{
	assert_int_equal(outbuf__room(o, LEB_MAX, NULL), 0);
	leb__append(o, v);
}

/* A batch of generation 1. `size`, if it is not NULL, are the bytes of its size. */
static void put_batch(struct outbuf *o, uint64_t m, uint64_t time, const struct outbuf *data,
		      const char *size)
{
	put(o, "\1\1", 2);
	put_leb(o, m);
	put_leb(o, time);
	if (size)
		put(o, size, strlen(size));
	else
		put_leb(o, data->len);
	put(o, data->data, data->len);
}

static void put_event(struct outbuf *o, uint8_t type, unsigned int n, const uint64_t *number)
{
	put(o, &type, 1);
	for (unsigned int i = 0; i < n; i++)
		put_leb(o, number[i]);
}

/* Every type of event that has a time, with small and with large numbers. */
static void put_events(struct outbuf *o)
{
	uint64_t number[EV_ARGS_MAX];
	const struct ev_spec *spec;

	for (unsigned int round = 0; round < 40; round++)
		for (unsigned int type = 0; type < EV_COUNT; type++) {
			spec = spec__event(type);
			if (!spec || !spec->timed || type == EV_CLOCK_SNAPSHOT)
				continue;
			for (unsigned int i = 0; i < spec->nargs; i++)
				number[i] =
					round % 8 == 7 ? UINT64_MAX >> i * 13 : round * i + type;
			put_event(o, (uint8_t)type, spec->nargs, number);
		}
}

static void put_string(struct outbuf *o, uint64_t id, const void *data, size_t len)
{
	put(o, "\5", 1);
	put_leb(o, id);
	put_leb(o, len);
	put(o, data, len);
}

static void put_stack(struct outbuf *o, uint64_t id, unsigned int frames, uint64_t pc)
{
	put(o, "\3", 1);
	put_leb(o, id);
	put_leb(o, frames);
	for (unsigned int i = 0; i < frames; i++) {
		put_leb(o, pc + 100 * i);
		put_leb(o, 1 + i);
		put_leb(o, 50);
		put_leb(o, 10 * i);
	}
}

static struct outbuf made_strings(void)
{
	struct outbuf o = {};
	char text[30];

	put(&o, "\4", 1);
	for (uint64_t id = 1; id < 60; id++) {
		snprintf(text, sizeof(text), "main.function%u", (unsigned int)id);
		put_string(&o, id, text, strlen(text));
	}
	put_string(&o, 100, "", 0);
	put_string(&o, UINT64_MAX, "main.function7", 14);
	return o;
}

static struct outbuf made_stacks(void)
{
	struct outbuf o = {};

	put(&o, "\2", 1);
	for (uint64_t id = 1; id < 50; id++)
		put_stack(&o, id, id % 6, 0x450000 + 1000 * (id % 10));
	put_stack(&o, 77, TRACE_STACK_MAX, 0x700000);
	return o;
}

static int put_part(void *to, const void *part, size_t len)
{
	static uint64_t id = 1000;

	put_string(to, id++, part, len);
	return 0;
}

static int put_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	return private__parts(kind, data, len, put_part, to);
}

/* Strings with kernel events of each kind. */
static struct outbuf made_kernel(void)
{
	struct kernel_writer *k = kernel_writer__create();
	struct kernel_item item = { .name = { "web", 3 } };
	struct outbuf o = {};

	put(&o, "\4", 1);
	assert_int_equal(kernel_writer__begin(k, 1000, NULL), 0);
	for (unsigned int i = 0; i < 4000; i++) {
		item.kind = (uint8_t)(1 + i % (KERNEL_KIND_END - 1));
		item.time = 1000 + 37 * (uint64_t)i;
		item.tid = 50 + i / 7 % 5;
		item.other = i % 3 ? 50 + i % 9 : 0;
		item.cpu = (uint16_t)(i / 100);
		item.number = i % 11;
		item.value = i % 5 ? i : -(uint64_t)i;
		item.why = i % 7;
		assert_int_equal(kernel_writer__add(k, &item), 0);
	}
	assert_int_equal(kernel_writer__put(k, put_record, &o), 0);
	kernel_writer__destroy(k);
	return o;
}

/* A generation with something of everything. */
static struct outbuf made_generation(void)
{
	struct outbuf o = {}, strings = made_strings(), stacks = made_stacks(), data = {};
	struct outbuf kernel = made_kernel();

	put_events(&data);
	put_batch(&o, 7, 1000, &data, NULL);
	put_batch(&o, 8, 900, &data, NULL);
	put_batch(&o, 7, 5000, &data, NULL);
	data.len = 0;
	put_batch(&o, 9, 5000, &data, NULL);
	put_batch(&o, UINT64_MAX, 1, &strings, NULL);
	put_batch(&o, 0, 1, &stacks, NULL);
	put_batch(&o, 0, 1, &kernel, NULL);
	put(&data, "\x10\1\2", 3); /* GoStart without its sequence number */
	put_batch(&o, 7, 6000, &data, NULL);
	data.len = 0;
	put(&data, "\x0b\x80\0", 3); /* ProcStop, with a longer form of dt than necessary */
	put_batch(&o, 7, 7000, &data, "\x83\x80\x80\x80\x80\x80\x80\x80\x80");
	o.data[o.len - 4] = 0; /* the last byte of the size: the form of the runtime */
	data.len = 0;
	put(&data, "\6\7\1\2\3\4\5", 7);
	put_batch(&o, 7, 8000, &data, "\x87\x80\x80");
	o.data[o.len - 8] = 0;
	put(&o, "\x31\1\1\3\4\2xy", 8); /* an experimental batch */
	put(&o, "\x34", 1);		/* the end of a generation */
	outbuf__deinit(&strings);
	outbuf__deinit(&stacks);
	outbuf__deinit(&kernel);
	outbuf__deinit(&data);
	return o;
}

static void encode(struct table_model *t, const void *data, size_t len, struct coded *ret)
{
	ret->tables.len = ret->events.len = 0;
	table_model__begin(t, false);
	assert_int_equal(segment__encode(t, data, len, &ret->tables, &ret->events), 0);
}

static int decode(struct table_model *t, const struct coded *c, size_t plain, struct outbuf *ret)
{
	ret->len = 0;
	table_model__begin(t, false);
	return segment__decode(t, buf__make(c->tables.data, c->tables.len),
			       buf__make(c->events.data, c->events.len), plain, ret);
}

static void assert_round_trip(const void *data, size_t len)
{
	struct table_model writer = {}, reader = {};
	struct outbuf again = {};
	struct coded c = {};

	for (unsigned int i = 0; i < 3; i++) { /* from the second on with a dictionary */
		encode(&writer, data, len, &c);
		assert_int_equal(decode(&reader, &c, len, &again), 0);
		assert_int_equal(again.len, len);
		assert_memory_equal(again.data, data, len);
	}
	outbuf__deinit(&again);
	outbuf__deinit(&c.tables);
	outbuf__deinit(&c.events);
	table_model__deinit(&writer);
	table_model__deinit(&reader);
}

TEST(a_generation_is_returned)
{
	struct outbuf o = made_generation();

	assert_round_trip(o.data, o.len);
	outbuf__deinit(&o);
}

/* Cut anywhere: the last batch is not whole. */
TEST(every_beginning_is_returned)
{
	struct outbuf o = made_generation();

	for (size_t len = 1; len < o.len; len += 1 + len / 8)
		assert_round_trip(o.data, len);
	outbuf__deinit(&o);
}

TEST(changed_bytes_are_returned)
{
	struct outbuf o = made_generation();
	uint64_t random = 1;
	size_t at;

	for (unsigned int i = 0; i < 20; i++) {
		random = random * 6364136223846793005u + 1;
		at = (random >> 33) % o.len;
		o.data[at] ^= (char)(1 + i);
		assert_round_trip(o.data, o.len);
	}
	outbuf__deinit(&o);
}

TEST(any_bytes_are_returned)
{
	unsigned char data[3000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i >> 3);
	assert_round_trip(data, sizeof(data));
	assert_round_trip("\1", 1);
	assert_round_trip("\x34\x34\x34", 3);
}

TEST(known_tables_take_little_space)
{
	struct outbuf strings = made_strings(), stacks = made_stacks(), o = {};
	struct table_model writer = {};
	struct coded c = {};
	size_t first;

	put_batch(&o, 1, 1, &strings, NULL);
	put_batch(&o, 1, 1, &stacks, NULL);
	encode(&writer, o.data, o.len, &c);
	first = c.tables.len;
	encode(&writer, o.data, o.len, &c);
	assert_in_range(c.tables.len, 1, first / 3);
	outbuf__deinit(&strings);
	outbuf__deinit(&stacks);
	outbuf__deinit(&o);
	outbuf__deinit(&c.tables);
	outbuf__deinit(&c.events);
	table_model__deinit(&writer);
}

/* Only the tables of a segment are decoded: the next one is returned nevertheless. */
TEST(tables_suffice_for_the_next_segment)
{
	struct table_model writer = {}, reader = {};
	struct outbuf o = made_generation(), again = {};
	struct coded c = {};

	encode(&writer, o.data, o.len, &c);
	table_model__begin(&reader, false);
	assert_int_equal(
		segment__decode_tables(&reader, buf__make(c.tables.data, c.tables.len), o.len), 0);
	encode(&writer, o.data, o.len, &c);
	assert_int_equal(decode(&reader, &c, o.len, &again), 0);
	assert_int_equal(again.len, o.len);
	assert_memory_equal(again.data, o.data, o.len);
	outbuf__deinit(&o);
	outbuf__deinit(&again);
	outbuf__deinit(&c.tables);
	outbuf__deinit(&c.events);
	table_model__deinit(&writer);
	table_model__deinit(&reader);
}

TEST(corrupt_data_is_bounded)
{
	struct table_model writer = {}, reader = {};
	struct outbuf o = made_generation(), again = {};
	struct coded c = {};
	unsigned int rejected = 0;
	int err;

	encode(&writer, o.data, o.len, &c);
	for (unsigned int i = 0; i < 150; i++) {
		struct outbuf *part = i % 3 ? &c.events : &c.tables;
		char *byte = part->data + (i * 7919 + 11) % part->len, was = *byte;

		table_model__deinit(&reader);
		*byte ^= (char)(1 + i % 255);
		err = decode(&reader, &c, o.len, &again);
		*byte = was;
		rejected += err == -EBADMSG;
		assert_true(err == -EBADMSG || (!err && again.len == o.len));
		assert_in_range(again.len, 0, o.len + SEGMENT_BATCH_MAX);
	}
	assert_in_range(rejected, 50, 150);
	assert_int_equal(decode(&reader, &c, 10, &again), -EBADMSG);
	outbuf__deinit(&o);
	outbuf__deinit(&again);
	outbuf__deinit(&c.tables);
	outbuf__deinit(&c.events);
	table_model__deinit(&writer);
	table_model__deinit(&reader);
}

/* `n` empty batches, each of another thread, or as many ends of a generation. */
static struct outbuf made_pieces(size_t n, bool ends)
{
	struct outbuf o = {}, none = {};

	for (size_t i = 0; i < n; i++)
		if (ends)
			put(&o, "\x34", 1);
		else
			put_batch(&o, i, 1, &none, NULL);
	return o;
}

/* Decodes in a process that may use `room` more bytes, plus what a segment always needs. */
static int decode_within(size_t room, const struct coded *c, size_t plain)
{
	struct table_model reader = {};
	struct outbuf again = {};
	int status;
	pid_t pid = fork();

	if (!pid) {
		limit_data(room + (64u << 20));
		_exit(-decode(&reader, c, plain, &again));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* A few kB announce millions of batches: they are rejected before memory is allocated for them. */
TEST(many_batches_are_rejected)
{
	for (unsigned int ends = 0; ends < 2; ends++)
		for (size_t n = SEGMENT_PIECES_MAX; n < 1400000; n *= 10) {
			struct outbuf o = made_pieces(n, ends);
			struct table_model writer = {};
			struct coded c = {};

			encode(&writer, o.data, o.len, &c);
			assert_in_range(c.events.len, 1, 4000);
			assert_int_equal(decode_within(64u << 20, &c, o.len),
					 n > SEGMENT_PIECES_MAX ? -EBADMSG : 0);
			outbuf__deinit(&o);
			outbuf__deinit(&c.tables);
			outbuf__deinit(&c.events);
			table_model__deinit(&writer);
		}
}

/* The headers of batches count as bytes of the segment, not only their data. */
TEST(headers_are_bounded)
{
	struct outbuf o = made_pieces(3000, false);
	struct table_model writer = {}, reader = {};
	struct outbuf again = {};
	struct coded c = {};

	encode(&writer, o.data, o.len, &c);
	assert_int_equal(decode(&reader, &c, o.len, &again), 0);
	assert_int_equal(decode(&reader, &c, o.len - 1, &again), -EBADMSG);
	assert_int_equal(again.len, 0); /* before any batch was put together */
	outbuf__deinit(&o);
	outbuf__deinit(&again);
	outbuf__deinit(&c.tables);
	outbuf__deinit(&c.events);
	table_model__deinit(&writer);
	table_model__deinit(&reader);
}

TEST(batches_are_found)
{
	struct outbuf o = made_generation();
	uint64_t generation = 9;
	size_t at = 0, n = 0, len;

	for (; at < o.len; at += len, n++) {
		len = segment__batch(o.data + at, o.len - at, &generation);
		assert_in_range(len, 1, SEGMENT_BATCH_MAX);
		assert_int_equal(generation, at + len < o.len);
	}
	assert_int_equal(n, 12);
	assert_int_equal(segment__batch(o.data, 40, &generation), 0);	   /* not whole */
	assert_int_equal(segment__batch("\1\0\1\1\0", 5, &generation), 0); /* generation 0 */
	assert_int_equal(segment__batch("\2\1\1\1\0", 5, &generation), 0);
	outbuf__deinit(&o);
}

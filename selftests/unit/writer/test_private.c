// SPDX-License-Identifier: GPL-2.0
/*
 * Private data: the strings that are written, and their parts.
 */
#include "unit/test.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"
#include "writer/private_write.h"
#include "writer/writer.h"

struct record {
	uint64_t kind;
	struct bytes data;
};

struct fixture {
	struct trace_file *file;
	struct intern *in;
	struct writer *w;
	struct record records[16];
	unsigned int count, strings;
};

static int setup(void **state)
{
	static struct fixture x;

	memset(&x, 0, sizeof(x));
	*state = &x;
	if (trace_file__open(&x.file, scratch("trace"), FILE_ANY))
		return 1;
	x.in = intern__create();
	x.w = writer__create(x.file, x.in, &(struct writer_opts){ 25, 1 });
	writer__open(x.w, 1000, 2000);
	writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;
	unsigned int i;

	for (i = 0; i < x->count; i++)
		free(x->records[i].data.data);
	writer__destroy(x->w);
	intern__destroy(x->in);
	trace_file__destroy(x->file);
	return 0;
}

FIXTURE(setup, teardown)

/* A part as described in private.h: appended to the previous record unless it is a first part. */
static void take_part(struct fixture *x, const uint8_t *p, size_t len, uint64_t *expected)
{
	struct bytes b = { (uint8_t *)p, len, PRIVATE_PREFIX_LEN };
	uint64_t kind = bytes__leb(&b), number = bytes__leb(&b);
	uint8_t more = bytes__u8(&b);
	struct record *r;

	assert_memory_equal(p, "\0gotrace-bpf/1 ", 15);
	assert_int_equal(number, *expected);
	assert_in_range(more, 0, 1);
	*expected = more ? number + 1 : 0;
	if (!number)
		x->records[x->count++].kind = kind;
	r = &x->records[x->count - 1];
	assert_int_equal(r->kind, kind);
	r->data.data = realloc(r->data.data, r->data.len + len);
	memcpy(r->data.data + r->data.len, b.data + b.at, len - b.at);
	r->data.len += len - b.at;
}

static void read_back(struct fixture *x)
{
	struct bytes b;
	struct read_batch batch;
	struct read_event ev;
	uint64_t time, expected = 0, last_id = 0;
	size_t at;

	assert_int_equal(writer__close(x->w), 0);
	assert_int_equal(trace_file__commit(x->file), 0);
	b = bytes__read(scratch("trace"));
	bytes__header(&b);
	while (bytes__batch(&b, &batch) == 1) {
		if (batch.data[0] != EV_STRINGS)
			continue;
		for (at = time = 0; batch__event(&batch, &at, &time, &ev);) {
			if (ev.type != EV_STRING)
				continue;
			assert_true(ev.arg[0] > last_id);
			last_id = ev.arg[0];
			x->strings++;
			assert_in_range(ev.arg[1], 1, TRACE_STRING_MAX);
			if (ev.blob[0] == 0)
				take_part(x, ev.blob, ev.arg[1], &expected);
		}
	}
	assert_int_equal(expected, 0);
	free(b.data);
}

static void assert_pair(struct bytes *b, const char *name, const char *value, size_t len)
{
	assert_int_equal(bytes__leb(b), strlen(name));
	assert_memory_equal(b->data + b->at, name, strlen(name));
	b->at += strlen(name);
	assert_int_equal(bytes__leb(b), len);
	assert_memory_equal(b->data + b->at, value, len);
	b->at += len;
}

TEST(metadata)
{
	struct fixture *x = *state;
	struct private_meta m = { .tool = "gotrace-bpf 0.1",
				  .command = "/bin/x\0-p\0"
					     "1",
				  .command_len = 12,
				  .clock = "CLOCK_MONOTONIC",
				  .go_version = "go1.26.8" };
	struct bytes *b = &x->records[0].data;

	assert_int_equal(private__meta(x->w, &m), 0);
	read_back(x);
	assert_int_equal(x->count, 1);
	assert_int_equal(x->records[0].kind, PRIVATE_META);
	assert_pair(b, "tool", "gotrace-bpf 0.1", 15);
	assert_pair(b, "command",
		    "/bin/x\0-p\0"
		    "1",
		    12);
	assert_pair(b, "clock", "CLOCK_MONOTONIC", 15);
	assert_pair(b, "go_version", "go1.26.8", 8);
	assert_int_equal(b->at, b->len);
}

TEST(losses_and_ticks)
{
	struct fixture *x = *state;
	struct private_loss l[] = { { 1, 5, 100, 250 }, { 50, UINT64_MAX, 7, 7 } };
	struct private_host_clock clock = { 9, true, 16000000000, 1000, -3 };
	struct bytes *b = &x->records[0].data;

	assert_int_equal(private__losses(x->w, l, 2), 0);
	assert_int_equal(private__losses(x->w, NULL, 0), 0);
	assert_int_equal(private__ticks(x->w, 64, 123456789012, 1757300000000000000), 0);
	assert_int_equal(private__host_clock(x->w, &clock), 0);
	read_back(x);
	assert_int_equal(x->count, 4);
	assert_int_equal(x->records[0].kind, PRIVATE_LOSSES);
	assert_int_equal(bytes__leb(b), 1);
	assert_int_equal(bytes__leb(b), 5);
	assert_int_equal(bytes__leb(b), 100);
	assert_int_equal(bytes__leb(b), 150);
	assert_int_equal(bytes__leb(b), 50);
	assert_true(bytes__leb(b) == UINT64_MAX);
	assert_int_equal(bytes__leb(b), 7);
	assert_int_equal(bytes__leb(b), 0);
	assert_int_equal(b->at, b->len);
	assert_int_equal(x->records[1].data.len, 0);
	b = &x->records[2].data;
	assert_int_equal(bytes__leb(b), 64);
	assert_int_equal(bytes__leb(b), 123456789012);
	assert_int_equal(bytes__leb(b), 1757300000000000000);
	b = &x->records[3].data;
	assert_int_equal(x->records[3].kind, PRIVATE_HOST_CLOCK);
	assert_int_equal(bytes__leb(b), 9);
	assert_int_equal(bytes__leb(b), 1);
	assert_int_equal(bytes__leb(b), 16000000000);
	assert_int_equal(bytes__leb(b), 1000);
	assert_int_equal(bytes__leb(b), 5);
	assert_int_equal(b->at, b->len);
}

TEST(long_records_are_split)
{
	static const size_t lengths[] = { 985, 986, 987, 988, 1024, 1972, 100000 };
	struct fixture *x = *state;
	static char data[100000];
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 13 + i / 1000;
	for (i = 0; i < 7; i++)
		assert_int_equal(private__record(x->w, 7, data, lengths[i]), 0);
	read_back(x);
	assert_int_equal(x->count, 7);
	for (i = 0; i < 7; i++) {
		assert_int_equal(x->records[i].data.len, lengths[i]);
		assert_memory_equal(x->records[i].data.data, data, lengths[i]);
	}
}

TEST(private_and_ordinary_strings)
{
	struct fixture *x = *state;
	uint64_t label = intern__cstring(x->in, "a label");

	intern__cstring(x->in, "unused");
	assert_int_equal(private__ticks(x->w, 1, 2, 3), 0);
	assert_int_equal(writer__event(x->w, 5, 2000, EV_GO_LABEL, &label, 1), 0);
	intern__cstring(x->in, "later");
	read_back(x);
	assert_int_equal(x->count, 1);
	assert_int_equal(x->strings, 2);
}

TEST(limits_and_errors)
{
	static char data[TRACE_STRING_MAX + 1];
	struct fixture *x = *state;

	assert_int_equal(writer__private(x->w, data, 0), -EINVAL);
	assert_int_equal(writer__private(x->w, data, sizeof(data)), -EINVAL);
	assert_int_equal(writer__private(x->w, data, TRACE_STRING_MAX), 0);
	assert_int_equal(writer__close(x->w), 0);
	assert_int_equal(private__ticks(x->w, 1, 2, 3), -EINVAL);
}

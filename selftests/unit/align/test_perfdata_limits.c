// SPDX-License-Identifier: GPL-2.0
/* perf.data: the limits of what is taken, from both sides. */
#include "unit/test.h"
#include "align/perfdata.h"
#include "perfdata/made.h"

/* The reason why it is refused; NULL: it is not. Frees both. */
static const char *refusal(struct made_perf *m, struct made *b)
{
	static struct error err;
	struct perf_data *d;
	struct input *in;
	int code;

	err = (struct error){};
	assert_int_equal(input__open_memory(&in, b->data, b->len, &err), 0);
	code = perf_data__open(&d, in, &err);
	free(b);
	free(m);
	if (code)
		return err.text;
	perf_data__close(d);
	return NULL;
}

static void assert_refused(struct made_perf *m, struct made *b, const char *part)
{
	const char *why = refusal(m, b);

	if (!why || !strstr(why, part))
		fail_msg("not \"%s\" but \"%s\"", part, why ? why : "nothing");
}

/* A number has 1, 2, 4 or 8 bytes. */
TEST(sizes_of_numbers)
{
	static const char format_of[] = "name: sched_switch\nID: 7\nformat:\n" MADE_COMMON
		MADE_FIELD("pid_t prev_pid", 24, 4, 1) MADE_FIELD(
			"pid_t next_pid", 56, 4,
			1) "\tfield:long prev_state;\toffset:32;\tsize:%u;\tsigned:1;\n\nprint fmt: \"\"\n";

	for (unsigned int size = 1; size <= 16; size++) {
		struct made_perf *m = made_perf();
		char format[1024];

		snprintf(format, sizeof(format), format_of, size);
		m->switch_format = format;
		made_recording(m);
		if (size == 1 || size == 2 || size == 4 || size == 8)
			assert_null(refusal(m, made_file(m)));
		else
			assert_refused(m, made_file(m), "no valid field prev_state");
	}
}

/* Long records of zeros that are left out: 64 MB of them are taken, whatever few bytes they came from. */
TEST(growth)
{
	static const uint8_t zeros[65520];
	static struct made frame;

	for (unsigned int frames = 500; frames <= 520; frames += 20) {
		struct made_perf *m = made_perf();
		struct made *b;

		m->packed = 60000;
		made_recording(m);
		b = made_pipe(m);
		m->records.len = frame.len = 0;
		made_record(&m->records, PERF_RECORD_MMAP, 0, zeros, sizeof(zeros));
		made_record(&m->records, PERF_RECORD_MMAP, 0, zeros, sizeof(zeros));
		made_pack(m, &frame);
		for (unsigned int i = 0; i < frames; i++)
			made_put(b, frame.data, frame.len);
		if (frames * 2 * (sizeof(zeros) + 8) < 64u << 20)
			assert_null(refusal(m, b));
		else
			assert_refused(m, b, "the decompressed size of its records exceeds");
	}
}

/* Where some bytes stand in the file. */
static size_t find(const struct made *b, const void *bytes, size_t len)
{
	const uint8_t *at = memmem(b->data, b->len, bytes, len);

	assert_non_null(at);
	return (size_t)(at - b->data);
}

/* An attribute has the bytes of the oldest perf's at least, its ids' place behind it, and 4096 at most. */
TEST(sizes_of_attributes)
{
	static const struct {
		uint64_t size;
		bool good;
	} cases[] = { { PERF_ATTR_SIZE_VER0 + 15, false }, { 4097, false }, { 0, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_perf *m = made_perf();
		struct made *b;

		made_recording(m);
		b = made_file(m);
		made_patch(b, 16, cases[i].size, 8);
		assert_refused(m, b, "event description");
	}
	for (unsigned int size = PERF_ATTR_SIZE_VER0; size <= 512; size += 448) {
		struct made_perf *m = made_perf();

		m->attr_size = size;
		made_recording(m);
		assert_null(refusal(m, made_file(m)));
	}
}

/* The two bytes after the version: the order of bytes, and the size of a long. */
TEST(machines)
{
	for (unsigned int at = 0; at < 2; at++) {
		struct made_perf *m = made_perf();
		struct made *b;

		made_recording(m);
		b = made_file(m);
		made_patch(b, find(b, "\x17\x08\x44tracing0.6", 14) + 14 + at, at ? 4 : 1, 1);
		assert_refused(m, b, "it must be little-endian and 64-bit");
	}
}

static size_t losses_of(struct made_perf *m)
{
	struct made *b = made_file(m);
	struct error err = {};
	struct perf_data *d;
	struct input *in;
	size_t n;

	assert_int_equal(input__open_memory(&in, b->data, b->len, &err), 0);
	assert_int_equal(perf_data__open(&d, in, &err), 0);
	perf_data__losses(d, &n);
	perf_data__close(d);
	free(b);
	free(m);
	return n;
}

/* Of a single event, which has no ids, the place of what comes behind a record is known as well. */
TEST(losses_of_one_event)
{
	struct made_perf *m = made_perf();

	m->one_event = true;
	m->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	made_switch(m, 10, 0, 1001, 1, 0);
	made_lost_at(m, 3, 50, 1);
	assert_int_equal(losses_of(m), 1);
}

/* Twice as many as are kept: each two are made one, and no more. */
TEST(an_even_number_of_losses)
{
	struct made_perf *m = made_perf();

	made_switch(m, 10, 0, 1001, 1, 0);
	for (uint64_t i = 0; i < 2 * PERF_LOSSES_MAX; i++)
		made_lost_at(m, 1, 1000 + 10 * i, 0);
	assert_int_equal(losses_of(m), PERF_LOSSES_MAX);
}

TEST(other_compression)
{
	struct made_perf *m = made_perf();
	struct made *b;

	m->packed = 1000;
	made_recording(m);
	b = made_file(m);
	made_patch(b, b->len - 16, 2, 4); /* of the last section: its second number */
	assert_refused(m, b, "unsupported compression");
}

/* A record that announces bytes behind it, and does not say how many. */
TEST(records_with_a_payload)
{
	static const uint32_t types[] = { 66, 71 }; /* tracing data, aux trace */

	for (size_t i = 0; i < 2; i++) {
		struct made_perf *m = made_perf();

		made_recording(m);
		made_record(&m->records, types[i], 0, "", 0);
		assert_refused(m, made_file(m), "record");
	}
}

/* A report of no losses is none; one that is cut is broken. */
TEST(losses)
{
	for (uint64_t n = 0; n <= 1; n++) {
		struct made_perf *m = made_perf();

		made_recording(m);
		made_lost_at(m, n, 50, 1);
		assert_int_equal(losses_of(m), n);
	}
	for (unsigned int size = 0; size <= 8; size += 8) {
		struct made_perf *m = made_perf();

		made_recording(m);
		made_record(&m->records, PERF_RECORD_LOST, 0, (uint64_t[]){ 70 }, size);
		assert_refused(m, made_file(m), "lost record");
	}
	perf_data__close(NULL);
}

TEST(by_its_path)
{
	char path[] = "/tmp/test_perfdata_limits.XXXXXX";
	struct made_perf *m = made_perf();
	struct error err = {};
	struct perf_data *d = NULL;
	struct made *b;
	int fd = mkstemp(path);
	size_t n;

	made_recording(m);
	b = made_file(m);
	assert_int_equal(write(fd, b->data, b->len), b->len);
	close(fd);
	assert_int_equal(perf_data__open_path(&d, path, &err), 0);
	perf_data__sched(d, &n);
	assert_true(n > 0);
	perf_data__close(d);
	assert_int_equal(truncate(path, (off_t)b->len / 2), 0);
	assert_int_equal(perf_data__open_path(&d, path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "test_perfdata_limits."));
	unlink(path);
	err = (struct error){};
	assert_int_equal(perf_data__open_path(&d, path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "No such file"));
	free(b);
	free(m);
}

/* "unsigned long x" is what a field looks like; one that lies elsewhere has a word and [] more. */
TEST(declarations)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{ "int prev_pid", true },
		{ "unsigned int prev_pid", true },
		{ "prev_pid", false },
		{ "int *", false },
		{ "int [] prev_pid", false },
		{ "int prev_pid[", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_perf *m = made_perf();
		char format[1024];

		snprintf(format, sizeof(format),
			 "name: sched_switch\nID: 7\nformat:\n" MADE_COMMON
			 "\tfield:%s;\toffset:24;\tsize:4;\tsigned:1;\n" MADE_FIELD(
				 "pid_t next_pid", 56, 4, 1)
				 MADE_FIELD("long prev_state", 32, 8, 1) "\nprint fmt: \"\"\n",
			 cases[i].text);
		m->switch_format = format;
		made_recording(m);
		if (cases[i].good)
			assert_null(refusal(m, made_file(m)));
		else
			assert_refused(m, made_file(m), "");
	}
}

// SPDX-License-Identifier: GPL-2.0
/* Private records of an anonymous trace: their numbers remain, and no other bytes of the input. */
#include "unit/test.h"
#include "format/describe.h"
#include "format/encode.h"
#include "format/private_read.h"
#include "rewrite/anonymize.h"

#include "unit/rewrite_fixture.h"

#define PLANTED "planted text"

/* A record of these numbers, followed by the planted text. */
static void plant(enum private_kind kind, const uint64_t *numbers, size_t n)
{
	uint8_t data[256], *p = data;

	for (size_t i = 0; i < n; i++)
		p = leb__put(p, numbers[i]);
	memcpy(p, PLANTED, sizeof(PLANTED));
	ok(private__record(x.w, kind, data, (size_t)(p - data) + sizeof(PLANTED)));
}

/* A table that has the planted text after the one of this program. */
static void plant_table(void)
{
	struct outbuf table = {};
	uint8_t *ours;
	size_t len;

	ok(description__encode(&ours, &len));
	ok(outbuf__put(&table, ours, len, NULL));
	ok(outbuf__put(&table, PLANTED, sizeof(PLANTED), NULL));
	ok(private__record(x.w, PRIVATE_TABLE, table.data, table.len));
	outbuf__deinit(&table);
	free(ours);
}

/* Parts of a record that are not in order, and a string that only begins like a record. */
static void plant_corrupt_parts(void)
{
	static const uint8_t first[] = { PRIVATE_LOSSES, 0, 1, 0 },
			     second[] = { PRIVATE_LOSSES, 7, 0, 0 };
	const uint8_t *parts[] = { first, second, (const uint8_t *)PLANTED };
	char text[PRIVATE_PREFIX_LEN + 4 + sizeof(PLANTED)];

	for (size_t i = 0; i < 3; i++) {
		memcpy(text, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
		memcpy(text + PRIVATE_PREFIX_LEN, parts[i], 4);
		memcpy(text + PRIVATE_PREFIX_LEN + 4, PLANTED, sizeof(PLANTED));
		ok(writer__private(x.w, text, sizeof(text)));
	}
}

static void plant_texts(void)
{
	static const struct private_meta meta = {
		.tool = "gotrace-bpf 0.1" PLANTED,
		.command = PLANTED,
		.command_len = sizeof(PLANTED),
		.build_id = PLANTED,
		.clock = "CLOCK_MONOTONIC" PLANTED,
		.go_version = "go1.26.8 " PLANTED,
	};
	struct private_recorded recorded = { 5, 6, 7, "sched," PLANTED ",gc" };

	ok(private__meta(x.w, &meta));
	ok(private__cause(x.w, 9, PLANTED));
	ok(private__recorded(x.w, &recorded));
	ok(private__plugin(x.w, &(struct private_plugin){ 8, 9, true, PLANTED, 0 }));
}

static const char *planted_trace(void)
{
	static const uint64_t numbers[] = { 11, 22, 33, 44, 55 }, clock[] = { 11, 1, 33, 44, 55 },
			      times[] = { 0, 14, 2, 1000, 3, 0, 0, 500 };
	const char *path = scratch("planted");

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1000, 5000000001000));
	plant(PRIVATE_LOSSES, numbers, 4);
	plant(PRIVATE_TICKS, (const uint64_t[]){ 1, 1000, 5000000001000 }, 3);
	plant(PRIVATE_CORRECTION, numbers, 5);
	plant(PRIVATE_ALIGNMENT, NULL, 0);
	plant(PRIVATE_SAMPLED, numbers, 1);
	plant(PRIVATE_CLOCK, numbers + 1, 1);
	plant(PRIVATE_SHORT, numbers, 5);
	plant(PRIVATE_HOST_CLOCK, clock, 5);
	plant(PRIVATE_CPU_SAMPLES, numbers, 3);
	plant(PRIVATE_REQUESTS, times, 8);
	plant(PRIVATE_KIND_END, numbers, 5);
	plant_table();
	plant_texts();
	plant_corrupt_parts();
	ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 1, 1, GO_RUNNING, 0));
	put(1, 1008, EV_HEAP_ALLOC, 1, 0, 0);
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	stop(NULL);
	return path;
}

static const char *anonymous(const char *path)
{
	struct anonymizer names;

	ok(anonymizer__init(&names, "key", false));
	return rewritten(
		path, &(struct rewrite_opts){ .version = 25, .from = INT64_MIN, .names = &names });
}

static bool has_planted(const char *path)
{
	struct bytes b = bytes__read(path);
	bool has = memmem(b.data, b.len, "planted", strlen("planted"));

	free(b.data);
	return has;
}

/* The data of the only record of this kind in the first generation of a trace; valid until the next call. */
static struct buf record_of(const char *path, enum private_kind kind)
{
	static uint8_t data[8192];
	struct reader *r = open_path(path);
	struct private_record record;
	struct private_reader in;
	struct error err = {};
	struct trace_event ev;
	size_t n = 0, len = 0;

	assert_int_equal(reader__next(r, &ev, &err), 1);
	private_reader__init(&in, ev.dictionary);
	while (private_reader__next(&in, &record) > 0) {
		if (record.kind != kind)
			continue;
		n++;
		len = buf__left(&record.data);
		assert_true(len <= sizeof(data));
		memcpy(data, record.data.start, len);
	}
	assert_int_equal(n, 1);
	assert_int_equal(in.bad + in.unknown, 0);
	private_reader__deinit(&in);
	reader__destroy(r);
	return buf__make(data, len);
}

TEST(no_other_bytes_remain)
{
	const char *path = planted_trace();

	assert_true(has_planted(path));
	assert_true(has_planted(part(path, 25, INT64_MIN, 0)));
	assert_false(has_planted(anonymous(path)));
}

/* The record has these numbers and nothing else. */
static void assert_numbers(const char *path, enum private_kind kind, const uint64_t *want, size_t n)
{
	struct buf data = record_of(path, kind);

	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf__uleb(&data), want[i]);
	assert_false(data.bad);
	assert_int_equal(buf__left(&data), 0);
}

TEST(numbers_remain)
{
	static const uint64_t numbers[] = { 11, 22, 33, 44, 55 };
	const char *path = anonymous(planted_trace());

	assert_numbers(path, PRIVATE_TICKS, (const uint64_t[]){ 1, 1000, 5000000001000 }, 3);
	assert_numbers(path, PRIVATE_CORRECTION, numbers, 5);
	assert_numbers(path, PRIVATE_SAMPLED, numbers, 1);
	assert_numbers(path, PRIVATE_CLOCK, numbers + 1, 1);
	assert_numbers(path, PRIVATE_SHORT, numbers, 5);
	assert_numbers(path, PRIVATE_HOST_CLOCK, (const uint64_t[]){ 11, 1, 33, 44, 55 }, 5);
	assert_numbers(path, PRIVATE_CPU_SAMPLES, numbers, 3);
	assert_numbers(path, PRIVATE_CAUSE, (const uint64_t[]){ 9 }, 1);
	assert_numbers(path, PRIVATE_ALIGNMENT, NULL, 0);
}

/* What follows may be read as further losses. */
TEST(losses_remain)
{
	struct buf data = record_of(anonymous(planted_trace()), PRIVATE_LOSSES);
	struct private_loss loss;

	assert_true(private_read__loss(&data, &loss));
	assert_int_equal(loss.kind, 11);
	assert_int_equal(loss.count, 22);
	assert_int_equal(loss.from, 33);
	assert_int_equal(loss.to, 33 + 44);
}

TEST(times_of_requests_remain)
{
	struct buf data = record_of(anonymous(planted_trace()), PRIVATE_REQUESTS);
	struct private_request request = {};

	assert_true(private_read__request(&data, &request));
	assert_int_equal(request.what, REQUEST_ARRIVED);
	assert_int_equal(request.task, 7);
	assert_int_equal(request.g, 1);
	assert_int_equal(request.time, 500);
	assert_true(private_read__request(&data, &request));
	assert_int_equal(request.what, REQUEST_ANSWERED);
	assert_int_equal(request.task, 7);
	assert_int_equal(request.time, 750);
	assert_false(private_read__request(&data, &request));
}

TEST(versions_and_sets_remain)
{
	const char *path = anonymous(planted_trace());
	struct buf data = record_of(path, PRIVATE_META);
	struct private_recorded recorded;
	struct private_plugin plugin;
	struct private_pair pair;

	assert_true(private_read__pair(&data, &pair));
	assert_true(trace_string__equals(pair.name, "tool") &&
		    trace_string__equals(pair.value, "gotrace-bpf 0.1"));
	assert_true(private_read__pair(&data, &pair));
	assert_true(trace_string__equals(pair.name, "go_version") &&
		    trace_string__equals(pair.value, "go1.26.8"));
	assert_false(private_read__pair(&data, &pair));
	data = record_of(path, PRIVATE_RECORDED);
	assert_true(private_read__recorded(&data, &recorded));
	assert_true(recorded.time == 5 && recorded.cost == 6 && recorded.budget == 7);
	assert_string_equal(recorded.sets, "sched,gc");
	data = record_of(path, PRIVATE_PLUGIN);
	assert_true(private_read__plugin(&data, &plugin));
	assert_true(plugin.from == 8 && plugin.to == 9 && plugin.recorded && !plugin.text_len);
}

TEST(table_is_ours)
{
	struct buf data = record_of(anonymous(planted_trace()), PRIVATE_TABLE);
	uint8_t *ours;
	size_t len;

	ok(description__encode(&ours, &len));
	assert_int_equal(buf__left(&data), len);
	assert_memory_equal(data.start, ours, len);
	free(ours);
}

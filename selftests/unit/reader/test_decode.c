// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of v2 traces: headers, limits of batches and tables, errors.
 */
#include "unit/test.h"
#include "format/header.h"
#include "reader/decode.h"

static uint8_t file[1 << 20]; /* the trace, without header */
static size_t len;
static struct decoder *decoder;
static struct input *input;
static struct block_pool blocks;
static struct generation gen; /* the last one decoded */
static struct error err;

static int setup(void **state)
{
	len = 0;
	block_pool__init(&blocks);
	generation__init(&gen, &blocks);
	return 0;
}

static void close_decoder(void)
{
	decoder__destroy(decoder);
	input__destroy(input);
	decoder = NULL;
	input = NULL;
	err = (struct error){};
}

static void teardown(void)
{
	close_decoder();
	generation__deinit(&gen);
	block_pool__deinit(&blocks);
}

FIXTURE(setup, teardown)

/* ---- hand-made traces ---- */

static void put(const void *data, size_t n)
{
	assert_true(n <= sizeof(file) - len);
	memcpy(file + len, data, n);
	len += n;
}

static void put_leb(uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		file[len++] = (uint8_t)(v | 0x80);
	file[len++] = (uint8_t)v;
}

static void put_head(uint64_t number, uint64_t m, uint64_t time, size_t size)
{
	file[len++] = EV_EVENT_BATCH;
	put_leb(number);
	put_leb(m);
	put_leb(time);
	put_leb(size);
}

static void put_batch(uint64_t number, uint64_t m, uint64_t time, const void *data, size_t n)
{
	put_head(number, m, time, n);
	put(data, n);
}

#define BYTES(...)	   (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define BATCH(number, ...) put_batch(number, 7, 100, BYTES(__VA_ARGS__))
#define HZ_1E9		   EV_FREQUENCY, 0x80, 0x94, 0xeb, 0xdc, 0x03
#define HZ_5E8		   EV_FREQUENCY, 0x80, 0xca, 0xb5, 0xee, 0x01
#define CLOCK		   EV_CLOCK_SNAPSHOT, 1, 2, 3, 4

static void open_decoder(unsigned int version)
{
	close_decoder();
	assert_int_equal(input__open_memory(&input, file, len, &err), 0);
	decoder = decoder__create(input, version);
	assert_non_null(decoder);
}

static int next(void)
{
	return decoder__next(decoder, &gen, &err);
}

/* Expects this number of valid generations, then this error; NULL: the end. Consumes the bytes. */
static void expect(unsigned int version, int generations, const char *text)
{
	open_decoder(version);
	for (int i = 0; i < generations; i++)
		assert_int_equal(next(), 1);
	assert_int_equal(next(), text ? -EBADMSG : 0);
	assert_string_equal(err.text, text ? text : "");
	len = 0;
}

/* ---- tests ---- */

static int header_of(const char *bytes, size_t n, unsigned int *ret_version)
{
	struct input *in;
	int code;

	err = (struct error){};
	*ret_version = 77;
	assert_int_equal(input__open_memory(&in, bytes, n, &err), 0);
	code = header__read(in, ret_version, &err);
	assert_int_equal(header__is_one(bytes, n),
			 code == 0 || strstr(err.text, "unknown") != NULL);
	input__destroy(in);
	return code;
}

TEST(headers)
{
	static const unsigned int known[] = { 5, 7, 8, 9, 10, 11, 19, 21, 22, 23, 25, 26 };
	unsigned int version, at = 0;
	char text[17];

	for (unsigned int i = 0; i < 100; i++) {
		memset(text, 0, sizeof(text));
		snprintf(text, sizeof(text), "go 1.%u trace", i);
		if (at < sizeof(known) / sizeof(*known) && i == known[at]) {
			assert_int_equal(header_of(text, 16, &version), 0);
			assert_int_equal(version, known[at++]);
			assert_int_equal(header__is_v1(version), version <= 21);
		} else {
			assert_int_equal(header_of(text, 16, &version), -EPROTONOSUPPORT);
			assert_int_equal(version, 77);
		}
		assert_int_equal(header_of(text, 15, &version), -EPROTONOSUPPORT);
	}
	assert_int_equal(header_of("gotrace\0\0\0\0\0\0\0\0", 16, &version), 0); /* before Go 1.5 */
	assert_int_equal(version, 0);
	assert_int_equal(header_of("gotrace\0", 8, &version), 0);
	assert_int_equal(header_of("gotrace", 7, &version), -EPROTONOSUPPORT);
	assert_int_equal(header_of("gotrace 1.22 \0\0\0", 16, &version), -EPROTONOSUPPORT);
	assert_int_equal(header_of("go 1.22 trace\0\0x", 16, &version), -EPROTONOSUPPORT);
	assert_int_equal(header_of("go 1.22 traced\0\0", 16, &version), -EPROTONOSUPPORT);
	assert_int_equal(header_of("", 0, &version), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "is empty"));
}

TEST(valid_generations)
{
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put_batch(1, 8, 90, BYTES(EV_PROC_STOP, 1));
	put_batch(1, 9, 95, BYTES(EV_PROC_STOP, 2));
	put_batch(1, 8, 110, BYTES(EV_PROC_STOP, 3));
	BATCH(2, EV_SYNC, HZ_5E8, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(gen.number, 1);
	assert_int_equal(gen.offset, 0);
	assert_int_equal(gen.batches, 4);
	assert_int_equal(gen.min_time, 90);
	assert_int_equal(gen.whole_ns, 1);
	assert_true(gen.clock.known);
	assert_int_equal(gen.clock.time, 101);
	assert_true(gen.clock.mono == 2 && gen.clock.sec == 3 && gen.clock.nsec == 4);
	assert_int_equal(gen.nthreads, 2);
	assert_true(gen.threads[0].m == 8 && gen.threads[0].n == 2);
	assert_true(gen.threads[1].m == 9 && gen.threads[1].n == 1);
	assert_int_equal(gen.threads[0].batch[1].time, 110);
	assert_int_equal(gen.threads[0].batch[1].offset, 31);
	assert_int_equal(gen.threads[0].batch[1].number, 4);
	assert_int_equal(gen.threads[0].batch[1].head, 5);
	assert_int_equal(gen.threads[0].batch[1].len, 2);
	assert_memory_equal(gen.threads[0].batch[1].data, "\x0b\3", 2);
	assert_null(decoder__pending(decoder));
	assert_int_equal(next(), 1);
	assert_int_equal(gen.number, 2);
	assert_int_equal(gen.offset, 38);
	assert_int_equal(gen.batches, 1);
	assert_int_equal(gen.min_time, 100);
	assert_int_equal(gen.clock.time, 202);
	assert_int_equal(gen.nthreads, 0);
	assert_int_equal(next(), 0);
	assert_int_equal(decoder__seek(decoder, 38, &err), 0);
	assert_int_equal(next(), 1);
	assert_int_equal(gen.number, 2);
	assert_int_equal(next(), 0);
}

/* More threads and batches than the initial capacity: all remain separate. */
TEST(many_threads)
{
	for (uint64_t i = 0; i < 100; i++)
		put_batch(1, i % 40, 100 + i, BYTES(EV_PROC_STOP, 1));
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(gen.nthreads, 40);
	for (size_t i = 0; i < 40; i++) {
		assert_int_equal(gen.threads[i].m, i);
		assert_int_equal(gen.threads[i].n, i < 20 ? 3 : 2);
		for (size_t j = 0; j < gen.threads[i].n; j++)
			assert_int_equal(gen.threads[i].batch[j].time, 100 + i + 40 * j);
	}
}

TEST(order_of_generations)
{
	BATCH(3, EV_SYNC, HZ_1E9, CLOCK); /* entries of earlier generations are gone */
	BATCH(4, EV_SYNC, HZ_1E9, CLOCK);
	expect(25, 2, NULL);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	BATCH(3, EV_SYNC, HZ_1E9, CLOCK);
	expect(25, 0,
	       "invalid trace at byte 22 (generation 3, batch 2): "
	       "generations out of order: 3 follows 1");
	BATCH(2, EV_SYNC, HZ_1E9, CLOCK);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	expect(25, 0,
	       "invalid trace at byte 22 (generation 1, batch 2): "
	       "generations out of order: 1 follows 2");
	BATCH(0, EV_SYNC, HZ_1E9, CLOCK);
	expect(25, 0, "invalid trace at byte 5 (generation 0, batch 1): generation number 0");
}

/* Since 1.26 an end mark ends each generation; it is also accepted as the first byte of a batch. */
TEST(end_marks)
{
	static const uint8_t mark = EV_END_OF_GENERATION;

	expect(26, 0, NULL);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put(&mark, 1);
	BATCH(2, EV_SYNC, HZ_1E9, CLOCK);
	BATCH(9, EV_END_OF_GENERATION);
	expect(26, 2, NULL);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	expect(26, 0, NULL); /* no events in it */
	BATCH(1, EV_PROC_STOP, 1);
	expect(26, 0,
	       "invalid trace: it ends at byte 7 within generation 1, whose EndOfGeneration event is missing");
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	BATCH(2, EV_SYNC, HZ_1E9, CLOCK);
	expect(26, 0,
	       "invalid trace at byte 22 (generation 2, batch 2): missing EndOfGeneration event before it, or "
	       "interleaved generations: 2 follows 1");
	BATCH(0, EV_SYNC, HZ_1E9, CLOCK);
	expect(26, 0, "invalid trace at byte 5 (generation 0, batch 1): generation number 0");
	BATCH(1, EV_END_OF_GENERATION);
	expect(25, 0,
	       "invalid trace at byte 5 (generation 1, batch 1, event 1): end of generation "
	       "within a batch");
}

/* An error after a valid generation is reported after that generation. */
TEST(errors_follow_valid_generations)
{
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	file[len++] = EV_PROC_STOP;
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_string_equal(decoder__pending(decoder),
			    "invalid trace at byte 17 (generation 0, batch 2): expected a batch, "
			    "found event type 11");
	assert_int_equal(next(), -EBADMSG);
	assert_string_equal(err.text, decoder__pending(decoder));
	assert_int_equal(decoder__seek(decoder, 0, NULL), 0); /* the valid one again */
	assert_int_equal(next(), 1);
	expect(25, 1,
	       "invalid trace at byte 17 (generation 0, batch 2): expected a batch, found event "
	       "type 11");
	BATCH(1, EV_SYNC, HZ_1E9);
	file[len++] = EV_PROC_STOP; /* more useful than the missing clock */
	expect(25, 0,
	       "invalid trace at byte 12 (generation 0, batch 2): expected a batch, found event "
	       "type 11");
	file[len++] = EV_PROC_STOP;
	expect(25, 0,
	       "invalid trace at byte 0 (generation 0, batch 1): expected a batch, found event "
	       "type 11");
}

TEST(truncated_batches)
{
	expect(25, 0, "invalid trace: it ends after its header");
	put(BYTES(EV_EVENT_BATCH, 1, 7, 100));
	expect(25, 0,
	       "invalid trace at byte 4 (generation 1, batch 1): a batch's header is truncated or "
	       "has a number of more than 64 bits");
	put(BYTES(EV_EVENT_BATCH, 1, 7, 100, 2, EV_PROC_STOP));
	expect(25, 0,
	       "invalid trace at byte 5 (generation 1, batch 1): "
	       "the trace ends within a batch: 1 bytes of 2");
}

TEST(experimental_batches)
{
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put(BYTES(EV_EXPERIMENTAL_BATCH, 1, 1, 7, 100, 2, 0xff, 0xff));
	put(BYTES(EV_EXPERIMENTAL_BATCH, 1, 1, 7, 100, 1, EV_END_OF_GENERATION));
	file[len++] = EV_END_OF_GENERATION;
	expect(26, 1, NULL);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put(BYTES(EV_EXPERIMENTAL_BATCH)); /* Go's reader treats this as the end */
	expect(25, 1, NULL);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put(BYTES(EV_EXPERIMENTAL_BATCH, 1));
	expect(25, 1,
	       "invalid trace at byte 19 (generation 0, batch 2): a batch's header is truncated "
	       "or has a number of more than 64 bits");
}

/* Those of experiment AllocFree are kept, whatever they contain; of others nothing is known. */
TEST(batches_of_alloc_free)
{
	const struct dictionary *d = &gen.dictionary;

	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	put(BYTES(EV_EXPERIMENTAL_BATCH, EXPERIMENT_ALLOC_FREE, 1, 7, 100, 2, 0xff, 0xfe));
	put(BYTES(EV_EXPERIMENTAL_BATCH, 2, 1, 7, 100, 1, 3));
	put(BYTES(EV_EXPERIMENTAL_BATCH, EXPERIMENT_ALLOC_FREE, 1, 7, 100, 0));
	BATCH(2, EV_SYNC, HZ_1E9, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(d->nexperiments, 2);
	assert_int_equal(d->experiments[0].len, 2);
	assert_memory_equal(d->experiments[0].data, "\xff\xfe", 2);
	assert_int_equal(d->experiments[1].len, 0);
	assert_int_equal(next(), 1);
	assert_int_equal(d->nexperiments, 0);
}

TEST(largest_batch)
{
	static const uint8_t data[TRACE_BATCH_MAX + 1] = { EV_PROC_STOP };

	put_batch(1, 7, 100, data, TRACE_BATCH_MAX);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(gen.threads[0].batch[0].len, TRACE_BATCH_MAX);
	expect(25, 1, NULL);
	put_batch(1, 7, 100, data, TRACE_BATCH_MAX + 1);
	expect(25, 0,
	       "invalid trace at byte 7 (generation 1, batch 1): a batch of 65537 bytes; the "
	       "limit is 65536");
}

TEST(string_tables)
{
	static const char text[TRACE_STRING_MAX + 1];
	uint8_t head[] = { EV_STRINGS, EV_STRING, 5, 0x80, 0x08 }; /* of 1024 bytes */
	struct trace_string s;

	put_head(1, 7, 100, sizeof(head) + TRACE_STRING_MAX);
	put(head, sizeof(head));
	put(text, TRACE_STRING_MAX);
	BATCH(1, EV_STRINGS, EV_STRING, 1, 2, 'a', 'b', EV_STRING, 2, 0);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(dictionary__nstrings(&gen.dictionary), 3);
	assert_true(dictionary__string(&gen.dictionary, 5, &s));
	assert_int_equal(s.len, TRACE_STRING_MAX);
	assert_true(dictionary__string(&gen.dictionary, 1, &s));
	assert_int_equal(s.len, 2);
	assert_memory_equal(s.data, "ab", 2);
	len = 0;
	head[3]++;
	put_head(1, 7, 100, sizeof(head) + TRACE_STRING_MAX + 1);
	put(head, sizeof(head));
	put(text, TRACE_STRING_MAX + 1);
	expect(25, 0,
	       "invalid trace at byte 11 (generation 1, batch 1, event 1): a string of 1025 "
	       "bytes; the limit is 1024");
	BATCH(1, EV_STRINGS, EV_STRING, 1, 0, EV_STRING, 1, 0);
	expect(25, 0,
	       "invalid trace at byte 12 (generation 1, batch 1, event 2): "
	       "string 1 is defined twice, or is 0");
	BATCH(1, EV_STRINGS, EV_STRING, 1, 0, EV_STRING, 2, 1);
	expect(25, 0,
	       "invalid trace at byte 12 (generation 1, batch 1, event 2): "
	       "its batch ends within it, or a number has more than 64 bits");
	BATCH(1, EV_STRINGS, EV_STRING, 1, 0, EV_STACK);
	expect(25, 0,
	       "invalid trace at byte 10 (generation 1, batch 1, event 2): "
	       "event type 3 in a batch of Strings");
	BATCH(1, EV_STRINGS, EV_STRING, 1);
	expect(25, 0, NULL); /* Go's reader treats this as the end of the trace */
	BATCH(1, EV_STRINGS, EV_STRING, 0x80);
	expect(25, 0,
	       "invalid trace at byte 8 (generation 1, batch 1, event 1): "
	       "its batch ends within it, or a number has more than 64 bits");
}

TEST(stack_tables)
{
	uint8_t head[] = { EV_STACKS, EV_STACK, 5, 0x80, 0x01 }, frame[] = { 9, 0, 0, 8 };

	for (int n = TRACE_STACK_MAX; n <= TRACE_STACK_MAX + 1; n++) {
		put_head(1, 7, 100, sizeof(head) + (size_t)n * sizeof(frame));
		head[3] = (uint8_t)(0x80 | n);
		put(head, sizeof(head));
		for (int i = 0; i < n; i++)
			put(frame, sizeof(frame));
		BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
		if (n == TRACE_STACK_MAX) {
			open_decoder(25);
			assert_int_equal(next(), 1);
			assert_int_equal(dictionary__frames(&gen.dictionary, 5), n);
			assert_int_equal(dictionary__frame(&gen.dictionary, 5, 127)->line, 8);
			len = 0;
		}
	}
	expect(25, 0,
	       "invalid trace at byte 11 (generation 1, batch 1, event 1): a stack of 129 frames; "
	       "the limit is 128");
	BATCH(1, EV_STACKS, EV_STACK, 1, 0, EV_STACK, 1, 0);
	expect(25, 0,
	       "invalid trace at byte 12 (generation 1, batch 1, event 2): "
	       "stack 1 is defined twice, or is 0");
	BATCH(1, EV_STACKS, EV_STACK, 1, 0, EV_STACK, 2, 1, 9, 0, 0);
	expect(25, 0,
	       "invalid trace at byte 15 (generation 1, batch 1, event 2): "
	       "its batch ends within it, or a number has more than 64 bits");
	BATCH(1, EV_STACKS, EV_STACK, 1);
	expect(25, 0, NULL);
	BATCH(1, EV_STACKS, EV_STRING);
	expect(25, 0,
	       "invalid trace at byte 7 (generation 1, batch 1, event 1): "
	       "event type 5 in a batch of Stacks");
	BATCH(1, EV_STACKS, EV_STACK, 1, 1, 9, 2, 3, 4);
	BATCH(1, EV_SYNC, HZ_1E9, CLOCK);
	expect(25, 0,
	       "invalid trace before byte 30: a stack of generation 1 refers to function 2 and "
	       "file 3, which are not both in its string table");
}

#define SAMPLE EV_CPU_SAMPLE, 0x90, 0x01, 3, 4, 5, 6

TEST(cpu_samples)
{
	BATCH(1, EV_CPU_SAMPLES, EV_CPU_SAMPLE, 90, 1, 2, 0, 0, SAMPLE, EV_CPU_SAMPLE, 80, 3, 4, 5,
	      6);
	BATCH(1, EV_SYNC, HZ_5E8, CLOCK);
	open_decoder(25);
	assert_int_equal(next(), 1);
	assert_int_equal(gen.nsamples, 3);
	assert_int_equal(gen.samples[0].time, 160);
	assert_int_equal(gen.samples[1].time, 180);
	assert_true(gen.samples[1].m == 1 && gen.samples[1].p == 2);
	assert_true(gen.samples[1].g == TRACE_NO_G);
	assert_int_equal(gen.samples[2].time, 288);
	assert_true(gen.samples[2].m == 3 && gen.samples[2].p == 4);
	assert_true(gen.samples[2].g == 5 && gen.samples[2].stack == 6);
	len = 0;
	BATCH(1, EV_CPU_SAMPLES, EV_CPU_SAMPLE, 0x90);
	expect(25, 0,
	       "invalid trace at byte 8 (generation 1, batch 1, event 1): "
	       "its batch ends within it, or a number has more than 64 bits");
	BATCH(1, EV_CPU_SAMPLES, SAMPLE, EV_CPU_SAMPLE, 1, 2, 3, 4, 0x80);
	expect(25, 0,
	       "invalid trace at byte 19 (generation 1, batch 1, event 2): "
	       "its batch ends within it, or a number has more than 64 bits");
	BATCH(1, EV_CPU_SAMPLES, SAMPLE, SAMPLE, EV_STACK);
	expect(25, 0,
	       "invalid trace at byte 21 (generation 1, batch 1, event 3): "
	       "event type 3 in a batch of CPUSamples");
	BATCH(1, EV_CPU_SAMPLES, EV_CPU_SAMPLE, 1, 2, 3, 4);
	expect(25, 0, NULL);
}

TEST(sync_batches)
{
	BATCH(1, EV_FREQUENCY, 0x80, 0x94, 0xeb, 0xdc, 0x03);
	expect(22, 1, NULL);
	BATCH(1, EV_PROC_STOP, 1);
	expect(22, 0, "invalid trace at byte 7: no frequency in generation 1");
	BATCH(1, EV_SYNC, HZ_1E9);
	expect(25, 0, "invalid trace at byte 12: no clock snapshot in generation 1");
	BATCH(1, EV_SYNC, HZ_1E9, HZ_1E9);
	expect(25, 0,
	       "invalid trace at byte 18 (generation 1, batch 1, event 2): "
	       "a second frequency in one generation");
	BATCH(1, EV_SYNC, CLOCK, HZ_1E9, CLOCK);
	expect(25, 0,
	       "invalid trace at byte 18 (generation 1, batch 1, event 3): "
	       "a second clock snapshot in one generation");
	BATCH(1, HZ_1E9, CLOCK); /* 1.23 had no clock snapshot */
	expect(23, 0,
	       "invalid trace at byte 12 (generation 1, batch 1, event 2): "
	       "event type 51 in a sync batch");
	BATCH(1, EV_SYNC, HZ_1E9, EV_STRING);
	expect(25, 0,
	       "invalid trace at byte 13 (generation 1, batch 1, event 2): "
	       "event type 5 in a sync batch");
	BATCH(1, EV_SYNC, HZ_1E9, EV_CLOCK_SNAPSHOT, 1, 2, 0x80);
	expect(25, 0,
	       "invalid trace at byte 16 (generation 1, batch 1, event 2): "
	       "its batch ends within it, or a number has more than 64 bits");
}

/* Whole ticks are multiplied exactly; others, and very large ones, via a double as in Go. */
TEST(ticks_to_nanoseconds)
{
	static const struct {
		uint64_t frequency;
		uint32_t whole;
	} clocks[] = {
		{ 1000000000, 1 }, { 500000000, 2 },  { 1, 1000000000 }, { 300000000, 0 },
		{ 2000000000, 0 }, { 1000, 1000000 }, { 800, 0 }, /* 1.25 ms: may overflow */
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		uint8_t data[20] = { EV_FREQUENCY };
		size_t n;

		len = 0;
		put_leb(clocks[i].frequency);
		n = len;
		memcpy(data + 1, file, n);
		len = 0;
		put_batch(1, 7, 100, data, 1 + n);
		open_decoder(22);
		assert_int_equal(next(), 1);
		assert_int_equal(gen.whole_ns, clocks[i].whole < 1 << 20 ? clocks[i].whole : 0);
		assert_true(gen.ns_per_tick == 1.0 / ((double)clocks[i].frequency / 1e9));
		assert_int_equal(generation__ns(&gen, 1), (int64_t)gen.ns_per_tick);
		assert_int_equal(generation__ns(&gen, 1u << 31),
				 (int64_t)((double)(1u << 31) * gen.ns_per_tick));
	}
	gen.ns_per_tick = gen.whole_ns = 1;
	assert_int_equal(generation__ns(&gen, (1ull << 53) + 1), 1ll << 53);
	assert_int_equal(generation__ns(&gen, UINT64_MAX), INT64_MIN);
}

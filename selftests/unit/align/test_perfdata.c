// SPDX-License-Identifier: GPL-2.0
/* perf.data: every way that perf writes it, cut anywhere, with numbers that are not so. */
#include "unit/test.h"
#include "align/perfdata.h"
#include "gotrace/pid_ns.h"
#include "perfdata/made.h"

static int read_bytes(const void *data, size_t len, struct perf_data **ret, struct error *err)
{
	struct input *in;

	*ret = NULL;
	*err = (struct error){};
	assert_int_equal(input__open_memory(&in, data, len, err), 0);
	return perf_data__open(ret, in, err);
}

/* Takes both over. */
static struct perf_data *read_made(struct made_perf *m, struct made *b)
{
	struct perf_data *d;
	struct error err;

	if (read_bytes(b->data, b->len, &d, &err))
		fail_msg("%s", err.text);
	free(b);
	free(m);
	return d;
}

static const struct perf_sched *find(const struct perf_data *d, enum perf_sched_kind kind)
{
	const struct perf_sched *ev;
	size_t n;

	ev = perf_data__sched(d, &n);
	for (size_t i = 0; i < n; i++)
		if (ev[i].kind == kind)
			return &ev[i];
	fail_msg("no event of kind %d", kind);
	return NULL;
}

#define assert_name(d, id, text) assert_string_equal(perf_data__comm(d, id), text)

static void assert_switches(const struct perf_data *d)
{
	static const struct {
		uint64_t time;
		enum perf_sched_kind kind;
	} sorted[] = {
		{ 4000, PERF_SWITCH },	{ 5000, PERF_SWITCH },	    { 5100, PERF_WAKING },
		{ 5100, PERF_MIGRATE }, { 5100, PERF_SWITCH },	    { 5200, PERF_FORK },
		{ 5400, PERF_EXIT },	{ 5400, PERF_OTHER_SCHED },
	};
	const struct perf_sched *ev, *found[3] = {};
	size_t n, at = 0, row = 0;

	ev = perf_data__sched(d, &n);
	assert_in_range(n, 3, 8);
	for (size_t i = 0; i < n; i++, row++) {
		while (n == 3 && sorted[row].kind != PERF_SWITCH)
			row++;
		assert_int_equal(ev[i].time, sorted[row].time);
		assert_int_equal(ev[i].kind, sorted[row].kind);
		if (ev[i].kind == PERF_SWITCH && at < 3)
			found[at++] = &ev[i];
	}
	assert_int_equal(at, 3);
	assert_int_equal(found[0]->time, 4000);
	assert_int_equal(found[0]->cpu, 1);
	assert_int_equal(found[0]->tid, 0);
	assert_int_equal(found[0]->next, 1001);
	assert_true(found[0]->preempted);
	assert_name(d, found[0]->comm, "swapper/0");
	assert_name(d, found[0]->next_comm, "a name of 15 by");
	assert_name(d, found[0]->event, "sched_switch");
	assert_int_equal(found[1]->time, 5000);
	assert_int_equal(found[1]->state, 1);
	assert_int_equal(found[1]->by, 1001);
	assert_int_equal(found[1]->pid, 1000);
	assert_false(found[1]->preempted);
	assert_int_equal(found[2]->state, 0x100);
	assert_true(found[2]->preempted);
}

static void assert_others(const struct perf_data *d)
{
	const struct perf_sched *ev = find(d, PERF_WAKING);

	assert_int_equal(ev->tid, 1001);
	assert_int_equal(ev->by, 1002);
	assert_int_equal(ev->next, 1);
	ev = find(d, PERF_MIGRATE);
	assert_int_equal(ev->state, 0);
	assert_int_equal(ev->next, 1);
	ev = find(d, PERF_FORK);
	assert_int_equal(ev->tid, 1002);
	assert_int_equal(ev->next, 1003);
	assert_name(d, ev->comm, "parent");
	assert_name(d, ev->next_comm, "child");
	assert_int_equal(find(d, PERF_EXIT)->tid, 1003);
	ev = find(d, PERF_OTHER_SCHED);
	assert_int_equal(ev->tid, 1003);
	assert_name(d, ev->event, "sched_stat_runtime");
}

static void assert_example(struct perf_data *d, bool one_event, const char *described)
{
	size_t n;

	assert_switches(d);
	perf_data__sched(d, &n);
	assert_int_equal(n, one_event ? 3 : 8);
	if (!one_event)
		assert_others(d);
	assert_int_equal(perf_data__clock(d), 1);
	assert_int_equal(perf_data__lost(d), 3);
	assert_int_equal(perf_data__process(d, 1001), 1000);
	assert_int_equal(perf_data__process(d, 1004), 1000);
	assert_int_equal(perf_data__process(d, 1005), 1000);
	assert_int_equal(perf_data__process(d, 4711), 0);
	assert_string_equal(perf_data__describe(d), described);
	perf_data__close(d);
}

/*
 * perf numbers the thread of a sample by its own PID namespace, and the kernel the threads of an event by
 * the initial one. The thread with the number 900001 is 1 in the namespace, and later another one, 11.
 */
TEST(test_pid_namespace)
{
	static const struct {
		enum perf_sched_kind kind;
		uint32_t tid, next, by;
	} wanted[] = {
		{ PERF_SWITCH, 42 + GT_PID_OUTSIDE, 1, 0 },
		{ PERF_FORK, 1, 2, 1 },
		{ PERF_WAKING, 2, 7, 1 },
		{ PERF_SWITCH, 1, 42 + GT_PID_OUTSIDE, 1 },
		{ PERF_WAKING, 2, 7, 42 + GT_PID_OUTSIDE },
		{ PERF_SWITCH, 42 + GT_PID_OUTSIDE, 0, 0 },
		{ PERF_WAKING, 2, 7, 0 },
		{ PERF_SWITCH, 0, 2, 0 },
		{ PERF_SWITCH, 2, 11, 2 },
		{ PERF_SWITCH, 11, 0, 11 },
		{ PERF_SWITCH, 0, 11, 0 }, /* and does not leave it */
		{ PERF_EXIT, 3, 0, 3 },	   /* its last switch has no number of perf's namespace */
		{ PERF_SWITCH, 3, 0, UINT32_MAX },
		{ PERF_SWITCH, 900002 + GT_PID_OUTSIDE, 0,
		  0 }, /* a number that is used again outside */
		{ PERF_WAKING, 900002 + GT_PID_OUTSIDE, 7, UINT32_MAX }, /* after a loss */
	};
	struct made_perf *m = made_perf();
	const struct perf_sched *ev;
	struct perf_data *d;
	size_t n;

	m->outside = 900000;
	made_switch(m, 1000, 0, 42, 0, 900001);
	made_fork(m, 1100, 900001, 900002);
	made_other(m, MADE_WAKING, 1200, 0, 900001, 900002, 7, 7);
	made_switch(m, 1300, 0, 900001, 1, 42);
	made_other(m, MADE_WAKING, 1400, 0, 42, 900002, 7, 7);
	made_switch(m, 1500, 0, 42, 1, 0);
	made_other(m, MADE_WAKING, 1600, 0, 0, 900002, 7, 7);
	made_switch(m, 1700, 0, 0, 0, 900002);
	made_switch(m, 1800, 0, 900002, 1, 900001);
	m->outside -= 10;
	made_switch(m, 1900, 0, 900001, 1, 0);
	made_switch(m, 2000, 0, 0, 0, 900001);
	m->outside = 900000;
	made_other(m, MADE_EXIT, 2100, 1, 900003, 900003, 0, 0);
	m->dead = true;
	made_switch(m, 2200, 1, 900003, 0x10, 0);
	m->dead = false;
	m->outside = 950000;
	made_switch(m, 2300, 1, 900002, 1, 0);
	made_lost_at(m, 5, 2400, 1);
	made_other(m, MADE_WAKING, 2500, 1, 0, 900002, 7, 7);
	d = read_made(m, made_file(m));
	ev = perf_data__sched(d, &n);
	assert_int_equal(n, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ev[i].kind, wanted[i].kind);
		assert_int_equal(ev[i].tid, wanted[i].tid);
		assert_int_equal(ev[i].next, wanted[i].next);
		assert_int_equal(ev[i].by, wanted[i].by);
	}
	perf_data__close(d);
}

TEST(test_losses)
{
	struct made_perf *m = made_perf();
	const struct perf_loss *loss;
	struct perf_data *d;
	size_t n;

	made_lost_at(m, 5, 3000, 0);
	made_switch(m, 2990, 0, 1001, 1, 0); /* it was stamped before the room was made */
	made_lost_at(m, 7, 4000, 0);
	made_switch(m, 4010, 0, 0, 0, 1001);
	made_lost(m, 2, 0);		     /* and does not say when */
	made_switch(m, 2000, 1, 1001, 1, 0); /* another CPU */
	made_lost_at(m, 1, 2500, 1);
	d = read_made(m, made_file(m));
	assert_int_equal(perf_data__lost(d), 15);
	loss = perf_data__losses(d, &n);
	assert_int_equal(n, 3);
	assert_int_equal(loss[0].from, 2000);
	assert_int_equal(loss[0].to, 2500);
	assert_int_equal(loss[0].count, 1);
	assert_int_equal(loss[1].from, 2990);
	assert_int_equal(loss[1].to, 2990);
	assert_int_equal(loss[1].count, 5);
	assert_int_equal(loss[2].from, 2990);
	assert_int_equal(loss[2].to, 4000);
	perf_data__close(d);
}

TEST(test_many_losses)
{
	struct made_perf *m = made_perf();
	const struct perf_loss *loss;
	struct perf_data *d;
	uint64_t sum = 0;
	size_t n;

	for (uint64_t i = 0; i < 2 * PERF_LOSSES_MAX + 1; i++)
		made_lost_at(m, 1, 1000 + 10 * i, 0);
	made_switch(m, 1000000, 1, 1001, 1, 0);
	d = read_made(m, made_file(m));
	loss = perf_data__losses(d, &n);
	assert_in_range(n, PERF_LOSSES_MAX / 2, PERF_LOSSES_MAX);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || loss[i].from > loss[i - 1].to);
		sum += loss[i].count;
	}
	assert_int_equal(sum, 2 * PERF_LOSSES_MAX + 1);
	assert_int_equal(loss[0].from, 1000);
	assert_int_equal(loss[n - 1].to, 1000 + 20 * PERF_LOSSES_MAX);
	perf_data__close(d);
}

/* Two that are made one, of CPUs of which one was silent for long: the earlier begin counts. */
TEST(test_merged_losses)
{
	struct made_perf *m = made_perf();
	const struct perf_loss *loss;
	struct perf_data *d;
	size_t n;

	made_switch(m, 500, 1, 1001, 1, 0);
	made_lost_at(m, 3, 2000, 0);
	made_lost_at(m, 4, 2005, 1); /* lost since 500, and sorted behind the one of CPU 0 */
	for (uint64_t i = 1; i < PERF_LOSSES_MAX; i++)
		made_lost_at(m, 1, 2000 + 10 * i, 0);
	made_switch(m, 1000000, 0, 1001, 1, 0);
	d = read_made(m, made_file(m));
	loss = perf_data__losses(d, &n);
	assert_int_equal(n, PERF_LOSSES_MAX / 2 + 1);
	assert_int_equal(loss[0].from, 500);
	assert_int_equal(loss[0].to, 2005);
	assert_int_equal(loss[0].count, 7);
	assert_int_equal(loss[1].from, 2010);
	assert_int_equal(loss[1].to, 2020);
	assert_int_equal(loss[1].count, 2);
	assert_int_equal(loss[n - 1].count, 1); /* an odd one is left as it is */
	perf_data__close(d);
}

TEST(test_file_and_pipe)
{
	struct made_perf *m = made_perf();

	made_recording(m);
	assert_example(read_made(m, made_file(m)), false, "perf 6.1.made");
	m = made_perf();
	made_recording(m);
	assert_example(read_made(m, made_pipe(m)), false, "perf 6.1.made, pipe");
}

/* A compressed stream cut into records of any size, with padding behind them or not. */
TEST(test_compressed)
{
	static const size_t sizes[] = { 1, 7, 64, 400, 30000 };

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		struct made_perf *m = made_perf();

		m->packed = sizes[i / 2] < 4 ? 4 : sizes[i / 2];
		m->packed2 = i % 2;
		made_recording(m);
		assert_example(read_made(m, made_file(m)), false, "perf 6.1.made, zstd");
		m = made_perf();
		m->packed = sizes[i / 2] < 4 ? 4 : sizes[i / 2];
		m->packed2 = i % 2;
		made_recording(m);
		assert_example(read_made(m, made_pipe(m)), false, "perf 6.1.made, zstd, pipe");
	}
}

/* More than fits into one buffer of ours, in records that lie across its end. */
TEST(test_compressed_long)
{
	struct made_perf *m = made_perf();
	struct perf_data *d;
	size_t n;

	m->packed = 5000;
	made_recording(m);
	for (unsigned int i = 0; i < 900; i++)
		made_switch(m, 10000 + i, i % 2, 1000 + i, i, 2000 + i);
	d = read_made(m, made_file(m));
	perf_data__sched(d, &n);
	assert_int_equal(n, 908);
	perf_data__close(d);
}

/* Whatever stands in a sample before the event's own bytes, in any combination. */
TEST(test_sample_types)
{
	static const uint64_t bits[] = { PERF_SAMPLE_ADDR,	   PERF_SAMPLE_STREAM_ID,
					 PERF_SAMPLE_READ,	   PERF_SAMPLE_CALLCHAIN,
					 PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_ID };

	for (unsigned int which = 0; which < 1 << 6; which++)
		for (unsigned int format = 0; format < (which & 4 ? 32 : 2); format++) {
			struct made_perf *m = made_perf();

			for (unsigned int i = 0; i < 6; i++)
				m->sample_type |= which >> i & 1 ? bits[i] : 0;
			if (m->sample_type & PERF_SAMPLE_ID && format % 2)
				m->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
			m->read_format = format;
			made_recording(m);
			assert_example(read_made(m, made_file(m)), false, "perf 6.1.made");
		}
}

TEST(test_one_event_without_ids)
{
	struct made_perf *m = made_perf();

	m->one_event = true;
	m->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	made_recording(m);
	assert_example(read_made(m, made_file(m)), true, "perf 6.1.made");
}

/* Attributes of 64 bytes have no clock, and so no clock id. */
TEST(test_ages)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made_perf *m = made_perf();
		struct perf_data *d;

		m->attr_size = sizes[i];
		m->clock = sizes[i] < 96 ? -1 : 1;
		made_recording(m);
		d = read_made(m, made_file(m));
		assert_switches(d);
		assert_int_equal(perf_data__clock(d), sizes[i] < 96 ? PERF_NO_CLOCK : 1);
		perf_data__close(d);
	}
}

TEST(test_auxtrace)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct made_perf *m = made_perf();

		made_auxtrace(m, 70000);
		made_auxtrace(m, 0);
		made_recording(m);
		assert_example(read_made(m, pipe ? made_pipe(m) : made_file(m)), false,
			       pipe ? "perf 6.1.made, pipe" : "perf 6.1.made");
	}
}

TEST(test_other_clocks)
{
	static const int clocks[] = { -1, 0, 4, 11 };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		struct made_perf *m = made_perf();
		struct perf_data *d;

		m->clock = clocks[i];
		made_recording(m);
		d = read_made(m, made_file(m));
		assert_int_equal(perf_data__clock(d), clocks[i]);
		perf_data__close(d);
	}
}

/* It begins anywhere, in long runs, in short ones, in none. `next` numbers the events in the file. */
TEST(test_order)
{
	for (unsigned int step = 1; step < 400; step += 7) {
		struct made_perf *m = made_perf();
		const struct perf_sched *ev;
		struct perf_data *d;
		size_t n;

		m->one_event = true;
		for (unsigned int i = 0; i < 400; i++)
			made_switch(m, 1000 + i * step % 401 / 2, i % 2, 1, 0, i + 1);
		d = read_made(m, made_file(m));
		ev = perf_data__sched(d, &n);
		assert_int_equal(n, 400);
		for (size_t i = 1; i < n; i++) {
			assert_true(ev[i].time >= ev[i - 1].time);
			if (ev[i].time == ev[i - 1].time)
				assert_true(ev[i].next > ev[i - 1].next);
		}
		perf_data__close(d);
	}
}

/* The reason why it is refused, which is one line; NULL: it is not. Closes what it opened. */
static const char *refusal(const void *data, size_t len)
{
	static struct error err;
	struct perf_data *d;

	if (!read_bytes(data, len, &d, &err)) {
		perf_data__close(d);
		return NULL;
	}
	assert_null(d);
	assert_true(err.text[0]);
	assert_null(strchr(err.text, '\n'));
	return err.text;
}

/* Of a copy, so that the sanitizer sees a byte too much. */
static const char *refusal_of_copy(const struct made *b, size_t len)
{
	void *copy = memcpy(malloc(len ? len : 1), b->data, len);
	const char *why = refusal(copy, len);

	free(copy);
	return why;
}

TEST(test_cut_anywhere)
{
	for (unsigned int packed = 0; packed < 3; packed++) {
		struct made_perf *m = made_perf();
		struct made *b;

		m->packed = packed * 50;
		made_recording(m);
		b = made_file(m);
		for (size_t len = 0; len < b->len; len += packed ? 5 : 1)
			if (!refusal_of_copy(b, len))
				fail_msg("%zu of %zu bytes are taken", len, b->len);
		assert_null(refusal_of_copy(b, b->len));
		free(b);
		b = made_pipe(m);
		for (size_t len = 0; len < b->len; len += packed ? 5 : 1)
			refusal_of_copy(b, len);
		free(b);
		free(m);
	}
}

static void assert_refused(struct made_perf *m, struct made *b, const char *part)
{
	const char *why = refusal_of_copy(b, b->len);

	if (!why || !strstr(why, part))
		fail_msg("not \"%s\" but \"%s\"", part, why ? why : "nothing");
	free(b);
	free(m);
}

/* One number of the file at a time is something else: three values of each, in turn. */
TEST(test_hostile_numbers)
{
	static const uint64_t values[] = { 0,	       1,	   8,
					   0x7fffffff, 0xffffffff, 1ull << 40,
					   INT64_MAX,  UINT64_MAX, UINT64_MAX - 15 };

	for (int pipe = 0; pipe < 2; pipe++) {
		struct made_perf *m = made_perf();
		struct made *b;
		uint64_t was;

		made_recording(m);
		b = pipe ? made_pipe(m) : made_file(m);
		for (size_t at = 8; at + 8 <= b->len; at += 8)
			for (size_t i = at / 8 % 3; i < sizeof(values) / sizeof(*values); i += 3)
				for (size_t size = 4; size <= 8; size += 4) {
					memcpy(&was, b->data + at, 8);
					made_patch(b, at, values[i], size);
					refusal_of_copy(b, b->len);
					made_patch(b, at, was, 8);
				}
		free(b);
		free(m);
	}
}

TEST(test_no_perf_data)
{
	assert_non_null(strstr(refusal("", 0), "not a perf.data file"));
	assert_non_null(strstr(refusal("PERFILE2", 8), "not a perf.data file"));
	assert_non_null(strstr(refusal("go 1.26 trace\0\0\0", 16), "not a perf.data file"));
	assert_non_null(strstr(refusal("2ELIFREP\0\0\0\0\0\0\0\x68", 16), "big-endian"));
	assert_non_null(strstr(refusal("PERFFILE\x68\0\0\0\0\0\0\0", 16), "older than 2010"));
}

TEST(test_refused)
{
	struct made_perf *m = made_perf();
	struct made *b;

	made_recording(m);
	b = made_file(m);
	made_patch(b, 48, 0, 8);
	assert_refused(m, b, "incomplete: perf is still recording");

	m = made_perf();
	made_recording(m);
	b = made_file(m);
	made_patch(b, MADE_HEADER + 16, 10 * MADE_SWITCH, 8);
	assert_refused(m, b, "two events have the ID 70");

	m = made_perf();
	made_recording(m);
	b = made_file(m);
	b->data[72 + 3] |= 1; /* the section of a folder, before no other */
	b->data[72] &= (uint8_t)~(1 << 5);
	assert_refused(m, b, "--threads");

	m = made_perf();
	m->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	made_recording(m);
	assert_refused(m, made_file(m), "the IDs of their events");

	m = made_perf();
	m->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	made_recording(m);
	assert_refused(m, made_file(m), "lack the thread, time");

	m = made_perf();
	assert_refused(m, made_pipe(m), "none of its 0 samples is a scheduler event");
}

/* What the text of a format says is not believed. */
TEST(test_formats)
{
	static const char *const bad[] = {
		"",
		"\n",
		"name: x\n",
		"name: sched_switch\nID: 7\nformat:\n",
		"name: sched_switch\nID: 7\nformat:\n\nprint fmt: \"\"\n",
		"name: sched_switch\nID: x\nformat:\n" MADE_COMMON "\nprint fmt: \"\"\n",
		"name: a b\nID: 7\nformat:\n" MADE_COMMON "\nprint fmt: \"\"\n",
		"name: sched_switch\nID: 7\nformat:\n" MADE_COMMON MADE_FIELD("pid_t prev_pid", 24,
									      3, 1)
			MADE_FIELD("pid_t next_pid", 56, 4, 1) "\nprint fmt: \"\"\n",
		"name: sched_switch\nID: 7\nformat:\n" MADE_COMMON MADE_FIELD(
			"pid_t prev_pid", 65530, 4, 1) MADE_FIELD("pid_t next_pid", 56, 4, 1)
			MADE_FIELD("long prev_state", 32, 8, 1) "\nprint fmt: \"\"\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct made_perf *m = made_perf();

		m->switch_format = bad[i];
		made_recording(m);
		assert_refused(m, made_file(m), "");
	}
}

/* A few bytes that unpack to gigabytes of events take no gigabytes of memory. */
TEST(test_bomb)
{
	struct made_perf *m = made_perf();
	static struct made many;
	struct made *b;

	m->packed = 60000;
	made_recording(m);
	b = made_pipe(m);
	m->records.len = 0;
	while (m->records.len < MADE_SIZE - 200)
		made_switch(m, 1, 0, 1, 0, 2);
	made_pack(m, &many);
	for (unsigned int i = 0; i < 450; i++) /* each is a frame of its own */
		made_put(b, many.data, many.len);
	assert_refused(m, b, "cannot contain more");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A trace with an event type that our table lacks: rejected as by Go's reader; or, if the trace
 * describes the event, skipped, counted and described.
 */
#include "unit/test.h"
#include "format/describe.h"
#include "format/private.h"
#include "reader/reader.h"

#include "unit/bytes_made.h"

enum { FANCY = 60, NEW_CONTROL = 61, UNHEARD_OF = 62 };

/* Our own table and two more rows. */
static void add_table(struct made_bytes *b)
{
	static const char fancy[] = "\x3c\x27\0\0\0"
				    "\5\0Fancy"
				    "\x0c\0It is fancy."
				    "\0\1\0\0\0\2\0\1\0n\0\0\1\1\0s\0\0"; /* a number, a string */
	static const char control[] = "\x3d\x09\0\0\0"
				      "\3\0New\0\0\0";
	uint32_t size;
	uint8_t *own;
	size_t len;

	assert_int_equal(description__encode(&own, &len), 0);
	memcpy(&size, own + 1, 4);
	size += sizeof(fancy) - 1 + sizeof(control);
	memcpy(own + 1, &size, 4);
	own[5] += 2;
	add(b, own, len);
	add(b, fancy, sizeof(fancy) - 1);
	add(b, control, sizeof(control));
	free(own);
}

static void add_strings(struct made_bytes *b)
{
	static struct made_bytes table, strings;
	size_t at, n;
	uint64_t id = 0;

	table.len = strings.len = 0;
	add_table(&table);
	add_leb(&strings, EV_STRINGS);
	for (at = 0; at < table.len; at += n) {
		n = table.len - at < 900 ? table.len - at : 900;
		add_leb(&strings, EV_STRING);
		add_leb(&strings, ++id);
		add_leb(&strings, PRIVATE_PREFIX_LEN + 3 + n);
		add(&strings, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
		add_leb(&strings, PRIVATE_TABLE);
		add_leb(&strings, id - 1);
		add_leb(&strings, at + n < table.len);
		add(&strings, table.data + at, n);
	}
	add_batch(b, 1, 1, 1000, strings.data, strings.len);
}

#define EVENTS(bytes)	    bytes, sizeof(bytes) - 1
#define FREQUENCY	    EVENTS("\x08\x80\x94\xeb\xdc\x03") /* 1e9 */
#define FANCY_EVENT(dt)	    "\x3c" dt "\7\3abc"
#define PROC_STATUS	    "\x0d\1\0\2"
#define PROC_START(dt, seq) "\x0a" dt "\0" seq
#define PROC_STOP	    "\x0b\1"

/* Two generations of one thread; the first contains the table. */
static struct made_bytes *trace(bool table, const void *events, size_t len)
{
	static struct made_bytes b;

	b.len = 0;
	add(&b, "go 1.22 trace\0\0\0", 16);
	add_batch(&b, 1, 1, 1000, FREQUENCY);
	add_batch(&b, 1, 1, 1000, events, len);
	if (table)
		add_strings(&b);
	add_batch(&b, 2, 1, 2000, FREQUENCY);
	add_batch(&b, 2, 1, 2000, EVENTS(FANCY_EVENT("\5") PROC_STATUS PROC_START("\1", "\1")));
	return &b;
}

static struct reader *open_bytes(const struct made_bytes *b, bool described)
{
	struct error err = {};
	struct reader *r;
	struct input *in;

	assert_int_equal(input__open_memory(&in, b->data, b->len, &err), 0);
	assert_int_equal(
		reader__open(&r, in, &(struct reader_opts){ .described = described }, &err), 0);
	return r;
}

static void assert_event(struct reader *r, enum ev type, int64_t time)
{
	struct trace_event ev;
	struct error err = {};

	assert_int_equal(reader__next(r, &ev, &err), 1);
	assert_int_equal(ev.type, type);
	assert_int_equal(ev.time, time);
}

static void assert_broken(struct reader *r, const char *reason)
{
	struct trace_event ev;
	struct error err = {};

	assert_int_equal(reader__next(r, &ev, &err), -EBADMSG);
	assert_non_null(strstr(err.text, reason));
	reader__destroy(r);
}

TEST(unknown_events_are_skipped)
{
	struct reader *r = open_bytes(
		trace(true, EVENTS(FANCY_EVENT("\5") FANCY_EVENT("\x80\1") PROC_STATUS FANCY_EVENT(
				    "\3") PROC_START("\2", "\1") PROC_STOP FANCY_EVENT("\1"))),
		true);
	const struct described_event *ev;
	struct trace_event end;
	struct error err = {};

	assert_event(r, EV_SYNC, 1000);
	assert_event(r, EV_PROC_STATUS, 1000 + 5 + 128 + 1);
	assert_event(r, EV_PROC_START, 1134 + 3 + 2);
	assert_event(r, EV_PROC_STOP, 1140);
	assert_event(r, EV_SYNC, 2000);
	assert_event(r, EV_PROC_STATUS, 2006);
	assert_event(r, EV_PROC_START, 2007);
	assert_event(r, EV_SYNC, 2008);
	assert_int_equal(reader__next(r, &end, &err), 0);
	assert_int_equal(reader__skipped(r, EV_PROC_START, &ev), 0);
	assert_int_equal(reader__skipped(r, FANCY, &ev), 5);
	assert_int_equal(ev->name.len, 5);
	assert_memory_equal(ev->name.data, "Fancy", 5);
	assert_memory_equal(ev->what.data, "It is fancy.", 12);
	reader__destroy(r);
}

TEST(unknown_events_are_rejected)
{
	struct made_bytes *b = trace(true, EVENTS(PROC_STATUS FANCY_EVENT("\5")));
	struct reader *r;

	r = open_bytes(b, false);
	assert_event(r, EV_SYNC, 1000);
	assert_broken(r, "event 2: type 60");
	r = open_bytes(trace(false, EVENTS(PROC_STATUS FANCY_EVENT("\5"))), true);
	assert_event(r, EV_SYNC, 1000);
	assert_broken(r, "event 2: type 60");
}

TEST(undescribed_events_are_rejected)
{
	/* not in a table; control event; string longer than the batch; text of a string table */
	static const struct {
		const char *bytes;
		size_t len;
		const char *reason;
	} events[] = {
		{ EVENTS(PROC_STATUS FANCY_EVENT("\1") "\x3e\1"), ": type 62" },
		{ EVENTS(PROC_STATUS FANCY_EVENT("\1") "\x3d\1"), ": type 61" },
		{ EVENTS(PROC_STATUS FANCY_EVENT("\1") "\x3c\1\7\4abc"), ": type 60" },
		{ EVENTS(PROC_STATUS FANCY_EVENT("\1") "\x05\1"), ": String" },
	};
	struct reader *r;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		r = open_bytes(trace(true, events[i].bytes, events[i].len), true);
		assert_event(r, EV_SYNC, 1000);
		assert_broken(r, events[i].reason);
	}
}

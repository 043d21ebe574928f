// SPDX-License-Identifier: GPL-2.0
/*
 * The self-description of events: encoding and decoding of our table, hand-made tables, tables of a
 * later version, corrupt tables, and skipping of events.
 */
#include "unit/test.h"
#include "format/describe.h"

#include "unit/bytes_made.h"

#define FANCY 60 /* an event type that no Go release has */

static struct {
	uint8_t *bytes;
	size_t len;
	struct description *d;
} own;

static int setup(void **state)
{
	struct error err = {};

	return description__encode(&own.bytes, &own.len) ||
	       description__decode(&own.d, own.bytes, own.len, &err);
}

static void teardown(void)
{
	description__destroy(own.d);
	free(own.bytes);
}

GROUP(setup, teardown)

static void assert_text(struct trace_string text, const char *expected)
{
	assert_int_equal(text.len, strlen(expected));
	assert_memory_equal(text.data, expected, text.len);
}

TEST(every_event_is_described)
{
	const struct described_event *ev;
	const struct ev_doc *words;
	const struct ev_spec *spec;
	unsigned int type, n = 0, i;

	for (type = 0; type < 256; type++) {
		spec = spec__event(type);
		words = spec__doc(type);
		ev = description__event(own.d, type);
		assert_true(!ev == !spec && !words == !spec);
		if (!ev)
			continue;
		n++;
		assert_int_equal(ev->type, type);
		assert_text(ev->name, spec->name);
		assert_text(ev->what, words->what);
		assert_int_equal(ev->descriptive, words->descriptive);
		assert_int_equal(ev->scope, words->scope);
		assert_int_equal(ev->class, words->class);
		assert_int_equal(ev->link, words->link);
		assert_int_equal(ev->nargs, words->descriptive ? spec->nargs - 1 : 0);
		for (i = 0; i < ev->nargs; i++) {
			assert_text(ev->args[i].name, spec->arg[i + 1].name);
			assert_text(ev->args[i].what, spec__arg_doc(spec->arg[i + 1].name));
			assert_int_equal(ev->args[i].type == DESCRIBED_STACK,
					 spec->arg[i + 1].type == ARG_STACK);
			assert_int_equal(ev->args[i].type == DESCRIBED_STRING_ID,
					 spec->arg[i + 1].type == ARG_STRING);
		}
	}
	assert_int_equal(n, 61);
	assert_int_equal(own.d->n, n);
	assert_int_equal(own.d->minor, DESCRIPTION_MINOR);
}

TEST(statuses_have_names)
{
	const struct described_event *ev = description__event(own.d, EV_GO_STATUS_STACK);

	assert_int_equal(ev->nvalues, 4);
	assert_int_equal(ev->values[3].value, GO_WAITING);
	assert_text(ev->values[3].name, "Waiting");
	assert_text(ev->values[3].what, "is blocked");
	assert_int_equal(description__event(own.d, EV_GO_STATUS)->nvalues, 4);
	assert_int_equal(description__event(own.d, EV_PROC_STATUS)->nvalues, 4);
	assert_int_equal(description__event(own.d, EV_GO_STOP)->nvalues, 0);
}

/* Each file contains the table: a few KB, not more. */
TEST(table_is_small)
{
	assert_in_range(own.len, 1000, 8192);
}

/* The row of GoLabel in our table, byte by byte. */
TEST(row_matches_manual)
{
	static const uint8_t row[] = "\x27\x53\0\0\0"
				     "\x07\0GoLabel"
				     "\x28\0The running goroutine was given a label."
				     "\0"	  /* values */
				     "\1\0\0\0\1" /* descriptive: G, instant, no link, 1 argument */
				     "\2\x0c\0label_string"
				     "\x09\0the label";
	size_t at = 6;
	uint32_t size;

	assert_int_equal(own.bytes[0], 0);
	memcpy(&size, own.bytes + 1, 4);
	assert_int_equal(size, own.len - 5);
	assert_int_equal(own.bytes[5], 61);
	while (own.bytes[at] != EV_GO_LABEL) {
		memcpy(&size, own.bytes + at + 1, 4);
		at += 5 + size;
	}
	assert_memory_equal(own.bytes + at, row, sizeof(row) - 1);
}

/* A hand-made table. */
static struct made_bytes table_of(uint8_t minor, uint8_t n)
{
	struct made_bytes t = { .data = { minor, 0, 0, 0, 0, n }, .len = 6 };

	return t;
}

static void add_row(struct made_bytes *t, uint8_t type, const void *row, uint32_t len)
{
	add(t, &type, 1);
	add(t, &len, 4);
	add(t, row, len);
}

static struct error reason; /* of the last refusal */

static int decode(struct made_bytes *t, struct description **ret)
{
	struct error err = {};
	uint32_t size = t->len - 5;
	int code;

	memcpy(t->data + 1, &size, 4);
	code = description__decode(ret, t->data, t->len, &err);
	assert_true(!code == !err.text[0]);
	reason = err;
	return code;
}

static void assert_refused(struct made_bytes *t)
{
	struct description *d = NULL;

	assert_int_equal(decode(t, &d), -EBADMSG);
	assert_null(d);
}

#define ROW(text) (text), sizeof(text) - 1

/* Control event: nothing follows the flag. */
#define PLAIN	  ROW("\1\0X\0\0\0\0")
/* "Fancy", descriptive, P, range end of 61; a number, a string id, a stack, an inline string */
#define FANCY_ROW                                                                                  \
	ROW("\5\0Fancy\4\0What\0\1\2\2\x3d\4\0\1\0n\0\0\2\1\0i\0\0\3\1\0s\0\0\1\1\0b\2\0is")

TEST(hand_made_row)
{
	struct made_bytes t = table_of(0, 2);
	const struct described_event *ev;
	struct description *d;

	add_row(&t, FANCY, FANCY_ROW);
	add_row(&t, 255, PLAIN);
	assert_int_equal(decode(&t, &d), 0);
	ev = description__event(d, FANCY);
	assert_text(ev->name, "Fancy");
	assert_text(ev->what, "What");
	assert_true(ev->descriptive);
	assert_int_equal(ev->scope, SCOPE_P);
	assert_int_equal(ev->class, CLASS_END);
	assert_int_equal(ev->link, 61);
	assert_int_equal(ev->nargs, 4);
	assert_text(ev->args[3].name, "b");
	assert_text(ev->args[3].what, "is");
	assert_false(description__event(d, 255)->descriptive);
	assert_null(description__event(d, 1));
	assert_int_equal(d->len, t.len);
	assert_memory_equal(d->bytes, t.data, t.len);
	description__destroy(d);
}

TEST(later_versions_may_append)
{
	/* After the row, after all rows, and after the table. */
	struct made_bytes t = table_of(1, 2);
	struct description *d;
	struct buf b = buf__make("\7", 1);
	uint64_t dt;

	add_row(&t, FANCY, ROW("\1\0F\0\0\0\1\x09\x08\0\1\x07\1\0n\0\0and more"));
	add_row(&t, 61, ROW("\1\0G\0\0\0\2\0\0\0\0"));
	add(&t, "more", 4);
	assert_int_equal(decode(&t, &d), 0);
	assert_int_equal(description__event(d, FANCY)->scope, 9);
	assert_false(description__skip(d, FANCY, &b, &dt)); /* an argument of unknown length */
	b = buf__make("\7", 1);
	assert_true(description__skip(d, 61, &b, &dt));
	assert_int_equal(dt, 7);
	description__destroy(d);
}

TEST(corrupt_tables_are_rejected)
{
	static const struct {
		const void *row;
		size_t len;
	} rows[] = {
		{ ROW("\1\0F\0\0\0\2\0\0\0\0") },	    /* the flag */
		{ ROW("\1\0F\0\0\0\1\4\0\0\0") },	    /* the scope */
		{ ROW("\1\0F\0\0\0\1\0\3\0\0") },	    /* the class */
		{ ROW("\1\0F\0\0\0\1\0\0\0\1\4\0\0\0\0") }, /* an argument's type */
		{ ROW("\1\0F\0\0\0\1\0\0\0\1") },	    /* an argument is missing */
		{ ROW("\1\0F\0\0\1\0") },		    /* a value is cut off */
		{ ROW("\2\0F") },
		{ ROW("") },
	};
	struct made_bytes t;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		t = table_of(0, 1);
		add_row(&t, FANCY, rows[i].row, rows[i].len);
		assert_refused(&t);
	}
	t = table_of(0, 1);
	add_row(&t, 0, PLAIN);
	assert_refused(&t);
	t = table_of(0, 2);
	add_row(&t, 5, PLAIN);
	add_row(&t, 5, PLAIN);
	assert_refused(&t);
	t = table_of(0, 2);
	add_row(&t, 5, PLAIN);
	assert_refused(&t);
	assert_non_null(strstr(reason.text, "truncated event table, in row 2"));
}

TEST(truncated_tables_are_rejected)
{
	struct description *d;
	struct error err;
	uint8_t *copy;
	size_t len;

	for (len = 0; len < own.len; len++) {
		copy = malloc(len + 1); /* of exact size, so that reads past it are detected */
		memcpy(copy + 1, own.bytes, len);
		err.text[0] = '\0';
		assert_int_equal(description__decode(&d, copy + 1, len, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "event table"));
		free(copy);
	}
}

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* Any table is either decoded or rejected, and a decoded one can be used. */
TEST(random_corruption_is_harmless)
{
	uint8_t *copy = malloc(own.len);
	struct description *d;
	unsigned int round, i, read = 0;
	uint32_t x = 1;
	uint64_t dt;

	for (round = 0; round < 20000; round++) {
		struct error err = {};

		memcpy(copy, own.bytes, own.len);
		for (i = next_random(&x) % 4; i < 4; i++)
			copy[next_random(&x) % (round & 1 ? own.len : 300)] = next_random(&x);
		if (description__decode(&d, copy, own.len, &err))
			continue;
		read++;
		for (i = 0; i < 256; i++) {
			struct buf b = buf__make(own.bytes, own.len);

			description__skip(d, i, &b, &dt);
			assert_true(b.pos <= b.end);
		}
		description__destroy(d);
	}
	assert_in_range(read, 1, 19999);
	free(copy);
}

TEST(unknown_events_are_skipped)
{
	/* dt 300, a padded 5, 1, 2, "xyz"; then the next event's type */
	static const uint8_t event[] = "\xac\x02\x85\x80\x00\1\2\3xyz\x10";
	struct made_bytes t = table_of(0, 2);
	struct description *d;
	struct buf b = buf__make(event, sizeof(event) - 1);
	uint64_t dt = 0;
	size_t len;

	add_row(&t, FANCY, FANCY_ROW);
	add_row(&t, 61, PLAIN);
	assert_int_equal(decode(&t, &d), 0);
	assert_true(description__skip(d, FANCY, &b, &dt));
	assert_int_equal(dt, 300);
	assert_int_equal(buf__u8(&b), 0x10);
	for (len = 0; len < sizeof(event) - 2; len++) {
		b = buf__make(event, len);
		assert_false(description__skip(d, FANCY, &b, &dt));
	}
	b = buf__make(event, sizeof(event) - 1);
	assert_false(description__skip(d, 61, &b, &dt)); /* control */
	assert_false(description__skip(d, 62, &b, &dt)); /* in no table */
	description__destroy(d);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Names and messages of annotations: see texts.h. Upstream: sequencer.c, which passes TEXT records,
 * and state_user.c, which asks for string ids. Downstream: writer/intern.c.
 */
#include "sequence/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/buf.h"
#include "sequence/once.h"
#include "sequence/places.h"

#define DISPLACED_MAX (8u << 20) /* bytes of names that the probes no longer remember */

struct text {
	struct placed placed;
	uint32_t holders;    /* references: from the places and from open regions */
	uint32_t id;	     /* string id, good in */
	uint32_t generation; /* as of intern__generation(); id 0: in none yet */
	uint32_t len;
	char bytes[];
};

struct texts {
	struct intern *in;
	struct places name;		    /* struct text by number */
	struct text *given[GT_TEXTS_GIVEN]; /* GT_TEXT_GIVEN() */
	struct once messages;
	uint32_t missing; /* string id of TEXTS_MISSING */
};

static void drop_name(void *ctx, struct placed *placed)
{
	texts__release((struct text *)placed);
}

struct texts *texts__create(struct intern *in)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->in = in;
	if (places__init(&t->name, GT_TEXT_PLACES, DISPLACED_MAX, drop_name, NULL)) {
		free(t);
		return NULL;
	}
	return t;
}

void texts__destroy(struct texts *t)
{
	if (!t)
		return;
	places__deinit(&t->name);
	for (size_t i = 0; i < GT_TEXTS_GIVEN; i++)
		texts__release(t->given[i]);
	once__deinit(&t->messages);
	free(t);
}

/* A text that was cut may end within a UTF-8 character, which is removed. */
static uint32_t whole_length(const struct gt_text *text)
{
	const unsigned char *bytes = (const void *)(text + 1);
	uint32_t len = text->len, tail = 0, want;

	if (!text->cut)
		return len;
	while (tail < 3 && tail < len && (bytes[len - 1 - tail] & 0xc0) == 0x80) {
		PARSER_STEPS(1);
		tail++;
	}
	if (tail == len)
		return len;
	want = bytes[len - 1 - tail];
	want = want >= 0xf0 ? 3 : want >= 0xe0 ? 2 : want >= 0xc0 ? 1 : 0;
	return want > tail ? len - 1 - tail : len;
}

static bool text__is(const struct text *text, const char *bytes, size_t len)
{
	return text->len == len && !memcmp(text->bytes, bytes, len);
}

/* Where a name is kept that the recorder has given; NULL: it is another name. */
static struct text **given(struct texts *t, uint64_t number)
{
	uint64_t i = (number - GT_TEXT_GIVEN(0)) / 4;

	return number == GT_TEXT_GIVEN(i) && i < GT_TEXTS_GIVEN ? &t->given[i] : NULL;
}

static struct text *new_name(uint64_t number, uint64_t time, const char *bytes, size_t len)
{
	struct text *text = calloc(1, sizeof(*text) + len);

	if (!text)
		return NULL;
	text->placed.key = number;
	text->placed.time = time;
	text->placed.bytes = (uint32_t)(sizeof(*text) + len);
	text->holders = 1;
	text->len = (uint32_t)len;
	memcpy(text->bytes, bytes, len);
	return text;
}

static int keep_given(struct text **place, uint64_t number, const char *bytes, size_t len)
{
	if (!*place && len) {
		*place = new_name(number, 0, bytes, len);
		return *place ? 0 : -ENOMEM;
	}
	return 0;
}

static int keep_name(struct texts *t, uint64_t number, uint64_t time, const char *bytes, size_t len)
{
	struct text *text = map__get(&t->name.map, number);
	int err;

	if (given(t, number))
		return keep_given(given(t, number), number, bytes, len);
	if (number <= GT_TEXT_UNREAD || !len)
		return 0;
	if (text && !text->placed.is_displaced && text__is(text, bytes, len))
		return 0;
	text = new_name(number, time, bytes, len);
	if (!text)
		return -ENOMEM;
	err = places__put(&t->name, &text->placed);
	if (err)
		free(text);
	return err;
}

static int add_name(struct texts *t, const struct gt_record *rec)
{
	const struct gt_text *text = (const void *)(rec + 1);

	return keep_name(t, rec->object, rec->time, (const char *)(text + 1), whole_length(text));
}

static int add_message(struct texts *t, const struct gt_record *rec)
{
	const struct gt_text *text = (const void *)(rec + 1);
	int err = once__put(&t->messages, rec->object, rec->time, text + 1, whole_length(text));

	return err == -ENOBUFS ? 0 : err;
}

int texts__add(struct texts *t, const struct gt_record *rec)
{
	return rec->object & GT_TEXT_ONCE ? add_message(t, rec) : add_name(t, rec);
}

static uint32_t stand_in(struct texts *t)
{
	if (!t->missing)
		t->missing = intern__cstring(t->in, TEXTS_MISSING);
	return t->missing;
}

static uint32_t missing(struct texts *t, uint64_t *misses)
{
	(*misses)++;
	return stand_in(t);
}

/* Interned per generation: memory is bounded by the names of one generation. */
static uint32_t text__id(struct texts *t, struct text *text)
{
	if (!text->id || text->generation != intern__generation(t->in)) {
		text->id = intern__transient(t->in, text->bytes, text->len);
		text->generation = intern__generation(t->in);
	}
	return text->id;
}

/* A permanent number for a name. */
static uint64_t number_of(const char *bytes, size_t len)
{
	return (hash__bytes(bytes, len) & ~GT_TEXT_ONCE) | 2; /* neither EMPTY nor UNREAD */
}

uint64_t texts__settle(struct texts *t, uint64_t number, uint64_t time)
{
	const char *text;
	uint64_t settled;
	size_t len;

	if (!(number & GT_TEXT_ONCE))
		return number;
	text = once__get(&t->messages, number, &len);
	if (!text)
		return GT_TEXT_UNREAD;
	settled = number_of(text, len);
	if (keep_name(t, settled, time, text, len))
		settled = GT_TEXT_UNREAD;
	once__drop(&t->messages, number);
	return settled;
}

/* What a record refers to */
static struct text *find(struct texts *t, uint64_t number, uint64_t time)
{
	return given(t, number) ? *given(t, number) :
				  (struct text *)places__get(&t->name, number, time);
}

uint32_t texts__name(struct texts *t, uint64_t number, uint64_t time, uint64_t *misses)
{
	struct text *text;

	if (number == GT_TEXT_EMPTY)
		return 0;
	text = find(t, number, time);
	return text ? text__id(t, text) : missing(t, misses);
}

struct text *texts__hold(struct texts *t, uint64_t number, uint64_t time)
{
	struct text *text = find(t, number, time);

	if (text)
		text->holders++;
	return text;
}

void texts__release(struct text *text)
{
	if (text && !--text->holders)
		free(text);
}

uint32_t texts__held_name(struct texts *t, uint64_t number, struct text *text)
{
	if (number == GT_TEXT_EMPTY)
		return 0;
	return text ? text__id(t, text) : stand_in(t);
}

const char *texts__bytes(const struct text *text, size_t *ret_len)
{
	*ret_len = text ? text->len : 0;
	return text ? text->bytes : "";
}

size_t texts__size(const struct text *text)
{
	return text ? text->placed.bytes : 0;
}

struct trace_string texts__held_bytes(const struct text *text)
{
	return text ? (struct trace_string){ text->bytes, text->len } : (struct trace_string){};
}

uint32_t texts__message(struct texts *t, uint64_t number, uint64_t *misses)
{
	const char *text;
	uint32_t id;
	size_t len;

	if (number == GT_TEXT_EMPTY)
		return 0;
	text = once__get(&t->messages, number, &len);
	if (!text)
		return missing(t, misses);
	id = intern__transient(t->in, text, len);
	once__drop(&t->messages, number);
	return id;
}

bool texts__message_bytes(const struct texts *t, uint64_t number, struct trace_string *ret)
{
	size_t len;
	const char *text = once__get(&t->messages, number, &len);

	if (!text)
		return false;
	*ret = (struct trace_string){ text, (uint32_t)len };
	return true;
}

void texts__drop_message(struct texts *t, uint64_t number)
{
	once__drop(&t->messages, number);
}

void texts__may_hold(struct texts *t, uint64_t bytes)
{
	if (bytes > ONCE_BYTES)
		t->messages.bytes_max = bytes;
}

void texts__expire(struct texts *t, uint64_t time)
{
	once__expire(&t->messages, time);
	places__expire(&t->name, time);
}

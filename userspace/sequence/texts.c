// SPDX-License-Identifier: GPL-2.0
/*
 * Names and messages of the program's annotations: see texts.h.
 *
 * Before it: sequencer.c, which passes TEXT records on, and state_user.c, which asks for a text's id
 * where it makes an event. After it: trace/intern.c.
 */
#include "sequence/texts.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "lib/map.h"
#include "sequence/once.h"

struct texts {
	struct intern *in;
	struct map name; /* number -> string id, as a pointer-sized number */
	struct once messages;
	uint32_t missing; /* the stand-in's id */
};

struct texts *texts__create(struct intern *in)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (t)
		t->in = in;
	return t;
}

void texts__destroy(struct texts *t)
{
	if (!t)
		return;
	map__deinit(&t->name);
	once__deinit(&t->messages);
	free(t);
}

/* What was cut may end within a UTF-8 character, whose beginning goes, too. */
static uint32_t whole_length(const struct gt_text *text)
{
	const unsigned char *bytes = (const void *)(text + 1);
	uint32_t len = text->len, tail = 0, want;

	if (!text->cut)
		return len;
	while (tail < 3 && tail < len && (bytes[len - 1 - tail] & 0xc0) == 0x80)
		tail++;
	if (tail == len)
		return len;
	want = bytes[len - 1 - tail];
	want = want >= 0xf0 ? 3 : want >= 0xe0 ? 2 : want >= 0xc0 ? 1 : 0;
	return want > tail ? len - 1 - tail : len;
}

static int keep_name(struct texts *t, uint64_t number, const char *bytes, size_t len)
{
	uint32_t id;

	if (number <= GT_TEXT_UNREAD || map__get(&t->name, number))
		return 0; /* sent again: another took its place in what the probes remember */
	if (t->name.n >= TEXTS_NAMES)
		return 0;
	id = intern__string(t->in, bytes, len);
	return id ? map__put(&t->name, number, (void *)(uintptr_t)id) : 0;
}

static int add_name(struct texts *t, const struct gt_record *rec)
{
	const struct gt_text *text = (const void *)(rec + 1);

	return keep_name(t, rec->object, (const char *)(text + 1), whole_length(text));
}

static int add_message(struct texts *t, const struct gt_record *rec)
{
	const struct gt_text *text = (const void *)(rec + 1);
	int code = once__put(&t->messages, rec->object, rec->time, text + 1, whole_length(text));

	return code == -ENOBUFS ? 0 : code;
}

int texts__add(struct texts *t, const struct gt_record *rec)
{
	return rec->object & GT_TEXT_ONCE ? add_message(t, rec) : add_name(t, rec);
}

static uint32_t missing(struct texts *t, uint64_t *misses)
{
	(*misses)++;
	if (!t->missing)
		t->missing = intern__cstring(t->in, TEXTS_MISSING);
	return t->missing;
}

/* A number for a name that came without one. */
static uint64_t number_of(const char *bytes, size_t len)
{
	return (hash__bytes(bytes, len) & ~GT_TEXT_ONCE) | 2; /* neither EMPTY nor UNREAD */
}

uint64_t texts__settle(struct texts *t, uint64_t number)
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
	if (keep_name(t, settled, text, len))
		settled = GT_TEXT_UNREAD;
	once__drop(&t->messages, number);
	return settled;
}

uint32_t texts__name(struct texts *t, uint64_t number, uint64_t *misses)
{
	uint32_t id;

	if (number == GT_TEXT_EMPTY)
		return 0;
	id = (uint32_t)(uintptr_t)map__get(&t->name, number);
	return id ? id : missing(t, misses);
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
	id = intern__passing(t->in, text, len);
	once__drop(&t->messages, number);
	return id;
}

void texts__may_hold(struct texts *t, uint64_t bytes)
{
	if (bytes > ONCE_BYTES)
		t->messages.bytes_max = bytes;
}

void texts__expire(struct texts *t, uint64_t time)
{
	once__expire(&t->messages, time);
}

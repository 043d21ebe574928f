// SPDX-License-Identifier: GPL-2.0
/*
 * Converts the text form to a v2 trace: see text.h.
 *
 * Upstream: lib/input.c. Downstream: text/raw.c, which writes events as bytes. A line is parsed in
 * the window of the input; only a longer line is copied.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/map.h"
#include "lib/unicode.h"
#include "text/quote.h"
#include "text/text.h"

struct text_reader {
	struct input *in;
	struct outbuf *out;
	struct raw_types types;
	struct map by_name; /* types, by hash of the name */
	struct buf line;
	uint64_t number;      /* of the line, from 1 */
	size_t taken;	      /* bytes of the window that belong to the line */
	struct outbuf joined; /* copy of a line longer than a window */
	struct outbuf data;   /* of the event, unquoted */
};

__attribute__((format(printf, 3, 4))) static int fail(const struct text_reader *r,
						      struct error *error, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return error__set(error, -EBADMSG, "%s: line %" PRIu64 ": %s", input__name(r->in),
			  r->number, why);
}

struct shown {
	char text[48];
};

/* The beginning of `words` for a message, without control characters. */
static struct shown show(struct buf words)
{
	const size_t max = 40;
	struct shown s = {};
	size_t i;

	for (i = 0; i < max && buf__left(&words); i++) {
		s.text[i] = (char)buf__u8(&words);
		if (s.text[i] < ' ' || s.text[i] > '~')
			s.text[i] = '?';
	}
	if (buf__left(&words))
		strcpy(s.text + i, "...");
	return s;
}

/* Reads a line that is longer than a window. Returns as next_line(). */
static int join_line(struct text_reader *r, struct error *error)
{
	const unsigned char *data, *newline = NULL;
	size_t len, part;
	int err;

	for (r->joined.len = 0; !newline; input__consume(r->in, part + !!newline)) {
		err = input__need(r->in, 1, &data, &len, error);
		if (err)
			return err;
		if (!len)
			break;
		newline = memchr(data, '\n', len);
		part = newline ? (size_t)(newline - data) : len;
		if (part > TEXT_LINE_MAX - r->joined.len)
			return fail(r, error, "a line of more than %u bytes", TEXT_LINE_MAX);
		err = outbuf__put(&r->joined, data, part, error);
		if (err)
			return err;
	}
	r->line = buf__make(r->joined.data, r->joined.len);
	return 1;
}

/* Reads a line into r->line, without its end. Returns 1, 0 at the end, or a negative errno. */
static int next_line(struct text_reader *r, struct error *error)
{
	const unsigned char *data, *newline;
	size_t len, want = 1;
	int err;

	input__consume(r->in, r->taken);
	r->taken = 0;
	r->number++;
	for (;; want = len + 1) {
		if (want > INPUT_WINDOW)
			return join_line(r, error);
		err = input__need(r->in, want, &data, &len, error);
		if (err)
			return err;
		newline = memchr(data, '\n', len);
		if (newline || len < want)
			break;
	}
	r->taken = newline ? (size_t)(newline - data) + 1 : len;
	r->line = buf__make(data, newline ? r->taken - 1 : len);
	return len > 0;
}

/* Length of the character at the cursor, or 0 if its being white space differs from `space`. */
static inline size_t width_of(const struct buf *b, bool space)
{
	uint32_t c = *b->pos;
	size_t width;

	if (c > ' ' && c < 0x7f) /* most characters */
		return !space;
	width = c < 0x80 ? 1 : utf8__decode(b->pos, buf__left(b), &c);
	return unicode__is_space(c) == space ? width : 0;
}

static void skip_space(struct buf *b)
{
	size_t width;

	while (buf__left(b) && (width = width_of(b, true)))
		buf__skip(b, width);
}

/*
 * Finds the next line that is not empty or a comment, and skips its leading white space. Returns as
 * next_line().
 */
static int next_text(struct text_reader *r, struct error *error)
{
	int err;

	do {
		err = next_line(r, error);
		if (err <= 0)
			return err;
		skip_space(&r->line);
	} while (!buf__left(&r->line) || *r->line.pos == '#');
	return 1;
}

/* Takes the bytes up to white space, a # or the end; there may be none. */
static struct buf take_word(struct buf *b)
{
	struct buf rest;
	size_t width, len;

	skip_space(b);
	rest = *b;
	while (buf__left(&rest) && *rest.pos != '#' && (width = width_of(&rest, false)))
		buf__skip(&rest, width);
	len = buf__left(b) - buf__left(&rest);
	return buf__make(buf__take(b, len), len);
}

static bool take_text(struct buf *b, const char *text)
{
	size_t len = strlen(text);

	if (buf__left(b) < len || memcmp(b->pos, text, len))
		return false;
	buf__skip(b, len);
	return true;
}

/* Parses all of `digits` as a decimal number. */
static bool parse_number(struct buf digits, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned char c;

	if (!buf__left(&digits))
		return false;
	while (buf__left(&digits)) {
		c = buf__u8(&digits);
		if (c < '0' || c > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, c - '0', &v))
			return false;
	}
	*ret = v;
	return true;
}

static int take_number(struct text_reader *r, const char *name, uint64_t *ret, struct error *error)
{
	struct buf word = take_word(&r->line);

	if (!buf__left(&word))
		return fail(r, error, "%s= is missing", name);
	if (take_text(&word, name) && take_text(&word, "=") && parse_number(word, ret))
		return 0;
	buf__seek(&word, 0);
	return fail(r, error, "invalid argument \"%s\": expected %s= and a number of 64 bits",
		    show(word).text, name);
}

static int end_line(struct text_reader *r, struct error *error)
{
	skip_space(&r->line);
	if (!buf__left(&r->line))
		return 0;
	return fail(r, error, "unexpected \"%s\" at the end of the line", show(r->line).text);
}

static int init_by_name(struct text_reader *r)
{
	int err = 0;

	for (uintptr_t type = 0; type <= UINT8_MAX && !err; type++) {
		const struct ev_spec *spec = r->types.spec[type];

		if (spec)
			err = map__put(&r->by_name, hash__bytes(spec->name, strlen(spec->name)),
				       (void *)type);
	}
	return err;
}

/* EV_NONE: no such event. */
static uint8_t type_of(const struct text_reader *r, struct buf name)
{
	void *found = map__get(&r->by_name, hash__bytes(name.pos, buf__left(&name)));
	uint8_t type = (uint8_t)(uintptr_t)found;
	bool same = type && take_text(&name, r->types.spec[type]->name) && !buf__left(&name);

	return same ? type : EV_NONE;
}

/* Returns the number after "Go1.", or 0 if it is not a version. */
static unsigned int parse_go_version(struct buf word)
{
	uint64_t version;

	if (!take_text(&word, "Go1.") || !parse_number(word, &version) || version > UINT_MAX)
		return 0;
	return (unsigned int)version;
}

#define NAMED(version) "Go" TRACE_VERSION_TEXT(version)

static int read_header(struct text_reader *r, struct error *error)
{
	unsigned int version;
	struct buf word;
	int err;

	err = next_text(r, error);
	if (err < 0)
		return err;
	word = err ? take_word(&r->line) : buf__make(NULL, 0);
	if (!take_text(&word, "Trace") || buf__left(&word))
		return fail(r, error,
			    "not a trace in text form: expected \"Trace Go1.NN\" at its start");
	word = take_word(&r->line);
	version = parse_go_version(word);
	if (!spec__version_known(version))
		return fail(r, error, "\"%s\" is not a v2 trace version: must be %s",
			    show(word).text, TRACE_VERSIONS(NAMED, ", ", " or "));
	err = end_line(r, error);
	if (err)
		return err;
	raw_types__init(&r->types, version);
	if (init_by_name(r))
		return error__set(error, -ENOMEM, "out of memory");
	return raw__put_header(r->out, version, error);
}

/* Reads a further line of an event, which must exist. */
static int next_of_event(struct text_reader *r, const char *what, struct error *error)
{
	int err = next_text(r, error);

	return err ? err : fail(r, error, "the text ends before %s", what);
}

static bool take_data_name(struct buf *b)
{
	bool data = take_text(b, "data");

	skip_space(b);
	if (!data || !take_text(b, "="))
		return false;
	skip_space(b);
	return true;
}

/* Reads the line data="...". */
static int read_data(struct text_reader *r, struct raw_event *ev, struct error *error)
{
	struct buf line;
	int err;

	err = next_of_event(r, "data=", error);
	if (err < 0)
		return err;
	line = r->line;
	if (!take_data_name(&r->line))
		return fail(r, error, "\"%s\" is not valid data of %s", show(line).text,
			    ev->spec->name);
	line = r->line;
	r->data.len = 0;
	err = quote__take(&r->line, &r->data, error);
	if (err == -EINVAL)
		return fail(r, error, "\"%s\" is not a string literal of Go", show(line).text);
	if (!err)
		err = end_line(r, error);
	if (err)
		return err;
	if (r->data.len > RAW_DATA_MAX)
		return fail(r, error, "more than %u bytes of data", RAW_DATA_MAX);
	ev->data = (const unsigned char *)r->data.data;
	ev->len = r->data.len;
	return 0;
}

static int read_frames(struct text_reader *r, uint64_t n, struct error *error)
{
	uint64_t frame[RAW_FRAME];
	unsigned int i;
	int err = 0;

	for (; n && !err; n--) {
		err = next_of_event(r, "a frame of its stack", error);
		if (err < 0)
			return err;
		for (i = 0, err = 0; i < RAW_FRAME && !err; i++)
			err = take_number(r, raw_frame_names[i], &frame[i], error);
		if (!err)
			err = end_line(r, error);
		if (!err)
			err = raw__put_frame(r->out, frame, error);
	}
	return err;
}

/* Reads an event from its first line on. */
static int read_event(struct text_reader *r, struct error *error)
{
	struct buf name = take_word(&r->line);
	struct raw_event ev = { .type = type_of(r, name) };
	unsigned int i;
	int err = 0;

	ev.spec = r->types.spec[ev.type];
	if (!ev.spec)
		return fail(r, error, "unknown event \"%s\" in this version of the format",
			    show(name).text);
	for (i = 0; i < ev.spec->nargs && !err; i++)
		err = take_number(r, ev.spec->arg[i].name, &ev.arg[i], error);
	if (!err)
		err = end_line(r, error);
	if (!err && ev.spec->blob)
		err = read_data(r, &ev, error);
	if (!err)
		err = raw__put_event(r->out, &ev, error);
	if (!err)
		err = read_frames(r, raw__frames(ev.spec, ev.arg), error);
	return err;
}

static int read_events(struct text_reader *r, struct error *error)
{
	int err;

	while ((err = next_text(r, error)) > 0) {
		err = read_event(r, error);
		if (err)
			break;
	}
	return err;
}

int text__read(struct input *in, struct outbuf *out, struct error *error)
{
	struct text_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error__set(error, -ENOMEM, "out of memory: cannot read %s", input__name(in));
	r->in = in;
	r->out = out;
	err = read_header(r, error);
	if (!err)
		err = read_events(r, error);
	map__deinit(&r->by_name);
	outbuf__deinit(&r->joined);
	outbuf__deinit(&r->data);
	free(r);
	return err;
}

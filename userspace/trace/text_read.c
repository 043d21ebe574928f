// SPDX-License-Identifier: GPL-2.0
/*
 * A text as a v2 trace: see text.h.
 *
 * Before it in an event's way: lib/input.c, which it asks for a line at a time; after it: trace/raw.c,
 * which writes events as bytes. A line is taken apart where it lies, in the input's window; only one
 * that is longer than that is copied together.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/unicode.h"
#include "trace/quote.h"
#include "trace/text.h"

struct text_reader {
	struct input *in;
	struct outbuf *out;
	struct raw_types types;
	uint8_t by_name[UINT8_MAX + 1]; /* types by the hash of their names; open addressing */
	struct buf line;
	uint64_t number;      /* of the line, from 1 */
	size_t taken;	      /* bytes of the input's window that are the line's */
	struct outbuf joined; /* the line, if it is longer than a window */
	struct outbuf data;   /* of the event, unquoted */
};

__attribute__((format(printf, 3, 4))) static int fail(const struct text_reader *r,
						      struct error *err, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return error__set(err, -EBADMSG, "%s: line %" PRIu64 ": %s", input__name(r->in), r->number,
			  why);
}

struct shown {
	char text[48];
};

/* Words of a file, for a message: the beginning, and nothing that a terminal would obey. */
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

/* A line that no window holds. As next_line(). */
static int join_line(struct text_reader *r, struct error *err)
{
	const unsigned char *data, *newline = NULL;
	size_t len, part;
	int code;

	for (r->joined.len = 0; !newline; input__consume(r->in, part + !!newline)) {
		code = input__need(r->in, 1, &data, &len, err);
		if (code)
			return code;
		if (!len)
			break;
		newline = memchr(data, '\n', len);
		part = newline ? (size_t)(newline - data) : len;
		if (part > TEXT_LINE_MAX - r->joined.len)
			return fail(r, err, "a line of more than %u bytes", TEXT_LINE_MAX);
		code = outbuf__put(&r->joined, data, part, err);
		if (code)
			return code;
	}
	r->line = buf__make(r->joined.data, r->joined.len);
	return 1;
}

/* 1: there is one, in r->line, without its end; 0: the text ends; or a negative errno. */
static int next_line(struct text_reader *r, struct error *err)
{
	const unsigned char *data, *newline;
	size_t len, want = 1;
	int code;

	input__consume(r->in, r->taken);
	r->taken = 0;
	r->number++;
	for (;; want = len + 1) {
		if (want > INPUT_WINDOW)
			return join_line(r, err);
		code = input__need(r->in, want, &data, &len, err);
		if (code)
			return code;
		newline = memchr(data, '\n', len);
		if (newline || len < want)
			break;
	}
	r->taken = newline ? (size_t)(newline - data) + 1 : len;
	r->line = buf__make(data, newline ? r->taken - 1 : len);
	return len > 0;
}

/* The bytes of the character at the cursor that is (or is not) white space; 0: it is the other. */
static inline size_t width_of(const struct buf *b, bool space)
{
	uint32_t c = *b->pos;
	size_t width;

	if (c > ' ' && c < 0x7f) /* most are */
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

/* The next line with something on it. As next_line(), which it starts at that something. */
static int next_text(struct text_reader *r, struct error *err)
{
	int code;

	do {
		code = next_line(r, err);
		if (code <= 0)
			return code;
		skip_space(&r->line);
	} while (!buf__left(&r->line) || *r->line.pos == '#');
	return 1;
}

/* Up to white space, a # or the end; may be empty. */
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

/* All of `digits` as a decimal number. */
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

static int take_number(struct text_reader *r, const char *name, uint64_t *ret, struct error *err)
{
	struct buf word = take_word(&r->line);

	if (!buf__left(&word))
		return fail(r, err, "%s= is missing", name);
	if (take_text(&word, name) && take_text(&word, "=") && parse_number(word, ret))
		return 0;
	buf__seek(&word, 0);
	return fail(r, err, "\"%s\" is not %s= and a number of 64 bits", show(word).text, name);
}

static int end_line(struct text_reader *r, struct error *err)
{
	skip_space(&r->line);
	if (!buf__left(&r->line))
		return 0;
	return fail(r, err, "there is \"%s\" behind the last word", show(r->line).text);
}

static unsigned int hash_name(struct buf name)
{
	unsigned int h = 0;

	while (buf__left(&name))
		h = h * 33 + buf__u8(&name);
	return (h ^ h >> 8) & UINT8_MAX;
}

static void hash_names(struct text_reader *r)
{
	unsigned int type, i;

	for (type = 0; type <= UINT8_MAX; type++) {
		const struct ev_spec *spec = r->types.spec[type];

		if (!spec)
			continue;
		i = hash_name(buf__make(spec->name, strlen(spec->name)));
		while (r->by_name[i])
			i = (i + 1) & UINT8_MAX;
		r->by_name[i] = (uint8_t)type;
	}
}

static uint8_t type_of(const struct text_reader *r, struct buf name)
{
	unsigned int i;

	for (i = hash_name(name); r->by_name[i]; i = (i + 1) & UINT8_MAX) {
		struct buf rest = name;

		if (take_text(&rest, r->types.spec[r->by_name[i]]->name) && !buf__left(&rest))
			break;
	}
	return r->by_name[i];
}

/* The number behind "Go1."; 0: no version. */
static unsigned int parse_go_version(struct buf word)
{
	uint64_t version;

	if (!take_text(&word, "Go1.") || !parse_number(word, &version) || version > UINT_MAX)
		return 0;
	return (unsigned int)version;
}

static int read_header(struct text_reader *r, struct error *err)
{
	unsigned int version;
	struct buf word;
	int code;

	code = next_text(r, err);
	if (code < 0)
		return code;
	word = code ? take_word(&r->line) : buf__make(NULL, 0);
	if (!take_text(&word, "Trace") || buf__left(&word))
		return fail(r, err, "no trace as text: that begins with \"Trace Go1.NN\"");
	word = take_word(&r->line);
	version = parse_go_version(word);
	if (!spec__version_known(version))
		return fail(r, err,
			    "\"%s\" is no version of a v2 trace: there are Go1.22, Go1.23, "
			    "Go1.25 and Go1.26",
			    show(word).text);
	code = end_line(r, err);
	if (code)
		return code;
	raw_types__init(&r->types, version);
	hash_names(r);
	return raw__put_header(r->out, version, err);
}

/* A line that belongs to an event: there must be one. */
static int next_of_event(struct text_reader *r, const char *what, struct error *err)
{
	int code = next_text(r, err);

	return code ? code : fail(r, err, "the text ends, and %s is missing", what);
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

/* data="..." on a line of its own. */
static int read_data(struct text_reader *r, struct raw_event *ev, struct error *err)
{
	struct buf line;
	int code;

	code = next_of_event(r, "data=", err);
	if (code < 0)
		return code;
	line = r->line;
	if (!take_data_name(&r->line))
		return fail(r, err, "\"%s\" is not the data of %s", show(line).text,
			    ev->spec->name);
	line = r->line;
	r->data.len = 0;
	code = quote__take(&r->line, &r->data, err);
	if (code == -EINVAL)
		return fail(r, err, "\"%s\" is no string literal of Go", show(line).text);
	if (!code)
		code = end_line(r, err);
	if (code)
		return code;
	if (r->data.len > RAW_DATA_MAX)
		return fail(r, err, "more than %u bytes of data", RAW_DATA_MAX);
	ev->data = (const unsigned char *)r->data.data;
	ev->len = r->data.len;
	return 0;
}

static int read_frames(struct text_reader *r, uint64_t n, struct error *err)
{
	uint64_t frame[RAW_FRAME];
	unsigned int i;
	int code = 0;

	for (; n && !code; n--) {
		code = next_of_event(r, "a frame of its stack", err);
		if (code < 0)
			return code;
		for (i = 0, code = 0; i < RAW_FRAME && !code; i++)
			code = take_number(r, raw_frame_names[i], &frame[i], err);
		if (!code)
			code = end_line(r, err);
		if (!code)
			code = raw__put_frame(r->out, frame, err);
	}
	return code;
}

/* The line is an event's first. */
static int read_event(struct text_reader *r, struct error *err)
{
	struct buf name = take_word(&r->line);
	struct raw_event ev = { .type = type_of(r, name) };
	unsigned int i;
	int code = 0;

	ev.spec = r->types.spec[ev.type];
	if (!ev.spec)
		return fail(r, err, "no event of this version is named \"%s\"", show(name).text);
	for (i = 0; i < ev.spec->nargs && !code; i++)
		code = take_number(r, ev.spec->arg[i].name, &ev.arg[i], err);
	if (!code)
		code = end_line(r, err);
	if (!code && ev.spec->blob)
		code = read_data(r, &ev, err);
	if (!code)
		code = raw__put_event(r->out, &ev, err);
	if (!code)
		code = read_frames(r, raw__frames(ev.spec, ev.arg), err);
	return code;
}

static int read_events(struct text_reader *r, struct error *err)
{
	int code;

	while ((code = next_text(r, err)) > 0) {
		code = read_event(r, err);
		if (code)
			break;
	}
	return code;
}

int text__read(struct input *in, struct outbuf *out, struct error *err)
{
	struct text_reader *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return error__set(err, -ENOMEM, "no memory to read %s", input__name(in));
	r->in = in;
	r->out = out;
	code = read_header(r, err);
	if (!code)
		code = read_events(r, err);
	outbuf__deinit(&r->joined);
	outbuf__deinit(&r->data);
	free(r);
	return code;
}

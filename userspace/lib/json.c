// SPDX-License-Identifier: GPL-2.0
/*
 * Streaming JSON writer: see json.h.
 *
 * Only the open levels are stored. Text is written in runs of plain ASCII; characters that are
 * special to JSON or to a terminal are handled one by one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/json.h"
#include "lib/progress.h"
#include "lib/unicode.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void json__init(struct json *j, FILE *out, bool lines)
{
	if (out == stdout)
		progress__end();
	*j = (struct json){ .out = out, .lines = lines };
}

static void new_line(struct json *j)
{
	if (j->lines)
		return;
	putc_unlocked('\n', j->out);
	for (unsigned int i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* An ASCII character that must be escaped. */
static void put_escaped(struct json *j, unsigned char c)
{
	static const char letters[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
					['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

	if (c < sizeof(letters) && letters[c])
		fprintf(j->out, "\\%c", letters[c]);
	else
		fprintf(j->out, "\\u%04x", c);
}

/* A character that begins with a byte of 0x80 or more. */
static void put_wide(struct json *j, struct buf *text)
{
	uint32_t c;
	size_t len = utf8__decode(text->pos, buf__left(text), &c);
	const void *bytes = buf__take(text, len);

	if (c == UNICODE_REPLACEMENT)
		fputs(REPLACEMENT, j->out);
	else if (c < 0xa0) /* a control character for some terminals */
		fprintf(j->out, "\\u%04x", (unsigned int)c);
	else
		fwrite(bytes, 1, len, j->out);
}

static void put_text(struct json *j, const void *data, size_t len)
{
	struct buf text = buf__make(data, len), run;
	size_t plain;

	putc_unlocked('"', j->out);
	while (buf__left(&text)) {
		run = text;
		for (plain = 0; buf__left(&run) && is_plain(buf__u8(&run)); plain++)
			;
		fwrite(buf__take(&text, plain), 1, plain, j->out);
		if (!buf__left(&text))
			break;
		if (*text.pos < 0x80)
			put_escaped(j, buf__u8(&text));
		else
			put_wide(j, &text);
	}
	putc_unlocked('"', j->out);
}

/* What precedes a value: the comma, the indentation, the name. */
static void begin_value(struct json *j, const char *name)
{
	if (j->depth) {
		if (j->filled[j->depth])
			putc_unlocked(',', j->out);
		new_line(j);
	}
	j->filled[j->depth] = true;
	if (name) {
		put_text(j, name, strlen(name));
		fputs(j->lines ? ":" : ": ", j->out);
	}
}

static void end_value(struct json *j)
{
	if (!j->depth)
		putc_unlocked('\n', j->out);
}

void json__open(struct json *j, const char *name, char bracket)
{
	begin_value(j, name);
	putc_unlocked(bracket, j->out);
	j->filled[++j->depth] = false;
}

void json__close(struct json *j, char bracket)
{
	if (j->filled[j->depth--])
		new_line(j);
	putc_unlocked(bracket, j->out);
	end_value(j);
}

void json__u64(struct json *j, const char *name, uint64_t v)
{
	begin_value(j, name);
	fprintf(j->out, "%" PRIu64, v);
	end_value(j);
}

void json__i64(struct json *j, const char *name, int64_t v)
{
	begin_value(j, name);
	fprintf(j->out, "%" PRId64, v);
	end_value(j);
}

/* The shortest form that yields the same number. */
void json__double(struct json *j, const char *name, double v)
{
	char text[32];

	if (!isfinite(v)) {
		json__null(j, name);
		return;
	}
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	begin_value(j, name);
	fputs(text, j->out);
	end_value(j);
}

void json__bool(struct json *j, const char *name, bool v)
{
	begin_value(j, name);
	fputs(v ? "true" : "false", j->out);
	end_value(j);
}

void json__null(struct json *j, const char *name)
{
	begin_value(j, name);
	fputs("null", j->out);
	end_value(j);
}

void json__string(struct json *j, const char *name, const char *text)
{
	if (text)
		json__bytes(j, name, text, strlen(text));
	else
		json__null(j, name);
}

void json__bytes(struct json *j, const char *name, const void *text, size_t len)
{
	begin_value(j, name);
	put_text(j, text, len);
	end_value(j);
}

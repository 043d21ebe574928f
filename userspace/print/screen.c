// SPDX-License-Identifier: GPL-2.0
/*
 * Tables on a terminal: see screen.h.
 *
 * libsmartcols, which util-linux uses, was considered: it keeps each cell of a table in memory, several
 * hundred bytes, but tables of goroutines have millions of lines; and it would decide which columns
 * shrink, not which ones are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/opts.h"
#include "lib/terminal.h"
#include "lib/unicode.h"
#include "screen.h"
#include "table.h"

#define WIDTH_MIN 20
#define WIDTH_MAX 1000
#define NAME_ROOM 28 /* for names, when columns are left out */
#define ELLIPSIS  "\xe2\x80\xa6"

static unsigned int from_environment(const char *name, unsigned int fallback)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && opts__number(text, 1, WIDTH_MAX, &n) ? (unsigned int)n : fallback;
}

struct out *out__table(void)
{
	struct out *o = out__stdout();
	struct winsize size = {};
	unsigned int width;

	o->screen.bold = terminal__has_color(STDOUT_FILENO);
	if (o->screen.width || !isatty(STDOUT_FILENO))
		return o;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	width = from_environment("COLUMNS", size.ws_col);
	o->screen.width = width < WIDTH_MIN ? WIDTH_MIN : width;
	o->screen.height = from_environment("LINES", size.ws_row);
	return o;
}

static void end_line(struct screen *s)
{
	fwrite(s->held, 1, s->held_len, stdout);
	putchar('\n');
	s->held_len = 0;
	s->bytes_len = 0;
	s->column = 0;
	s->marks = 0;
	s->skipping = false;
}

/*
 * A character of 1 or 2 columns. The one in the last column is held back until it is known whether the
 * line ends after it.
 */
static void put_character(struct screen *s, const char *bytes, size_t len, unsigned int columns)
{
	s->marks = 0;
	s->column += columns;
	if (s->column < s->width) {
		fwrite(bytes, 1, len, stdout);
	} else if (s->column == s->width) {
		memcpy(s->held, bytes, len);
		s->held_len = (unsigned char)len;
	} else {
		fputs(ELLIPSIS, stdout);
		s->held_len = 0;
		s->skipping = true;
	}
}

/* A combining mark is drawn over the character before it, and goes where that goes. */
static void put_mark(struct screen *s, const char *bytes, size_t len)
{
	if (s->marks == MARK_MAX)
		return;
	s->marks++;
	if (!s->held_len) {
		fwrite(bytes, 1, len, stdout);
		return;
	}
	memcpy(s->held + s->held_len, bytes, len);
	s->held_len += (unsigned char)len;
}

static void end_character(struct screen *s)
{
	uint32_t c;
	unsigned int columns;

	utf8__decode(s->bytes, s->bytes_len, &c);
	columns = unicode__columns(c);
	if (columns)
		put_character(s, (const char *)s->bytes, s->bytes_len, columns);
	else
		put_mark(s, (const char *)s->bytes, s->bytes_len);
	s->bytes_len = 0;
}

/* Only valid UTF-8 is printed: out__unicode() escapes the rest. */
static void write_byte(struct screen *s, char c)
{
	if (c == '\n') {
		end_line(s);
	} else if (s->in_escape || c == '\x1b') {
		putchar(c);
		s->in_escape = c != 'm';
	} else if (!s->skipping) {
		s->bytes[s->bytes_len++] = (unsigned char)c;
		if (s->bytes_len == utf8__length(s->bytes[0]))
			end_character(s);
	}
}

void screen__write(struct screen *s, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		write_byte(s, data[i]);
}

static void set_bold(struct out *o, bool on)
{
	if (o->screen.bold)
		out__text(o, on ? "\x1b[1m" : "\x1b[m");
}

/* ---- columns ---- */

unsigned int columns__used(const struct columns *c)
{
	unsigned int used = c->first + 2;

	for (unsigned int i = 0; i < c->n; i++)
		used += c->hidden[i] ? 0 : TABLE_TIME + 1;
	return used;
}

/* Returns the visible column with the smallest sum; c->n: there is none. */
static unsigned int least(const struct columns *c, uint32_t keep)
{
	unsigned int found = c->n;

	for (unsigned int i = 0; i < c->n; i++)
		if (!c->hidden[i] && !(keep >> i & 1) &&
		    (found == c->n || c->sum[i] < c->sum[found]))
			found = i;
	return found;
}

void columns__fit(struct columns *c, const struct out *o, uint32_t keep)
{
	unsigned int i;

	if (!o->screen.width)
		return;
	for (i = 0; i < c->n; i++)
		c->hidden[i] = !(keep >> i & 1) && (c->unknown[i] || c->sum[i] == 0);
	while (columns__used(c) + NAME_ROOM > o->screen.width && (i = least(c, keep)) < c->n)
		c->hidden[i] = true;
}

void columns__head(const struct columns *c, struct out *o, const char *first, const char *last)
{
	set_bold(o, true);
	out__format(o, "%*s", (int)c->first, first);
	for (unsigned int i = 0; i < c->n; i++)
		if (!c->hidden[i])
			out__format(o, " %*s", TABLE_TIME, c->titles[i]);
	out__format(o, "  %s", last);
	set_bold(o, false);
	out__char(o, '\n');
}

void columns__time(const struct columns *c, struct out *o, unsigned int i, int64_t ns)
{
	if (c->hidden[i])
		return;
	out__char(o, ' ');
	if (c->unknown[i])
		out__format(o, "%*s", TABLE_TIME, "-");
	else
		table__time(o, ns, TABLE_TIME);
}

void columns__note(const struct columns *c, struct out *o)
{
	bool any = false;

	for (unsigned int i = 0; i < c->n; i++) {
		if (!c->hidden[i] || c->unknown[i] || c->sum[i] == 0)
			continue;
		out__text(o, any ? ", " : "\nNot shown (terminal too narrow): ");
		out__text(o, c->titles[i]);
		any = true;
	}
	if (any)
		out__char(o, '\n');
}

/* ---- names ---- */

/* "go.example.org/a/b.(*T[c/d.E]).F": without what precedes "b". */
static struct trace_string without_directories(struct trace_string name)
{
	uint32_t end = 0;

	while (end < name.len && !memchr("([ ", name.data[end], 3))
		end++;
	while (end && name.data[end - 1] != '/')
		end--;
	return (struct trace_string){ name.data + end, name.len - end };
}

void screen__function(struct out *o, struct trace_string name, const char *without,
		      unsigned int used)
{
	if (o->screen.width && used + name.len > o->screen.width)
		name = without_directories(name);
	table__name(o, name, without);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast output of lines of text, to stdout by default: a trace has tens of millions of events, one line each.
 *
 * The last step of `gotrace events`, which formats the semantics of each event (reader/semantics.h)
 * in one of three forms. Functions do not fail: if stdout cannot be written (and SIGPIPE did not
 * end the process), the remaining output is discarded and `failed` is set; main() checks ferror().
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/event.h"
#include "format/kernel.h"
#include "lib/json.h"
#include "lib/unicode.h"

#define OUT_SIZE 65536
#define OUT_ROOM 64 /* limit of out__room() */
#define MARK_MAX 8  /* combining marks of a character that are shown */

/* Cuts lines at the width of a terminal: see screen.c. */
struct screen {
	unsigned int width, height; /* in columns and lines; 0: stdout is not a terminal */
	unsigned int column;	    /* of the line so far */
	bool skipping;		    /* the rest of the line */
	bool in_escape;		    /* in a sequence that sets colours */
	bool bold;		    /* headings: terminal__has_color() */
	unsigned char bytes_len;
	unsigned char bytes[UTF8_MAX]; /* of a character that is not complete */
	unsigned char held_len, marks; /* marks: since the last character */
	/* the character in the last column, and its marks: shown if the line ends after it */
	char held[UTF8_MAX * (1 + MARK_MAX)];
};

struct out {
	FILE *file; /* NULL: stdout */
	size_t len;
	bool failed;
	struct screen screen;
	char data[OUT_SIZE];
};

/* The buffer of commands that print to stdout: empty, and too large for the stack. */
struct out *out__stdout(void);
/*
 * The same for tables: on a terminal, no line is longer than its width. The environment variables
 * COLUMNS and LINES take precedence over the size that the terminal reports, as in ps.
 */
struct out *out__table(void);
void out__flush(struct out *o);

/* Room for `n` <= OUT_ROOM bytes; the caller fills it and increases o->len. */
static inline char *out__room(struct out *o, size_t n)
{
	if (__builtin_expect(OUT_SIZE - o->len < n, 0))
		out__flush(o);
	return o->data + o->len;
}

static inline void out__char(struct out *o, char c)
{
	*out__room(o, 1) = c;
	o->len++;
}

void out__bytes_slow(struct out *o, const void *data, size_t len);

static inline void out__bytes(struct out *o, const void *data, size_t len)
{
	if (__builtin_expect(OUT_SIZE - o->len < len, 0)) {
		out__bytes_slow(o, data, len);
		return;
	}
	memcpy(o->data + o->len, data, len);
	o->len += len;
}

static inline void out__text(struct out *o, const char *text)
{
	out__bytes(o, text, strlen(text));
}

void out__u64(struct out *o, uint64_t v);
void out__i64(struct out *o, int64_t v);
void out__hex(struct out *o, uint64_t v);
void out__nine(struct out *o, uint32_t v); /* v < 10^9, in nine digits */
/* At most 255 bytes; not for text of unknown origin. */
__attribute__((format(printf, 2, 3))) void out__format(struct out *o, const char *fmt, ...);

/*
 * Text of unknown origin, without quotes. Characters other than printable ASCII are written as in a
 * Go string (\n, \x80, \u00e9), and so are quotes and backslashes.
 */
void out__ascii(struct out *o, const void *text, size_t len);
/* The same, but characters that Go considers printable are written as they are. */
void out__unicode(struct out *o, const void *text, size_t len);

struct printer {
	struct out out;
	struct json json;
	int64_t start; /* of the trace; printed times are relative to it */
	bool stacks;   /* complete stacks, not only their innermost frames */
};

/* Print an event at `time`, which differs from ev->time with --fixup. */
typedef void (*print_fn)(struct printer *p, const struct trace_event *ev, int64_t time);

/* A kernel event with what is derived from others; UINT64_MAX: unknown. */
struct print_item {
	const struct kernel_item *item;
	uint64_t g;    /* the goroutine that the thread executes */
	uint64_t by_g; /* WAKING, CREATED: goroutine of the thread that caused it */
	uint64_t took; /* timeline__duration() */
};

struct timeline;
/* The current item of a timeline. */
struct print_item print_item__of(const struct timeline *t, const struct kernel_item *item);

typedef void (*print_item_fn)(struct printer *p, const struct print_item *i, int64_t time);

void print__human_item(struct printer *p, const struct print_item *i, int64_t time);
void print__json_item(struct printer *p, const struct print_item *i, int64_t time);

/* Start a line: time, where and what, up to the column of the details. UINT64_MAX: none. */
void print__columns(struct printer *p, int64_t time, uint64_t m, uint64_t proc, uint64_t g,
		    const char *what);

void print__canonical(struct printer *p, const struct trace_event *ev, int64_t time);
void print__human(struct printer *p, const struct trace_event *ev, int64_t time);
void print__json(struct printer *p, const struct trace_event *ev, int64_t time);

#endif

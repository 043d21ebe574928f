/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text for stdout, fast: a trace has tens of millions of events, and each is a line.
 *
 * The last station of an event: `gotrace events` puts what trace/meaning.h says of it here, in one
 * of three forms. Nothing fails on the way: when stdout cannot be written (and SIGPIPE did not end
 * the process) the rest is thrown away, `failed` says so, and ferror() tells the program's main().
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/json.h"
#include "trace/event.h"
#include "trace/kernel.h"

#define OUT_SIZE 65536
#define OUT_ROOM 64 /* the most that out__room() can make */

struct out {
	size_t len;
	bool failed;
	char data[OUT_SIZE];
};

void out__flush(struct out *o);

/* Room for `n` <= OUT_ROOM bytes; whoever fills it moves o->len. */
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
void out__nine(struct out *o, uint32_t v); /* below 10^9, in nine digits */

/*
 * Text of unknown origin, without quotes. What is no ASCII, or what no terminal can show, is
 * written as in a string of Go: \n, \x80, \u00e9; quotes and backslashes as well.
 */
void out__ascii(struct out *o, const void *text, size_t len);
/* The same, but what Go takes for printable stands for itself. */
void out__unicode(struct out *o, const void *text, size_t len);

struct printer {
	struct out out;
	struct json json;
	int64_t start; /* of the trace: what people's times count from */
	bool stacks;   /* whole stacks, not their innermost frame only */
};

/* Puts an event at `time` (not always ev->time: events --fixup). */
typedef void (*print_fn)(struct printer *p, const struct trace_event *ev, int64_t time);

/* An item of the kernel's side, and what is known beyond it; UINT64_MAX: is not. */
struct print_item {
	const struct kernel_item *item;
	uint64_t g;    /* the goroutine that its thread runs */
	uint64_t by_g; /* WAKING, CREATED: that of the thread that did it */
	uint64_t took; /* timeline__took() */
};

typedef void (*print_item_fn)(struct printer *p, const struct print_item *i, int64_t time);

void print__human_item(struct printer *p, const struct print_item *i, int64_t time);
void print__json_item(struct printer *p, const struct print_item *i, int64_t time);

/* A line for people as far as its details: the time, where, and what. UINT64_MAX: nowhere. */
void print__columns(struct printer *p, int64_t time, uint64_t m, uint64_t proc, uint64_t g,
		    const char *what);

void print__canonical(struct printer *p, const struct trace_event *ev, int64_t time);
void print__human(struct printer *p, const struct trace_event *ev, int64_t time);
void print__json(struct printer *p, const struct trace_event *ev, int64_t time);

#endif

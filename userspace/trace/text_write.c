// SPDX-License-Identifier: GPL-2.0
/*
 * A v2 trace as text: see text.h.
 *
 * Before it in an event's way: trace/raw.c; after it trace/outbuf.c. A trace is many times as long
 * as text as it is in bytes, so this is a loop that copies: what stands before each number of each
 * event is laid out at the start, in pieces of one size, and so are the small numbers. Of the others
 * no branch depends on how many digits one has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/quote.h"
#include "trace/text.h"

/* What stands before a number: "GoStart dt=", " g=". All of it is copied, `len` of it counts. */
struct piece {
	char text[31];
	uint8_t len;
};

struct row {
	struct piece before[EV_ARGS_MAX];
};

#define SMALL 1000

struct small { /* a number below SMALL */
	char digits[3];
	uint8_t len;
};

struct text_writer {
	struct outbuf *out;
	struct row row[EV_END];
	struct row frame;
	struct small small[SMALL];
};

#define NUMBER_MAX 24 /* bytes that put_number() may write to */
#define TEXT_LINE  (EV_ARGS_MAX * (sizeof(struct piece) + NUMBER_MAX) + 1)

static void piece__set(struct piece *p, const char *before, const char *name, const char *after)
{
	p->len = (uint8_t)snprintf(p->text, sizeof(p->text), "%s%s%s", before, name, after);
}

static void row__init(struct row *row, const struct ev_spec *spec)
{
	char first[sizeof(row->before[0].text)];
	unsigned int i;

	piece__set(&row->before[0], spec->name, "", "");
	for (i = 0; i < spec->nargs; i++) {
		snprintf(first, sizeof(first), "%s ", i ? "" : spec->name);
		piece__set(&row->before[i], first, spec->arg[i].name, "=");
	}
}

static void small__set(struct small *s, unsigned int v)
{
	char text[8];

	s->len = (uint8_t)snprintf(text, sizeof(text), "%u", v);
	memcpy(s->digits, text, sizeof(s->digits));
}

static struct text_writer *text_writer__create(struct outbuf *out)
{
	struct text_writer *w = calloc(1, sizeof(*w));
	unsigned int i;

	if (!w)
		return NULL;
	w->out = out;
	for (i = 0; i < EV_END; i++)
		if (spec__event(i))
			row__init(&w->row[i], spec__event(i));
	for (i = 0; i < RAW_FRAME; i++)
		piece__set(&w->frame.before[i], i ? " " : "\t", raw_frame_names[i], "=");
	for (i = 0; i < SMALL; i++)
		small__set(&w->small[i], i);
	return w;
}

static inline char *put_piece(char *p, const struct piece *piece)
{
	memcpy(p, piece, sizeof(*piece));
	return p + piece->len;
}

/*
 * Eight digits of v < 100000000, one a byte, the first lowest: halves, pairs, digits, all of a step
 * at once. The factors are inverses: 10486 / 2^20 is 1 / 100 for what is below 10000, 103 / 2^10 is
 * 1 / 10 below 100.
 */
static inline uint64_t eight_digits(uint32_t v)
{
	uint64_t halves = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = (halves * 10486 >> 20) & 0x0000007f0000007fu;
	uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
	uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000fu;

	return tens | (pairs - 10 * tens) << 8;
}

#define ZEROS 0x3030303030303030u

static inline char *put_eight(char *p, uint32_t v)
{
	uint64_t digits = eight_digits(v) | ZEROS;

	memcpy(p, &digits, 8);
	return p + 8;
}

static inline char *put_short(char *p, uint32_t v)
{
	uint64_t digits = eight_digits(v);
	/* The last digit is one even if it is 0. */
	unsigned int leading = (unsigned int)__builtin_ctzll(digits | 1ull << 56) / 8;

	digits = (digits | ZEROS) >> 8 * leading;
	memcpy(p, &digits, 8);
	return p + 8 - leading;
}

static char *put_long(char *p, uint64_t v)
{
	const uint64_t unit = 100000000;

	if (v >= unit * unit)
		p = put_eight(put_short(p, (uint32_t)(v / (unit * unit))),
			      (uint32_t)(v / unit % unit));
	else
		p = put_short(p, (uint32_t)(v / unit));
	return put_eight(p, (uint32_t)(v % unit));
}

static inline char *put_number(const struct text_writer *w, char *p, uint64_t v)
{
	if (v < SMALL) {
		memcpy(p, &w->small[v], sizeof(w->small[v]));
		return p + w->small[v].len;
	}
	return __builtin_expect(v < 100000000, 1) ? put_short(p, (uint32_t)v) : put_long(p, v);
}

/* A line of `n` numbers, or a word alone. */
static inline int put_line(struct text_writer *w, const struct row *row, const uint64_t *numbers,
			   unsigned int n, struct error *err)
{
	struct outbuf *out = w->out;
	int code = outbuf__room(out, TEXT_LINE, err);
	unsigned int i;
	char *p;

	if (code)
		return code;
	p = out->data + out->len;
	if (!n)
		p = put_piece(p, &row->before[0]);
	for (i = 0; i < n; i++)
		p = put_number(w, put_piece(p, &row->before[i]), numbers[i]);
	*p++ = '\n';
	out->len = (size_t)(p - out->data);
	return 0;
}

static int put_data(struct outbuf *out, const struct raw_event *ev, struct error *err)
{
	int code = outbuf__put(out, "\tdata=", 6, err);

	if (!code)
		code = quote__put(out, ev->data, ev->len, err);
	return code ? code : outbuf__put(out, "\n", 1, err);
}

static int put_frames(struct text_writer *w, struct raw_reader *in, uint64_t n, struct error *err)
{
	uint64_t frame[RAW_FRAME];
	int code = 0;

	for (; n && !code; n--) {
		code = raw_reader__frame(in, frame, err);
		if (!code)
			code = put_line(w, &w->frame, frame, RAW_FRAME, err);
	}
	return code;
}

static int write_events(struct text_writer *w, struct raw_reader *in, struct error *err)
{
	struct raw_event ev;
	int code;

	while ((code = raw_reader__next(in, &ev, err)) > 0) {
		code = put_line(w, &w->row[ev.type], ev.arg, ev.spec->nargs, err);
		if (!code && ev.spec->blob)
			code = put_data(w->out, &ev, err);
		if (!code && ev.frames)
			code = put_frames(w, in, ev.frames, err);
		if (code)
			break;
	}
	return code;
}

int text__write(struct input *in, struct outbuf *out, struct error *err)
{
	struct text_writer *w = NULL;
	struct raw_reader reader;
	char header[32];
	int code;

	code = raw_reader__init(&reader, in, err);
	if (code)
		return code;
	snprintf(header, sizeof(header), "Trace Go1.%u\n", reader.version);
	code = outbuf__put(out, header, strlen(header), err);
	if (!code) {
		w = text_writer__create(out);
		code = w ? write_events(w, &reader, err) :
			   error__set(err, -ENOMEM, "no memory for the event table");
	}
	free(w);
	raw_reader__deinit(&reader);
	return code;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Converts a v2 trace to its text form: see text.h.
 *
 * Upstream: text/raw.c. Downstream: lib/outbuf.c. Text is several times as long as the trace, so
 * the inner loop only copies: the text before each number of each event is prepared in pieces of
 * one size, and so are small numbers. For other numbers, no branch depends on the number of digits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/quote.h"
#include "text/text.h"

/* The text before a number: "GoStart dt=", " g=". The whole struct is copied, `len` bytes count. */
struct piece {
	char text[31];
	uint8_t len;
};

struct text_row {
	struct piece before[EV_ARGS_MAX];
};

#define SMALL 1000

/* A number below SMALL. */
struct small {
	char digits[3];
	uint8_t len;
};

struct text_writer {
	struct outbuf *out;
	struct text_row row[EV_END];
	struct text_row frame;
	struct small small[SMALL];
};

#define NUMBER_MAX 24 /* bytes that put_number() may overwrite */
#define TEXT_LINE  (EV_ARGS_MAX * (sizeof(struct piece) + NUMBER_MAX) + 1)

static void piece__set(struct piece *p, const char *before, const char *name, const char *after)
{
	p->len = (uint8_t)snprintf(p->text, sizeof(p->text), "%s%s%s", before, name, after);
}

static void row__init(struct text_row *row, const struct ev_spec *spec)
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
 * The eight digits of v < 100000000, one per byte, the first in the lowest byte: split in halves,
 * then pairs, then digits, all of a level at once. The factors are inverses: 10486 / 2^20 is 1 /
 * 100 below 10000, 103 / 2^10 is 1 / 10 below 100.
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
	/* The last digit counts even if it is 0. */
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

/* Writes a line of `n` numbers, or a name alone. */
static inline int put_line(struct text_writer *w, const struct text_row *row,
			   const uint64_t *numbers, unsigned int n, struct error *error)
{
	struct outbuf *out = w->out;
	int err = outbuf__room(out, TEXT_LINE, error);
	unsigned int i;
	char *p;

	if (err)
		return err;
	p = out->data + out->len;
	if (!n)
		p = put_piece(p, &row->before[0]);
	for (i = 0; i < n; i++)
		p = put_number(w, put_piece(p, &row->before[i]), numbers[i]);
	*p++ = '\n';
	out->len = (size_t)(p - out->data);
	return 0;
}

static int put_data(struct outbuf *out, const struct raw_event *ev, struct error *error)
{
	int err = outbuf__put(out, "\tdata=", 6, error);

	if (!err)
		err = quote__put(out, ev->data, ev->len, error);
	return err ? err : outbuf__put(out, "\n", 1, error);
}

static int put_frames(struct text_writer *w, struct raw_reader *in, uint64_t n, struct error *error)
{
	uint64_t frame[RAW_FRAME];
	int err = 0;

	for (; n && !err; n--) {
		err = raw_reader__frame(in, frame, error);
		if (!err)
			err = put_line(w, &w->frame, frame, RAW_FRAME, error);
	}
	return err;
}

static int write_events(struct text_writer *w, struct raw_reader *in, struct error *error)
{
	struct raw_event ev;
	int err;

	while ((err = raw_reader__next(in, &ev, error)) > 0) {
		err = put_line(w, &w->row[ev.type], ev.arg, ev.spec->nargs, error);
		if (!err && ev.spec->blob)
			err = put_data(w->out, &ev, error);
		if (!err && ev.frames)
			err = put_frames(w, in, ev.frames, error);
		if (err)
			break;
	}
	return err;
}

int text__write(struct input *in, struct outbuf *out, struct error *error)
{
	struct text_writer *w = NULL;
	struct raw_reader reader;
	char header[32];
	int err;

	err = raw_reader__init(&reader, in, error);
	if (err)
		return err;
	snprintf(header, sizeof(header), "Trace Go1.%u\n", reader.version);
	err = outbuf__put(out, header, strlen(header), error);
	if (!err) {
		w = text_writer__create(out);
		err = w ? write_events(w, &reader, error) :
			  error__set(error, -ENOMEM, "out of memory");
	}
	free(w);
	raw_reader__deinit(&reader);
	return err;
}

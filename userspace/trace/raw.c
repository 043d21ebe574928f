// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a v2 trace as they lie in the file: see raw.h.
 *
 * The reader looks at the input's window through a struct buf and moves it on when less than the
 * longest event is left, so that taking an event apart asks for no more bytes but its data's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/encode.h"
#include "trace/raw.h"

#define HEADER_SIZE 16
#define FIRST_V2    22

const char *const raw_frame_names[RAW_FRAME] = { "pc", "func", "file", "line" };

void raw_types__init(struct raw_types *types, unsigned int version)
{
	unsigned int type;

	*types = (struct raw_types){};
	for (type = 0; type < EV_END; type++) {
		const struct ev_spec *spec = spec__event(type);

		if (spec && spec__in_version(spec, version))
			types->spec[type] = spec;
	}
}

/* Drops what was taken of the window. It then has `want` bytes, unless the trace ends before. */
static int refill(struct raw_reader *r, size_t want, struct error *err)
{
	size_t taken = (size_t)(r->window.pos - r->window.start), len;
	const unsigned char *data;
	int code;

	input__consume(r->in, taken);
	r->offset += taken;
	r->window = buf__make(r->window.pos, 0);
	code = input__need(r->in, want, &data, &len, err);
	if (code)
		return code;
	r->window = buf__make(data, len);
	r->last = len < want;
	return 0;
}

static inline int need(struct raw_reader *r, size_t want, struct error *err)
{
	if (__builtin_expect(buf__left(&r->window) >= want || r->last, 1))
		return 0;
	return refill(r, want, err);
}

/* "go 1.NN trace" and three NULs; the version of older ones is to be known, too. 0: it is none. */
static unsigned int header_version(const unsigned char *data, size_t len)
{
	char text[HEADER_SIZE + 1] = "", canonical[HEADER_SIZE + 1] = "";
	unsigned int version;

	if (len < HEADER_SIZE)
		return 0;
	memcpy(text, data, HEADER_SIZE);
	if (sscanf(text, "go 1.%3u", &version) != 1)
		return 0;
	snprintf(canonical, sizeof(canonical), "go 1.%u trace", version);
	return memcmp(text, canonical, HEADER_SIZE) ? 0 : version;
}

static int read_header(struct raw_reader *r, struct error *err)
{
	const char *name = input__name(r->in);
	const unsigned char *data;
	int code = refill(r, HEADER_SIZE, err);

	if (code)
		return code;
	data = r->window.pos;
	r->version = header_version(data, buf__left(&r->window));
	if (spec__version_known(r->version)) {
		buf__skip(&r->window, HEADER_SIZE);
		return 0;
	}
	if ((r->version && r->version < FIRST_V2) ||
	    (buf__left(&r->window) >= 8 && !memcmp(data, "gotrace", 8)))
		return error__set(err, -EPROTONOSUPPORT,
				  "%s: a trace of Go 1.21 or older has no text form; `gotrace "
				  "convert` makes a newer one of it",
				  name);
	if (r->version)
		return error__set(err, -EPROTONOSUPPORT,
				  "%s: its header says Go 1.%u; known are 1.22, 1.23, 1.25 and "
				  "1.26",
				  name, r->version);
	return error__set(err, -EPROTONOSUPPORT, "%s: not a Go execution trace", name);
}

int raw_reader__init(struct raw_reader *r, struct input *in, struct error *err)
{
	int code;

	*r = (struct raw_reader){ .in = in };
	outbuf__init(&r->data, NULL, NULL);
	code = read_header(r, err);
	if (!code)
		raw_types__init(&r->types, r->version);
	return code;
}

void raw_reader__deinit(struct raw_reader *r)
{
	outbuf__deinit(&r->data);
}

static int cut_short(const struct raw_reader *r, const char *name, struct error *err)
{
	return error__set(err, -EBADMSG, "%s: byte %" PRIu64 ": the trace ends within this %s",
			  input__name(r->in), r->event, name);
}

/* A number was none. The window has room for all of an event unless the trace ends. */
static int bad_number(const struct raw_reader *r, const char *name, struct error *err)
{
	if (!buf__left(&r->window))
		return cut_short(r, name, err);
	return error__set(err, -EBADMSG,
			  "%s: byte %" PRIu64 ": a number of more than 64 bits in this %s",
			  input__name(r->in), r->event, name);
}

/* Data longer than a window, piece by piece. */
static int collect_data(struct raw_reader *r, struct raw_event *ev, struct error *err)
{
	size_t left = ev->len, piece;
	int code;

	r->data.len = 0;
	for (; left; left -= piece) {
		code = need(r, 1, err);
		if (code)
			return code;
		piece = buf__left(&r->window) < left ? buf__left(&r->window) : left;
		if (!piece)
			return cut_short(r, ev->spec->name, err);
		code = outbuf__put(&r->data, buf__take(&r->window, piece), piece, err);
		if (code)
			return code;
	}
	ev->data = (const unsigned char *)r->data.data;
	return 0;
}

static int read_data(struct raw_reader *r, struct raw_event *ev, struct error *err)
{
	uint64_t len = buf__uleb(&r->window);
	int code;

	if (r->window.bad)
		return bad_number(r, ev->spec->name, err);
	if (len > RAW_DATA_MAX)
		return error__set(err, -EBADMSG,
				  "%s: byte %" PRIu64 ": this %s has %" PRIu64
				  " bytes of data; at most %u are read",
				  input__name(r->in), r->event, ev->spec->name, len, RAW_DATA_MAX);
	ev->len = (size_t)len;
	if (len > INPUT_WINDOW)
		return collect_data(r, ev, err);
	code = need(r, ev->len, err);
	if (code)
		return code;
	ev->data = buf__take(&r->window, ev->len);
	return ev->data ? 0 : cut_short(r, ev->spec->name, err);
}

static int unknown_type(const struct raw_reader *r, struct error *err)
{
	return error__set(err, -EBADMSG,
			  "%s: byte %" PRIu64 ": a trace of Go 1.%u has no event of type %u",
			  input__name(r->in), r->event, r->version, *r->window.pos);
}

int raw_reader__next(struct raw_reader *r, struct raw_event *ret, struct error *err)
{
	const struct ev_spec *spec;
	struct buf window;
	unsigned int i;
	int code;

	code = need(r, EVENT_MAX, err);
	if (code)
		return code;
	if (!buf__left(&r->window))
		return 0;
	window = r->window; /* in registers */
	r->event = r->offset + (uint64_t)(window.pos - window.start);
	ret->type = buf__u8(&window);
	ret->spec = spec = r->types.spec[ret->type];
	if (!spec)
		return unknown_type(r, err);
	for (i = 0; i < spec->nargs; i++)
		ret->arg[i] = buf__uleb(&window);
	r->window.pos = window.pos;
	if (window.bad)
		return bad_number(r, spec->name, err);
	ret->frames = raw__frames(spec, ret->arg);
	if (spec->blob) {
		code = read_data(r, ret, err);
		if (code)
			return code;
	}
	return 1;
}

int raw_reader__frame(struct raw_reader *r, uint64_t ret[RAW_FRAME], struct error *err)
{
	uint64_t frame[RAW_FRAME];
	unsigned int i;
	int code;

	code = need(r, RAW_FRAME * LEB_MAX, err);
	if (code)
		return code;
	for (i = 0; i < RAW_FRAME; i++)
		frame[i] = buf__uleb(&r->window);
	if (r->window.bad)
		return bad_number(r, "Stack", err);
	memcpy(ret, frame, sizeof(frame));
	return 0;
}

int raw__put_header(struct outbuf *out, unsigned int version, struct error *err)
{
	char header[HEADER_SIZE + 1] = "";

	snprintf(header, sizeof(header), "go 1.%u trace", version);
	return outbuf__put(out, header, HEADER_SIZE, err);
}

int raw__put_event(struct outbuf *out, const struct raw_event *ev, struct error *err)
{
	int code = outbuf__room(out, EVENT_MAX + ev->len, err);
	unsigned int i;
	uint8_t *p;

	if (code)
		return code;
	p = (uint8_t *)out->data + out->len;
	*p++ = ev->type;
	for (i = 0; i < ev->spec->nargs; i++)
		p = leb__put(p, ev->arg[i]);
	if (ev->spec->blob) {
		p = leb__put(p, ev->len);
		if (ev->len)
			memcpy(p, ev->data, ev->len);
		p += ev->len;
	}
	out->len = (size_t)((char *)p - out->data);
	return 0;
}

int raw__put_frame(struct outbuf *out, const uint64_t frame[RAW_FRAME], struct error *err)
{
	int code = outbuf__room(out, RAW_FRAME * LEB_MAX, err);
	unsigned int i;
	uint8_t *p;

	if (code)
		return code;
	p = (uint8_t *)out->data + out->len;
	for (i = 0; i < RAW_FRAME; i++)
		p = leb__put(p, frame[i]);
	out->len = (size_t)((char *)p - out->data);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Undecoded events of a v2 trace: see raw.h.
 *
 * The reader examines the input's window through a struct buf and advances it when less than the
 * longest event is left. So only data of events has to be requested while an event is decoded.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "format/encode.h"
#include "format/header.h"
#include "text/raw.h"

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

/* Drops what was read and loads `want` bytes, fewer only at the end of the trace. */
static int refill(struct raw_reader *r, size_t want, struct error *error)
{
	size_t taken = (size_t)(r->window.pos - r->window.start), len;
	const unsigned char *data;
	int err;

	input__consume(r->in, taken);
	r->offset += taken;
	r->window = buf__make(r->window.pos, 0);
	err = input__need(r->in, want, &data, &len, error);
	if (err)
		return err;
	r->window = buf__make(data, len);
	r->last = len < want;
	return 0;
}

static inline int need(struct raw_reader *r, size_t want, struct error *error)
{
	if (__builtin_expect(buf__left(&r->window) >= want || r->last, 1))
		return 0;
	return refill(r, want, error);
}

static int read_header(struct raw_reader *r, struct error *error)
{
	const char *name = input__name(r->in);
	const unsigned char *data;
	int err = refill(r, TRACE_HEADER_LEN, error), version;

	if (err)
		return err;
	data = r->window.pos;
	version = header__version(data, buf__left(&r->window));
	r->version = version < 0 ? 0 : (unsigned int)version;
	if (spec__version_known(r->version)) {
		buf__skip(&r->window, TRACE_HEADER_LEN);
		return 0;
	}
	if ((r->version && r->version < TRACE_VERSION_OLDEST) ||
	    (buf__left(&r->window) >= 8 && !memcmp(data, "gotrace", 8)))
		return error__set(error, -EPROTONOSUPPORT,
				  "%s: traces of Go 1.21 and older have no text form; convert "
				  "the trace first, with gotrace convert",
				  name);
	if (r->version)
		return error__set(error, -EPROTONOSUPPORT,
				  "%s: unknown trace version Go 1.%u: must be %s", name, r->version,
				  TRACE_VERSION_LIST(" or "));
	return error__set(error, -EPROTONOSUPPORT, "%s: not a Go execution trace", name);
}

int raw_reader__init(struct raw_reader *r, struct input *in, struct error *error)
{
	int err;

	*r = (struct raw_reader){ .in = in };
	err = read_header(r, error);
	if (!err)
		raw_types__init(&r->types, r->version);
	return err;
}

void raw_reader__deinit(struct raw_reader *r)
{
	outbuf__deinit(&r->data);
}

static int cut_short(const struct raw_reader *r, const char *name, struct error *error)
{
	return error__set(error, -EBADMSG, "%s: byte %" PRIu64 ": the trace ends within this %s",
			  input__name(r->in), r->event, name);
}

/* Reports an invalid number. The window contains the whole event unless the trace ends. */
static int bad_number(const struct raw_reader *r, const char *name, struct error *error)
{
	if (!buf__left(&r->window))
		return cut_short(r, name, error);
	return error__set(error, -EBADMSG,
			  "%s: byte %" PRIu64 ": a number of more than 64 bits in this %s",
			  input__name(r->in), r->event, name);
}

/* Collects data that is longer than the window. */
static int collect_data(struct raw_reader *r, struct raw_event *ev, struct error *error)
{
	size_t left = ev->len, piece;
	int err;

	r->data.len = 0;
	for (; left; left -= piece) {
		err = need(r, 1, error);
		if (err)
			return err;
		piece = buf__left(&r->window) < left ? buf__left(&r->window) : left;
		if (!piece)
			return cut_short(r, ev->spec->name, error);
		err = outbuf__put(&r->data, buf__take(&r->window, piece), piece, error);
		if (err)
			return err;
	}
	ev->data = (const unsigned char *)r->data.data;
	return 0;
}

static int read_data(struct raw_reader *r, struct raw_event *ev, struct error *error)
{
	uint64_t len = buf__uleb(&r->window);
	int err;

	if (r->window.bad)
		return bad_number(r, ev->spec->name, error);
	if (len > RAW_DATA_MAX)
		return error__set(error, -EBADMSG,
				  "%s: byte %" PRIu64 ": this %s has %" PRIu64 " bytes of data; "
				  "the limit is %u",
				  input__name(r->in), r->event, ev->spec->name, len, RAW_DATA_MAX);
	ev->len = (size_t)len;
	if (len > INPUT_WINDOW)
		return collect_data(r, ev, error);
	err = need(r, ev->len, error);
	if (err)
		return err;
	ev->data = buf__take(&r->window, ev->len);
	return ev->data ? 0 : cut_short(r, ev->spec->name, error);
}

static int unknown_type(const struct raw_reader *r, struct error *error)
{
	return error__set(error, -EBADMSG,
			  "%s: byte %" PRIu64 ": a trace of Go 1.%u has no event of type %u",
			  input__name(r->in), r->event, r->version, *r->window.pos);
}

int raw_reader__next(struct raw_reader *r, struct raw_event *ret, struct error *error)
{
	const struct ev_spec *spec;
	struct buf window;
	unsigned int i;
	int err;

	err = need(r, EVENT_MAX, error);
	if (err)
		return err;
	if (!buf__left(&r->window))
		return 0;
	window = r->window; /* a copy, which the compiler keeps in registers */
	r->event = r->offset + (uint64_t)(window.pos - window.start);
	ret->type = buf__u8(&window);
	ret->spec = spec = r->types.spec[ret->type];
	if (!spec)
		return unknown_type(r, error);
	for (i = 0; i < spec->nargs; i++)
		ret->arg[i] = buf__uleb(&window);
	r->window.pos = window.pos;
	if (window.bad)
		return bad_number(r, spec->name, error);
	ret->frames = raw__frames(spec, ret->arg);
	if (spec->blob) {
		err = read_data(r, ret, error);
		if (err)
			return err;
	}
	return 1;
}

int raw_reader__frame(struct raw_reader *r, uint64_t ret[RAW_FRAME], struct error *error)
{
	uint64_t frame[RAW_FRAME];
	unsigned int i;
	int err;

	err = need(r, RAW_FRAME * LEB_MAX, error);
	if (err)
		return err;
	for (i = 0; i < RAW_FRAME; i++)
		frame[i] = buf__uleb(&r->window);
	if (r->window.bad)
		return bad_number(r, "Stack", error);
	memcpy(ret, frame, sizeof(frame));
	return 0;
}

int raw__put_header(struct outbuf *out, unsigned int version, struct error *error)
{
	char header[TRACE_HEADER_LEN];

	header__make(version, header);
	return outbuf__put(out, header, sizeof(header), error);
}

int raw__put_event(struct outbuf *out, const struct raw_event *ev, struct error *error)
{
	int err = outbuf__room(out, EVENT_MAX + ev->len, error);
	unsigned int i;
	uint8_t *p;

	if (err)
		return err;
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

int raw__put_frame(struct outbuf *out, const uint64_t frame[RAW_FRAME], struct error *error)
{
	int err = outbuf__room(out, RAW_FRAME * LEB_MAX, error);

	for (unsigned int i = 0; !err && i < RAW_FRAME; i++)
		leb__append(out, frame[i]);
	return err;
}

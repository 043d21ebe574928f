/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a v2 trace as they lie in the file: no order, no checks, framing included.
 *
 * Before it in an event's way: lib/input.c, from which raw_reader draws bytes, or
 * trace/text_read.c, which draws the same events from text. After it: trace/text_write.c, or
 * raw__put_event() and trace/outbuf.c. Whatever can be told apart into events passes, valid or not
 * (as with Go's internal/trace/raw): batches of a wrong size, events of the wrong batch, stacks
 * and strings longer than a trace may have. Memory does not depend on the trace.
 */
#ifndef TRACE_RAW_H
#define TRACE_RAW_H

#include "lib/buf.h"
#include "lib/error.h"
#include "lib/input.h"
#include "trace/outbuf.h"
#include "trace/spec.h"

/* The most data of one event that is held: 16 times what any reader of traces takes. */
#define RAW_DATA_MAX (1u << 20)

#define RAW_FRAME    4 /* numbers of a stack's frame */
extern const char *const raw_frame_names[RAW_FRAME];

struct raw_event {
	const struct ev_spec *spec;
	uint64_t arg[EV_ARGS_MAX]; /* spec->nargs of them */
	uint64_t frames;	   /* of a Stack: how many the reader gives next, one by one */
	const unsigned char *data; /* only with spec->blob: until the reader's next call */
	size_t len;		   /* the same */
	uint8_t type;
};

/* How many frames follow a Stack. As in Go, its number of them is a signed one. */
static inline uint64_t raw__frames(const struct ev_spec *spec, const uint64_t *arg)
{
	return spec->frames && arg[1] <= INT64_MAX ? arg[1] : 0;
}

/* Which event is which in a trace of this version; NULL: not there. */
struct raw_types {
	const struct ev_spec *spec[UINT8_MAX + 1];
};

void raw_types__init(struct raw_types *types, unsigned int version);

struct raw_reader {
	struct input *in; /* borrowed */
	unsigned int version;
	struct raw_types types;
	struct buf window;
	uint64_t offset; /* of the window in the trace */
	uint64_t event;	 /* offset of the last event */
	bool last;	 /* nothing comes after the window */
	struct outbuf data;
};

/* Reads the header. 0 or a negative errno with the reason: -EPROTONOSUPPORT, no v2 trace. */
int raw_reader__init(struct raw_reader *r, struct input *in, struct error *err);
void raw_reader__deinit(struct raw_reader *r);

/*
 * 1: the next event (its frames, if any, must have been read); 0: the trace ends; -EBADMSG: what
 * comes is no event, with the reason and the offset; another negative errno: it cannot be read.
 * Fields of *ret are filled in as they are read: a copy of it would be half of the time.
 */
int raw_reader__next(struct raw_reader *r, struct raw_event *ret, struct error *err);
/* 0 or a negative errno with the reason. */
int raw_reader__frame(struct raw_reader *r, uint64_t ret[RAW_FRAME], struct error *err);

/* 0 or a negative errno with the reason. Numbers take as few bytes as they can. */
int raw__put_header(struct outbuf *out, unsigned int version, struct error *err);
int raw__put_event(struct outbuf *out, const struct raw_event *ev, struct error *err);
int raw__put_frame(struct outbuf *out, const uint64_t frame[RAW_FRAME], struct error *err);

#endif

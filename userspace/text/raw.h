/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw events of a v2 trace: in file order, not validated, framing included.
 *
 * Upstream: lib/input.c, from which raw_reader reads bytes; or text/text_read.c, which reads the
 * same events from text. Downstream: text/text_write.c, or raw__put_event() and lib/outbuf.c.
 * Anything that can be split into events is accepted, as in Go's internal/trace/raw: batches of a
 * wrong size, events in a wrong batch, stacks and strings beyond the limits of the format. Memory
 * does not depend on the trace.
 */
#ifndef TEXT_RAW_H
#define TEXT_RAW_H

#include "format/spec.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/outbuf.h"

/* Limit for the data of one event: 16 times the limit of trace readers. */
#define RAW_DATA_MAX (1u << 20)

#define RAW_FRAME    4 /* numbers per frame of a stack */
extern const char *const raw_frame_names[RAW_FRAME];

struct raw_event {
	const struct ev_spec *spec;
	uint64_t arg[EV_ARGS_MAX]; /* spec->nargs values */
	uint64_t frames;	   /* of a Stack: number of frames, to be read next */
	const unsigned char *data; /* if spec->blob; valid until the reader's next call */
	size_t len;		   /* bytes of data */
	uint8_t type;
};

/* Number of frames that follow a Stack; none if it is negative as an int64_t, as in Go. */
static inline uint64_t raw__frames(const struct ev_spec *spec, const uint64_t *arg)
{
	return spec->frames && arg[1] <= INT64_MAX ? arg[1] : 0;
}

/* By type: the events of a version; NULL: not in it. */
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
	bool last;	 /* nothing follows the window */
	struct outbuf data;
};

/*
 * Reads the header. Returns 0 or a negative errno with a message: -EPROTONOSUPPORT if the input is
 * not a v2 trace of a supported version.
 */
int raw_reader__init(struct raw_reader *r, struct input *in, struct error *error);
void raw_reader__deinit(struct raw_reader *r);

/*
 * Reads the next event; the frames of a previous Stack must have been read. Returns 1; 0 at the end
 * of the trace; -EBADMSG with reason and offset if the bytes are not an event; another negative
 * errno if reading fails. *ret is filled in even if an error follows, since copying the event would
 * double the time.
 */
int raw_reader__next(struct raw_reader *r, struct raw_event *ret, struct error *error);
/* Reads the next frame of a Stack. Returns 0 or a negative errno with a message. */
int raw_reader__frame(struct raw_reader *r, uint64_t ret[RAW_FRAME], struct error *error);

/* Return 0 or a negative errno with a message. Numbers are encoded in the fewest bytes. */
int raw__put_header(struct outbuf *out, unsigned int version, struct error *error);
int raw__put_event(struct outbuf *out, const struct raw_event *ev, struct error *error);
int raw__put_frame(struct outbuf *out, const uint64_t frame[RAW_FRAME], struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire form of v1 traces: bytes to event types and numbers, whatever they mean.
 *
 * First in an event's way: from lib/input.c's window to v1_parse.c. An event is a byte of type (6
 * bits) and number of arguments (2 bits: one less than there are, two less in version 5), then
 * these as LEB128. At 3 the first number says how many bytes of arguments follow. Strings stand
 * between the events, and behind UserLog.
 */
#ifndef TRACE_V1_WIRE_H
#define TRACE_V1_WIRE_H

#include "lib/buf.h"
#include "trace/v1_impl.h"

struct v1_wire {
	struct input *in; /* borrowed */
	struct error *err;
	unsigned int version;
	struct buf buf;	   /* the input's window */
	uint64_t base;	   /* its place in the trace */
	char *text;	   /* for strings longer than a window */
	uint8_t nargs[64]; /* by type; V1_NO_EVENT: not in this version */

	/* the event read last */
	uint64_t offset;
	uint8_t type;
	size_t n; /* of arguments; those behind them may be written to */
	uint64_t arg[2 + 4 * V1_STACK_MAX + V1_ARGS_MAX];
};

#define V1_NO_EVENT UINT8_MAX

void v1_wire__init(struct v1_wire *w, struct input *in, unsigned int version, struct error *err);
void v1_wire__deinit(struct v1_wire *w);

/*
 * The next event: 1, with as many arguments as its type has (V1_STRING: none yet); 0 at the end; a
 * negative errno with the reason.
 */
int v1_wire__next(struct v1_wire *w);

/* The id of a V1_STRING. */
int v1_wire__string_id(struct v1_wire *w, uint64_t *ret);
/* The string behind a V1_LOG or a string's id: bytes valid until the next call. */
int v1_wire__string(struct v1_wire *w, const void **ret, size_t *ret_len);

/* -EBADMSG, with the event read last. */
int v1_wire__broken(const struct v1_wire *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire format of v1 traces: bytes to event types and numbers, without their meaning.
 *
 * Upstream: lib/input.c. Downstream: v1_parse.c. An event is a byte with the type (6 bits) and the
 * number of arguments (2 bits: one less than there are, two less in version 5), and the arguments
 * as LEB128. If the 2 bits are 3, the first number is the length of the arguments in bytes. Strings
 * are between events and after UserLog.
 */
#ifndef V1_WIRE_H
#define V1_WIRE_H

#include "lib/buf.h"
#include "v1/v1_impl.h"

struct v1_wire {
	struct input *in; /* borrowed */
	struct error *err;
	unsigned int version;
	struct buf buf;	   /* the input's window */
	uint64_t base;	   /* its position in the trace */
	char *text;	   /* buffer for strings longer than a window */
	uint8_t nargs[64]; /* by type; V1_NO_EVENT: not in this version */

	/* The event read last. */
	uint64_t offset;
	uint8_t type;
	size_t n; /* number of arguments; further elements may be overwritten */
	uint64_t arg[2 + 4 * V1_STACK_MAX + V1_ARGS_MAX];
};

#define V1_NO_EVENT UINT8_MAX

void v1_wire__init(struct v1_wire *w, struct input *in, unsigned int version, struct error *error);
void v1_wire__deinit(struct v1_wire *w);

/*
 * Reads the next event. Returns 1 with the arguments of its type (none yet for V1_STRING), 0 at the
 * end, or a negative errno with a message.
 */
int v1_wire__next(struct v1_wire *w);

/* Reads the id of a V1_STRING. */
int v1_wire__string_id(struct v1_wire *w, uint64_t *ret);
/* Reads the string after a V1_LOG or a string's id; the bytes are valid until the next call. */
int v1_wire__string(struct v1_wire *w, const void **ret, size_t *ret_len);

/* Sets an error for the event read last. Returns -EBADMSG. */
int v1_wire__broken(const struct v1_wire *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif

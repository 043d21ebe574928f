/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event table that a trace contains, so that a reader can name, skip and explain events that
 * its own table (spec.h) lacks.
 *
 * The recorder writes the table into the first generation of each file (writer/private_write.c);
 * format/private_read.c finds it, reader/reader.c uses it to skip unknown events, and `gotrace
 * describe` prints it. gotrace-private(5) defines the bytes. The table and each event in it begin
 * with their size, so that later minor versions can append fields to both.
 */
#ifndef FORMAT_DESCRIBE_H
#define FORMAT_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "format/spec.h"
#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/error.h"

#define DESCRIPTION_MINOR 0

enum described_type {
	DESCRIBED_UINT = 0,	 /* LEB128 number */
	DESCRIBED_STRING = 1,	 /* LEB128 length and that many bytes; not used so far */
	DESCRIBED_STRING_ID = 2, /* LEB128; index into the generation's string table */
	DESCRIBED_STACK = 3,	 /* LEB128; index into the generation's stack table */
};

struct described_arg {
	uint8_t type; /* enum described_type, or another number if minor is newer */
	struct trace_string name, what;
};

/*
 * A value of a status argument (gstatus, pstatus) and its name. Reasons and kinds are strings in
 * the trace and are not listed.
 */
struct described_value {
	uint8_t value;
	struct trace_string name, what;
};

struct described_event {
	struct trace_string name, what; /* bytes of the file: no NUL, any content */
	const struct described_value *values;
	const struct described_arg *args; /* without dt; none for a control event */
	uint8_t nvalues, nargs;
	uint8_t type;
	/* As in struct ev_doc, or other numbers if the minor version is newer. */
	bool descriptive;
	uint8_t scope, class, link;
};

struct description {
	uint8_t minor;
	unsigned int n;
	struct described_event *events; /* in the order of the table */
	uint8_t at[256];		/* by event type: index into events + 1; 0: no such event */
	const uint8_t *bytes;		/* a copy of the encoded table */
	size_t len;
	struct arena memory;
};

/* Encodes the table of this program. The caller frees *ret. Returns 0 or -ENOMEM. */
int description__encode(uint8_t **ret, size_t *ret_len);

/* Decodes a copy of `data`. Returns 0, -ENOMEM, or -EBADMSG with a message if it is corrupt. */
int description__decode(struct description **ret, const void *data, size_t len,
			struct error *error);
void description__destroy(struct description *d);

/* Returns NULL if the table lacks the event. The result lives as long as the description. */
const struct described_event *description__event(const struct description *d, uint8_t type);

/*
 * Moves the cursor from behind the type byte of an event to the next event and stores the dt.
 * Returns false if the event cannot be skipped: it is not described, is a control event, has an
 * argument of an unknown type, or the bytes end. The cursor is undefined then.
 */
bool description__skip(const struct description *d, uint8_t type, struct buf *b, uint64_t *ret_dt);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace's description of its own events: so that a reader can name, skip and explain an event that
 * its own table (spec.h) does not have.
 *
 * The recorder puts the table into the first generation of each file (trace/private.c);
 * trace/private_read.c finds it there; the reader skips by it what it does not know; `gotrace
 * describe` shows it. The bytes: gotrace-private(5). An event says how many bytes its description
 * has, and so does the table, so that a later minor version may add to the end of both.
 */
#ifndef TRACE_DESCRIBE_H
#define TRACE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "trace/dictionary.h"
#include "trace/spec.h"

#define DESCRIPTION_MINOR 0

enum described_type {
	DESCRIBED_UINT = 0,	 /* a LEB number */
	DESCRIBED_STRING = 1,	 /* a LEB length and as many bytes; no event of today has one */
	DESCRIBED_STRING_ID = 2, /* LEB; of the generation's string table */
	DESCRIBED_STACK = 3,	 /* LEB; of the generation's stack table */
};

struct described_arg {
	uint8_t type; /* enum described_type; of a newer minor version: or another */
	struct trace_string name, what;
};

/*
 * A value that has a name: today those of the status arguments, gstatus and pstatus. Reasons and
 * kinds are strings in the file and need none.
 */
struct described_value {
	uint8_t value;
	struct trace_string name, what;
};

struct described_event {
	struct trace_string name, what; /* the file's bytes: no NUL, and anything in them */
	const struct described_value *values;
	const struct described_arg *args; /* those after dt; a control event has none here */
	uint8_t nvalues, nargs;
	uint8_t type;
	/* As in struct ev_words; of a newer minor version: or another. */
	bool descriptive;
	uint8_t scope, class, link;
};

struct description {
	uint8_t minor;
	unsigned int n;
	struct described_event *events; /* in the table's order */
	uint8_t at[256];		/* by event type: its place in events + 1; 0: none */
	const uint8_t *bytes;		/* what it was read from */
	size_t len;
	struct blocks *memory;
};

/* Our own table in its binary form, to be freed. 0 or -ENOMEM. */
int description__encode(uint8_t **ret, size_t *ret_len);

/* Takes a copy. 0, -ENOMEM, or -EBADMSG with the reason: the bytes are no such table. */
int description__decode(struct description **ret, const void *data, size_t len, struct error *err);
void description__destroy(struct description *d);

/* NULL: the table does not have it. Lives as long as the description. */
const struct described_event *description__event(const struct description *d, uint8_t type);

/*
 * Moves the cursor from behind an event's type byte to the next event, and gives the event's dt.
 * False: it cannot be skipped (not described, a control event, an argument of unknown form, or the
 * bytes end); the cursor is anywhere then.
 */
bool description__skip(const struct description *d, uint8_t type, struct buf *b, uint64_t *ret_dt);

#endif

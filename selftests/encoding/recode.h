/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timed events of a trace in each encoding, as trial.c compares them: see encoding.h.
 *
 * The data is kept by generation, as a container of traces would compress it: one zstd frame for
 * each. Tables of strings, stacks and samples and the data of experiments are not part of it.
 */
#ifndef SELFTESTS_RECODE_H
#define SELFTESTS_RECODE_H

#include <stddef.h>

#include "encoding.h"
#include "lib/error.h"

enum encoding { LEB128, WORDS, GROUPS, ENCODINGS };

#define ZSTD_LEVEL 3

struct piece {
	size_t len[ENCODINGS]; /* bytes of a batch's events */
};

struct part { /* a generation */
	struct piece *piece;
	size_t n, cap;
	struct outbuf plain[ENCODINGS], packed[ENCODINGS];
};

struct recoded {
	struct part *part;
	size_t n, cap;
	uint64_t events, escapes[ENCODINGS];	      /* number */
	uint64_t plain[ENCODINGS], packed[ENCODINGS]; /* bytes */
	uint8_t count[256];			      /* for X__take() */
};

/*
 * Reads the events of the trace at `path`, encodes and compresses them, decodes them again with
 * every decoder and compares the results. Returns 0 or a negative errno with the reason: of the
 * reader, -EBADMSG for an event that is not in the table, -EFBIG for a trace that exceeds the
 * limit, -EILSEQ for an event that differs. To be released in either case.
 */
int recoded__read(struct recoded *r, const char *path, struct error *error);
void recoded__deinit(struct recoded *r);

/* Decodes an event of LEB128 without the instructions that not every CPU has. */
static inline bool leb128__take(struct buf *b, struct event *e, const uint8_t count[256])
{
	return buf__event(b, &e->type, count, e->number, false) && !b->bad;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace that is still being written: its generations are passed to the reader one by one.
 *
 * Upstream: metrics/stream.c, which gets each generation from the recorder. Downstream: the same
 * functions as for a file, reader__next() and timeline__next(). They return 0 at the end of each
 * generation, and go on after the next call of reader__push(). After the last one, the events are
 * those of a file with all these generations.
 */
#ifndef READER_PUSH_H
#define READER_PUSH_H

#include "reader/reader.h"

/*
 * Creates a reader for a trace with this header, of TRACE_HEADER_LEN bytes. 0 or a negative errno
 * with the reason: -EPROTONOSUPPORT (no trace, or one of an older version, without generations).
 */
int reader__create_pushed(struct reader **ret, const void *header, struct error *error);

/*
 * Adds the next generation, all bytes of it, which are borrowed during the call. The one before must
 * have been read to its end. 0, or a negative errno with the reason: -EBADMSG (it is corrupt, or not
 * a single generation), after which the reader can only be destroyed.
 */
int reader__push(struct reader *r, const void *data, size_t len, struct error *error);
/* There are no more generations: the reader then delivers the end of the trace. */
void reader__push_end(struct reader *r);

/* Whether another generation may follow. */
bool reader__is_pushed(const struct reader *r);

#endif

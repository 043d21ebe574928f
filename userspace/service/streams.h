/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of a recording that clients have requested, sent while it continues.
 *
 * A stream begins with a generation that contains the state of all goroutines, gets all generations
 * until its time is over, and ends with the last of them, so that it is a trace of its own. Sending
 * never waits: what a reader has no room for is queued up to a limit, and a reader that stays behind
 * loses its stream, not the recording its events.
 *
 * Upstream: capture/served.c, which passes generations and their boundaries. Downstream: channel.c.
 */
#ifndef SERVICE_STREAMS_H
#define SERVICE_STREAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define STREAMS_MAX	 4
#define STREAM_QUEUE_MAX (64ul << 20) /* bytes; streams share the memory of a generation */
#define STREAM_PAUSE_NS	 250000000ull /* between two begins: the state of all goroutines is large */
#define STREAM_LONGER_NS (60 * 1000000000ull) /* one that goes on for so much longer gives way */
#define STREAM_STALL_NS	 (30 * 1000000000ull) /* so long a reader may read nothing */

struct streams;

/* A stream has ended: what is passed to channel__answer(). */
typedef void (*streams_fn)(void *ctx, uint64_t id, int err, const char *text);

/* `version`: of the trace format. NULL: no memory. */
struct streams *streams__create(unsigned int version, streams_fn ended, void *ctx);
void streams__destroy(struct streams *s); /* closes what is left, without a report; NULL allowed */

/*
 * Adds a stream of `ns` that begins at the next boundary, and takes the descriptor over, which is that of
 * channel__stream(). If STREAMS_MAX are open, the one that would go on longest ends, if that is
 * STREAM_LONGER_NS longer than the new one: some clients cannot keep all others out for long. Otherwise the
 * new one is closed. Which one it is, is reported as -EBUSY. `now`: CLOCK_MONOTONIC, ns.
 */
void streams__add(struct streams *s, uint64_t id, int fd, uint64_t ns, uint64_t now);
/*
 * Whether the open generation should end, all records up to `time` (CLOCK_MONOTONIC, ns) being in it: a
 * stream waits to begin, the last one having begun STREAM_PAUSE_NS ago, or its time is over.
 */
bool streams__is_due(const struct streams *s, uint64_t time);
/* Takes the bytes of a generation, for the streams that have begun. 0 or -ENOMEM. */
int streams__append(struct streams *s, const struct iovec *iov, size_t n);
/*
 * A generation has ended, and the next one begins at `time`. Returns whether a stream begins with it, so
 * that it must contain the state of all goroutines.
 */
bool streams__next(struct streams *s, uint64_t time);
/* The recording has ended: the last generation has been appended. Streams end with it. */
void streams__finish(struct streams *s);

/* Fills fd[], of STREAMS_MAX, with what to wait for. Returns the number. */
unsigned int streams__fds(const struct streams *s, struct pollfd *fd);
/* Sends what readers have room for, and ends streams. `now`: CLOCK_MONOTONIC, ns. */
void streams__send(struct streams *s, uint64_t now);
unsigned int streams__open(const struct streams *s); /* number */

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests between the processes of 'gotrace-bpf serve', over a pair of SOCK_SEQPACKET sockets.
 *
 * A request is one message of fixed size, and the descriptor to which its result is to be written, if it has one. The
 * answer is another message. The front (HTTP) and clients of the control socket ask the supervisor;
 * the supervisor asks the recorders. No call blocks, and neither side trusts the other: a message that
 * is not a valid one is rejected, with its descriptors closed, and its sender is to be disconnected.
 *
 * The result of a TRACE is a stream: the descriptor is a Unix stream socket, to which the recorder
 * sends without waiting; closing the other end of the stream cancels the request. Other results are
 * written to a memory file (memfd) of the requester before the answer is sent; writes to it cannot block.
 *
 * Upstream: the front (http_page.c, http_stream.c) and control_client.c. In between: control.c, router.c.
 * Downstream: capture/served.c.
 */
#ifndef SERVICE_CHANNEL_H
#define SERVICE_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#define CHANNEL_TEXT_MAX    200
#define CHANNEL_PENDING_MAX 64 /* requests of a requester without an answer; -EBUSY beyond */
#define CHANNEL_RESULT_MAX  (64u << 20)		   /* bytes of a result in a memory file */
#define CHANNEL_TRACE_MAX   (3600ull * 1000000000) /* ns of a trace */

enum channel_kind {
	CHANNEL_TARGETS =
		1,	  /* JSON: an array of the processes that are recorded, and their figures */
	CHANNEL_METRICS,  /* text in the format OpenMetrics */
	CHANNEL_TRACE,	  /* a trace of `ns`, streamed */
	CHANNEL_STATS,	  /* to a recorder: its figures, a struct of service/status.h */
	CHANNEL_SNAPSHOT, /* to a recorder: metrics__snapshot() */
	CHANNEL_ALIVE, /* the requester has not hung; without a descriptor, a result or an answer */
	CHANNEL_KINDS,
};

struct channel_request {
	uint32_t kind;
	int32_t pid; /* of a target; 0: all, or for a TRACE the only one */
	uint64_t id; /* the requester's, repeated in the answer */
	uint64_t ns; /* of a TRACE: 1 to CHANNEL_TRACE_MAX; otherwise 0 */
};

/*
 * Negative errno of an answer: -ENOENT no such target, or none at all; -ENOTUNIQ several targets, so
 * that a PID is required; -EBUSY too many requests at the same time; -EAGAIN the target is not
 * recorded yet; -ETIMEDOUT the recorder did not answer; -ECONNRESET the recording ended; -ENOBUFS the
 * reader of the stream was too slow. A TRACE is answered when its stream has ended: after a failure,
 * what was sent of it is not a complete trace.
 */
struct channel_answer {
	uint64_t id;
	int32_t error;		     /* 0 or a negative errno */
	char text[CHANNEL_TEXT_MAX]; /* the reason, one line; empty: none */
};

/* Creates two connected ends, non-blocking and close-on-exec. 0 or a negative errno. */
int channel__pair(int ret[2]);

/*
 * Sends a request, and a copy of the descriptor `fd` (-1: none), which stays the caller's. 0;
 * -EAGAIN: the other side does not read; -EPIPE: it has closed the channel; or another negative errno.
 */
int channel__ask(int channel, const struct channel_request *request, int fd);
/*
 * Receives a request and its descriptor (-1: it has none), which the caller closes. 0; -EAGAIN: there is none; -EPIPE: the
 * other side has closed the channel; -EBADMSG: the message was not a valid request, or its
 * descriptor not of the sort that its kind requires; or another negative errno.
 */
int channel__take(int channel, struct channel_request *ret, int *ret_fd);

/* Sends the answer to request `id`: `err` is 0 or a negative errno, `text` may be NULL. As _ask(). */
int channel__answer(int channel, uint64_t id, int err, const char *text);
/* Receives an answer, whose text is terminated and printable ASCII. Returns as channel__take(). */
int channel__receive(int channel, struct channel_answer *ret);

/* Creates a memory file for a result. A descriptor, which the caller closes, or a negative errno. */
int channel__memory(void);
/* Writes a result, once, to the memory file. 0 or a negative errno: -EFBIG beyond CHANNEL_RESULT_MAX. */
int channel__put(int memory, const void *data, size_t size);
/*
 * Reads a result of at most `max` bytes into *ret, which the caller frees, and which ends with a byte
 * 0 that is not counted. 0 or a negative errno: -EFBIG if it is larger.
 */
int channel__get(int memory, size_t max, void **ret, size_t *size);

/* Creates a stream: the trace is read from ret[0], and ret[1] is passed on. 0 or a negative errno. */
int channel__stream(int ret[2]);
/*
 * Sends as much as the reader has room for. Returns the number of bytes, which may be less than `size`;
 * -EAGAIN: none now; -EPIPE: the reader has closed the stream; or another negative errno.
 */
long channel__send(int stream, const void *data, size_t size);

#endif

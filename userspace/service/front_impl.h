/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the front: its connections, its requests to the supervisor, its streams.
 *
 *     front.c          the loop: accepts connections, ends late ones, runs libmicrohttpd
 *     http_request.c   a request of a client: refuses it, or finds its page
 *     http_response.c  creates responses
 *     http_page.c      results of the supervisor that fit in memory: /metrics, /targets
 *     http_stream.c    traces, which are passed on as they arrive
 *
 * There is one thread. A request that waits for the supervisor is suspended: libmicrohttpd ignores
 * its connection until http_request__resume(), and then calls the handler or the reader of the body
 * again.
 */
#ifndef SERVICE_FRONT_IMPL_H
#define SERVICE_FRONT_IMPL_H

#include <microhttpd.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"
#include "service/channel.h"
#include "service/front.h"

#define CONNECTIONS_MAX	 64
#define HTTP_STREAMS_MAX 8  /* that go on */
#define HTTP_STREAMS	 16 /* with those whose end the client has not seen yet */

struct front;
struct http_stream;

enum page_kind { PAGE_TARGETS, PAGE_METRICS, PAGES };

/* A result of the supervisor, which several clients may be reading. */
struct http_body {
	struct front *front;
	unsigned int refs;
	size_t size;
	char *data; /* followed by a byte 0 */
};

/* From the complete headers to the end of the response. */
struct http_request {
	struct front *front;
	struct http_connection *connection;
	struct MHD_Connection *mhd;
	bool suspended;
	bool gone;  /* the client has left: end without a response */
	bool waits; /* for a round of a page */
	enum page_kind page;
	uint64_t round;
	bool lists;		    /* wants the targets, because a PID is required */
	bool openmetrics;	    /* instead of plain text */
	struct http_stream *stream; /* NULL: none, or it ended */
	/* What to send after the request is resumed: one of these, or the stream. */
	struct MHD_Response *failure;
	unsigned int status; /* of the failure */
	struct http_body *body;
};

struct http_connection {
	int fd;			      /* -1: this element is free */
	bool shut;		      /* libmicrohttpd will notice */
	struct http_request *request; /* NULL: waits for the client to send one */
	uint64_t since;		      /* when that began, or the response */
	uint64_t deadline;	      /* of what it does now; CLOCK_MONOTONIC, ns */
};

/*
 * At most one request for a page is on its way to the supervisor. Clients that ask meanwhile wait
 * for the next one, so that each result is newer than the requests that it answers, and the load on
 * the supervisor does not depend on the number of clients.
 */
struct http_page {
	uint64_t round; /* counts requests to the supervisor */
	uint64_t id;	/* of the one on its way; 0: none */
	uint64_t deadline;
	int memory; /* for its result */
};

struct http_stream {
	struct http_request *request; /* NULL: it has ended */
	bool used;
	int fd;
	uint64_t id, deadline;
	uint64_t until; /* about when it will end; CLOCK_MONOTONIC, ns */
	bool started;	/* the response has begun: bytes have arrived */
	bool ended;	/* there will be no more bytes */
	bool answered;	/* by `error` and `text` */
	bool late;	/* the deadline has passed */
	int error;
	char text[CHANNEL_TEXT_MAX];
};

struct front {
	struct MHD_Daemon *daemon;
	int listen_fd, channel_fd, epoll_fd;
	bool is_unix;
	uint16_t port;
	bool closed; /* by the supervisor */
	int err;     /* why the channel cannot be used any longer */
	uint64_t request_ns, answer_ns;
	uint64_t last_id;
	uint64_t now;
	uint64_t reports; /* when the next CHANNEL_ALIVE is due */
	size_t held;	  /* bytes of pages that clients have not read yet */
	struct http_connection connections[CONNECTIONS_MAX];
	struct http_page pages[PAGES];
	struct http_stream streams[HTTP_STREAMS];
};

/* front.c */
void http_connection__shut(struct http_connection *c);
/* It begins something else, for which the client has `ns`. */
void http_connection__deadline(struct http_connection *c, uint64_t now, uint64_t ns);

/* http_request.c: callbacks of libmicrohttpd */
enum MHD_Result http_request__handle(void *front, struct MHD_Connection *mhd, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **request);
void http_request__end(void *front, struct MHD_Connection *mhd, void **request,
		       enum MHD_RequestTerminationCode code);
void http_request__suspend(struct http_request *r);
/* Sets a failure by an error of the supervisor, unless there is one; `text` may be empty. */
void http_request__fail(struct http_request *r, int err, const char *text);
void http_request__resume(struct http_request *r);

/* http_response.c: each returns NULL without memory */
struct MHD_Response *http_response__text(const char *type, const char *text);
/* A line that net/http/pprof would send in this case. */
struct MHD_Response *http_response__pprof_error(const char *text);
struct MHD_Response *http_response__body(struct http_body *b,
					 const char *type);	  /* takes another reference */
struct MHD_Response *http_response__trace(struct http_stream *s); /* NULL: headers only */
/* Sends the response and releases it; NULL: closes the connection. */
enum MHD_Result http_response__queue(struct http_request *r, unsigned int status,
				     struct MHD_Response *response);
unsigned int http_response__status(int err); /* for an error of the supervisor */

/* http_page.c */
void http_body__release(struct http_body *b); /* NULL: no effect */
void http_page__ask(struct http_request *r, enum page_kind kind);
bool http_page__answer(struct front *f,
		       const struct channel_answer *answer); /* false: not its ID */
void http_page__expire(struct front *f);

/* http_stream.c */
/*
 * Requests a trace, and suspends the request; or sets its failure. If there are too many, one that
 * would go on for much longer gives way, as in service/streams.h.
 */
void http_stream__ask(struct http_request *r, int32_t pid, uint64_t ns);
bool http_stream__answer(struct front *f, const struct channel_answer *answer);
/* Adds what the stream and its client wait for; returns how many elements, at most 2. */
size_t http_stream__poll(const struct http_stream *s, struct pollfd *ret);
/* What has happened since: resumes the request if there is something to do. */
void http_stream__check(struct http_stream *s, uint64_t now);
void http_stream__end(struct http_stream *s);
ssize_t http_stream__read(void *stream, uint64_t pos, char *buf, size_t max); /* of a response */

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signed HTTP requests to an S3-compatible server, several at a time.
 *
 * Upstream: transfer.c, which decides what to request and what an answer means. Downstream:
 * libcurl. A server is not trusted: redirects are not followed, answers are bounded in size and
 * time.
 */
#ifndef SHIP_HTTP_H
#define SHIP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "ship/answer.h"
#include "ship/credentials.h"

#define HTTP_SLOTS_MAX	 64
#define HTTP_HEADERS_MAX 24

struct http;

struct http_opts {
	const char *ca;	      /* file of certificates; borrowed; NULL: those of the system */
	const char *region;   /* borrowed */
	unsigned int slots;   /* requests at a time, at most HTTP_SLOTS_MAX */
	unsigned int timeout; /* seconds without progress */
	bool loopback;	      /* the server is on this machine: use no proxy */
};

struct http_request {
	const char *url;
	const char *header[HTTP_HEADERS_MAX]; /* "name: value"; copied */
	unsigned int nheaders;
	int fd; /* PUT: of the body, whose first `size` bytes are sent; -1: HEAD */
	uint64_t size;
};

/* Loads libcurl. 0, or a negative errno and the reason. */
int http__open(struct http **ret, const struct http_opts *opts, struct error *error);
/* Ends all requests at once. NULL allowed. */
void http__close(struct http *h);

/*
 * Starts a request in a slot that is free. The descriptor stays open until it is answered. 0 or
 * -ENOMEM.
 */
int http__start(struct http *h, unsigned int slot, const struct http_request *request,
		const struct credentials *credentials);
/* Waits for progress, at most `ms`, or until `stop_fd` is readable. */
void http__wait(struct http *h, int stop_fd, int ms);
/* An answered request, whose slot is free again. False: there is none. */
bool http__next(struct http *h, unsigned int *ret_slot, struct http_answer *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses the answers of a server: the headers that matter, and the XML of an error.
 *
 * Upstream: libcurl, by way of http.c, which passes lines of headers and parts of bodies. Downstream:
 * transfer.c, which decides what an answer means. The server is not trusted: sizes are bounded, and
 * texts become printable.
 */
#ifndef SHIP_ANSWER_H
#define SHIP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEADERS_MAX (64u << 10) /* bytes, with those of interim answers */
#define ANSWER_BODY_MAX	   (64u << 10) /* of an error; others have none */
#define ANSWER_BODY_KEPT   4096

struct http_answer {
	unsigned int status;	  /* 0: there was no complete answer */
	bool untrusted;		  /* the certificate of the server was not accepted */
	uint64_t length;	  /* of the object, by Content-Length */
	unsigned int retry_after; /* seconds; 0: not given */
	char checksum[64];	  /* x-amz-checksum-sha256; empty: not given, as the next ones */
	char sha256[80];	  /* x-amz-meta-sha256 */
	char code[64];		  /* of an error, such as "AccessDenied" */
	char reason[256];	  /* of a failure, for the user: printable */
};

struct answer {
	struct http_answer got;
	const char *too_large; /* which part exceeds its limit; NULL: none */
	size_t header_bytes, body_bytes, kept;
	char body[ANSWER_BODY_KEPT + 1];
};

void answer__begin(struct answer *a);
/* A line of the headers, or a part of the body. False: the answer is too large, and must be ended. */
bool answer__header(struct answer *a, const char *line, size_t len);
bool answer__body(struct answer *a, const char *data, size_t len);
/* It is complete: sets the code and the reason by the body and got.status. */
void answer__end(struct answer *a);
/* It is not, because of `why`, unless it was too large. Without a status. */
void answer__fail(struct answer *a, const char *why);

#endif

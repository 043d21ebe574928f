/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two requests that store a file, and what their answers mean.
 *
 * A PUT carries the SHA-256 of the file, which the server compares with what it has received, and
 * If-None-Match, so that it never replaces an object. Where the answer does not confirm the
 * checksum, a HEAD compares the object with the file. Upstream: sender.c. Downstream: http.c.
 */
#ifndef SHIP_TRANSFER_H
#define SHIP_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "ship/digest.h"
#include "ship/facts.h"
#include "ship/http.h"
#include "ship/place.h"

#define TRANSFER_BYTES_MAX (5ull << 30) /* of one PUT, by S3 */

struct transfer {
	const struct place *place; /* borrowed, as the next ones */
	const struct place_parts *parts;
	const char *name;
	uint64_t bytes;
	struct digest_text digest;
	struct facts facts;
};

enum transfer_result {
	TRANSFER_ACCEPTED,  /* the server has these bytes */
	TRANSFER_UNCERTAIN, /* ask with a HEAD */
	TRANSFER_DIFFERS,   /* the server has another object of this key */
	TRANSFER_RETRY,	    /* a failure that may pass */
	TRANSFER_DENIED,    /* a failure that needs the user: credentials, bucket, certificate */
};

/* Each starts the request. 0 or -ENOMEM. */
int transfer__put(struct http *h, unsigned int slot, const struct transfer *t, int fd,
		  const struct credentials *credentials);
int transfer__head(struct http *h, unsigned int slot, const struct transfer *t,
		   const struct credentials *credentials);
/* Of the answer to a PUT, or to a HEAD. */
enum transfer_result transfer__result(const struct transfer *t, const struct http_answer *answer,
				      bool is_head);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a trace of a spool is stored: the bucket, the server, and the key of the object.
 *
 * The key depends on the name of the file alone, so that a file that is sent twice is one object:
 *
 *	PREFIX/date=2026-11-27/hour=03/host=web1/service=caddy/web1-caddy-42-20261127T031500.000Z.trace
 *
 * Query engines read the parts with a `=` as columns (Hive partitions). Used by transfer.c.
 */
#ifndef SHIP_PLACE_H
#define SHIP_PLACE_H

#include <stdbool.h>

#include "flight/file_name.h"
#include "lib/error.h"

#define PLACE_BUCKET_SIZE   64 /* with the final byte, as all sizes here */
#define PLACE_PREFIX_SIZE   256
#define PLACE_ENDPOINT_SIZE 512
#define PLACE_REGION_SIZE   64
#define PLACE_KEY_SIZE	    1025 /* the limit of S3 */
#define PLACE_URL_SIZE	    (PLACE_ENDPOINT_SIZE + PLACE_BUCKET_SIZE + 3 * PLACE_KEY_SIZE)
#define PLACE_PART_SIZE	    64 /* of a host or a service */

struct place {
	char bucket[PLACE_BUCKET_SIZE];
	char prefix[PLACE_PREFIX_SIZE];	    /* without slashes at the ends; may be empty */
	char endpoint[PLACE_ENDPOINT_SIZE]; /* "https://HOST[:PORT]" */
	char region[PLACE_REGION_SIZE];
	bool loopback; /* the server is an address of this machine */
};

/* The parts of the name of a file. */
struct place_parts {
	char host[PLACE_PART_SIZE], service[PLACE_PART_SIZE];
	char pid[16];
	char start[24]; /* "20261127T031500.000Z" */
};

/* "s3://BUCKET[/PREFIX]". 0, or -EINVAL and the reason. */
int place__set_bucket(struct place *p, const char *text, struct error *error);
/*
 * "https://HOST[:PORT]"; NULL: that of Amazon for the region. http:// is permitted only for
 * loopback addresses, or if `insecure` is set. 0, or -EINVAL and the reason.
 */
int place__set_endpoint(struct place *p, const char *text, bool insecure, struct error *error);
/* 0, or -EINVAL and the reason. */
int place__set_region(struct place *p, const char *text, struct error *error);

/* Whether the text can be a part of a key, as a host or a service: letters, digits and ._- */
bool place__is_part(const char *text);

/* Splits a name of flight/file_name.h. False: it does not have these parts. */
bool place__split(const char *name, struct place_parts *ret);
/* The key of a file, of which `parts` may have been changed; and the URL of that object. */
void place__key(const struct place *p, const struct place_parts *parts, const char *name,
		char ret[PLACE_KEY_SIZE]);
void place__url(const struct place *p, const char *key, char ret[PLACE_URL_SIZE]);

#endif

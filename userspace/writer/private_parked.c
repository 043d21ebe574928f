// SPDX-License-Identifier: GPL-2.0
/* Writes PRIVATE_PARKED records: see private_parked.h. */
#include "writer/private_parked.h"

#include <errno.h>
#include <string.h>

#include "format/encode.h"
#include "writer/private_write.h"

static int begin(struct parked_record *r)
{
	r->bytes.len = 0;
	r->last_since = 0;
	if (outbuf__room(&r->bytes, PARKED_RECORD_BYTES + (r->n + 1) * (64 + LEB_MAX) + 3 * LEB_MAX,
			 NULL))
		return -ENOMEM;
	leb__append(&r->bytes, r->n);
	for (unsigned int i = 0; i < r->n; i++) {
		leb__append(&r->bytes, strlen(r->reasons[i]));
		outbuf__put(&r->bytes, r->reasons[i], strlen(r->reasons[i]), NULL);
	}
	return 0;
}

int private__parked_end(struct writer *w, struct parked_record *r)
{
	if (!r->last)
		return 0;
	r->last = 0;
	return private__record(w, PRIVATE_PARKED, r->bytes.data, r->bytes.len);
}

int private__parked(struct writer *w, struct parked_record *r, uint64_t goid, uint64_t reason,
		    uint64_t since)
{
	uint64_t more;
	int err = 0;

	if (r->last && r->bytes.len >= PARKED_RECORD_BYTES)
		err = private__parked_end(w, r);
	if (!err && !r->last)
		err = begin(r);
	if (err)
		return err;
	leb__append(&r->bytes, goid - r->last);
	leb__append(&r->bytes, reason);
	more = since - r->last_since;
	leb__append(&r->bytes, more << 1 ^ -(more >> 63));
	r->last = goid;
	r->last_since = since;
	return 0;
}

void parked_record__deinit(struct parked_record *r)
{
	outbuf__deinit(&r->bytes);
}

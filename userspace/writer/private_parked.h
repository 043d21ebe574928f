/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes PRIVATE_PARKED records: why goroutines wait when a file begins.
 *
 * Upstream: sequence/boundary.c. Downstream: format/parked_read.h. A record has little more than
 * PARKED_RECORD_BYTES and is complete by itself.
 */
#ifndef WRITER_PRIVATE_PARKED_H
#define WRITER_PRIVATE_PARKED_H

#include <stdint.h>

#include "lib/outbuf.h"

struct writer;

#define PARKED_RECORD_BYTES (256u << 10)

/* The open record. Set the reasons, of less than 64 bytes each, and leave the rest 0. */
struct parked_record {
	const char *const *reasons;
	unsigned int n;
	struct outbuf bytes;
	uint64_t last; /* goroutine in it; 0: none */
	uint64_t last_since;
};

/*
 * Adds a goroutine, in ascending order: the index of its reason, and for how many ns it has waited plus
 * 1; 0: unknown. private__parked_end() writes the rest. Return 0 or a negative errno.
 */
int private__parked(struct writer *w, struct parked_record *r, uint64_t goid, uint64_t reason,
		    uint64_t since);
int private__parked_end(struct writer *w, struct parked_record *r);
void parked_record__deinit(struct parked_record *r);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `gotrace align` needs to know about the trace before it can add to it.
 *
 * Input: reader/reader.c, and format/kernel.h for kernel events. Output: align/fit.c (switches),
 * align/join.c (threads), align/write.c (generations). Memory: 24 bytes per switch and per
 * generation.
 */
#ifndef ALIGN_SIDE_H
#define ALIGN_SIDE_H

#include "align/join.h"
#include "reader/reader.h"

struct side_generation {
	uint64_t number;
	uint64_t from;	 /* CLOCK_MONOTONIC */
	uint64_t unused; /* no string of it has this id or a larger one */
};

struct side {
	unsigned int version; /* of the format: 22 … 26 */
	struct side_generation *generation;
	size_t ngenerations, generations_cap;
	uint64_t to;		     /* CLOCK_MONOTONIC: the trace's end */
	struct fit_switch *switches; /* of the target's threads, by time */
	size_t nswitches, switches_cap;
	struct map threads; /* the target's, by tid */
	bool has_kernel;
	size_t *latest; /* while it is read: by CPU, its last switch + 1 */
};

/*
 * Reads all of the trace, which stays the caller's. 0, or a negative errno with the reason: -EBADMSG
 * (broken), -EPROTONOSUPPORT (v1, or its times are of no known clock), -EALREADY (aligned), -ENOMEM.
 */
int side__read(struct side *ret, struct reader *r, struct error *error);
void side__deinit(struct side *s);

#endif

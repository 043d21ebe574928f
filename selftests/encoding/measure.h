/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times the decoders of the encodings: see encoding.h. Used by trial.c.
 */
#ifndef SELFTESTS_MEASURE_H
#define SELFTESTS_MEASURE_H

#include "recode.h"

#define ROUNDS_MAX 101
#define PASSES_MAX 16

struct pass {
	const char *name;
	enum encoding encoding;
	bool packed; /* its data is decompressed first, one generation at a time */
	/*
	 * Decodes `data`, the events of a generation. Returns their number, which is wrong if the
	 * data is invalid.
	 */
	uint64_t (*decode)(const struct part *part, const void *data, const uint8_t count[256]);
	bool (*works)(void); /* on this CPU; NULL: on all */
};

extern const struct pass passes[];
extern const unsigned int npasses; /* at most PASSES_MAX */

/*
 * Runs all passes in each of `rounds` (1 to ROUNDS_MAX) interleaved rounds. ret_ns: the median
 * nanoseconds of CPU time per event, by pass; 0: it does not work on this CPU. Returns 0 or a
 * negative errno with the reason.
 */
int measure(const struct recoded *r, unsigned int rounds, double *ret_ns, struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a profile in the format of pprof: a protocol buffer, compressed by gzip.
 *
 * Between profile/samples.h and lib/outbuf.h. The format is profile.proto of
 * github.com/google/pprof, encoded by format/protobuf.h.
 */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "lib/error.h"
#include "lib/outbuf.h"
#include "profile/profile.h"

struct pprof_opts {
	enum profile_kind kind;
	uint64_t period;      /* in the unit of profile_names; 0: unknown */
	const char *build_id; /* of the traced program, hexadecimal; NULL: not known */
	const char *program;  /* path of its executable; NULL: not known */
	uint64_t
		time_ns; /* wall-clock time at which the profile begins, since 1970; 0: not known */
	uint64_t duration_ns; /* that it covers */
};

/*
 * Locations are one per frame, as in profiles of `go tool trace`: an inlined frame has a location
 * of its own. 0 or a negative errno with the reason.
 */
int pprof__write(struct samples *s, const struct pprof_opts *opts, struct outbuf *out,
		 struct error *error);

#endif

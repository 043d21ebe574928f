/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The option --min-duration KIND:TIME: which short waits are kept out of a trace.
 *
 * Used by record.c, flight.c and replay.c. Downstream: sequence/short_calls.h.
 */
#ifndef MIN_DURATION_H
#define MIN_DURATION_H

#include <stdint.h>

/* Longer calls are written anyway, at the end of each generation, which is about a second. */
#define MIN_DURATION_MAX 1000000000ull

#define MIN_DURATION_HELP                                                                          \
	"leave waits of KIND that are shorter than TIME out of the trace; KIND is syscall: "       \
	"system calls in which the goroutine keeps its P (TIME at most 1s)"

/* Sets the threshold that `text` names, in ns. An invalid one is a usage error with the reason. */
void min_duration__parse(const char *text, uint64_t *ret_syscall_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Converts arbitrary bytes to a trace with valid structure: batches, tables and clocks are correct,
 * and the bytes determine what its few goroutines, Ps and threads do. Arbitrary bytes as a whole
 * trace seldom reach the checks of event order.
 *
 * The first byte is the version. Then, for each event: its type, thread and time, and a byte per
 * argument. Sequence numbers are mostly correct, and statuses at the start are present.
 */
#ifndef SELFTESTS_FUZZ_MAKE_TRACE_H
#define SELFTESTS_FUZZ_MAKE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define MADE_MAX	(64u << 10) /* bytes */

/* Among the event types. */
#define MADE_SAMPLE	0xf0
#define MADE_GENERATION 0xf1

/* Bytes that make a valid trace of three generations, with some of everything. */
extern const uint8_t made_example[];
extern const size_t made_example_len;

/* The trace's length. `ret` has room for MADE_MAX bytes. */
size_t make_trace(const uint8_t *data, size_t size, uint8_t *ret);

#endif

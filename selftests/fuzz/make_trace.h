/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Any bytes to a trace whose frame is sound: batches, tables and clocks are as they should be, and
 * its few goroutines, Ps and threads do as the bytes say. Bytes that are a trace by themselves
 * seldom get as far as the order of its events.
 *
 * The first byte is the version. Then, for each event: its type, then thread and time, then a byte
 * for each argument. Sequence numbers are mostly the right ones, statuses at the start are there.
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

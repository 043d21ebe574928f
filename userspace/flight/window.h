/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The latest generations of a recording in memory, bounded by their bytes and their age.
 *
 * Upstream: writer/writer.c, which appends each generation. Downstream: flight.c, which copies the
 * window for a snapshot, and finisher.c, which writes the copy to a file.
 */
#ifndef FLIGHT_WINDOW_H
#define FLIGHT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct trace_file;
struct window;
struct window_copy;

/* Of a generation, or the sums of several. Times: CLOCK_MONOTONIC, ns. */
struct window_part {
	uint64_t from, to;
	uint64_t events;
	size_t bytes;
};

/* Limits: bytes of all generations, and ns from the end of the first to that of the last. */
struct window *window__create(size_t bytes_max, uint64_t ns_max); /* NULL: no memory */
void window__destroy(struct window *w);				  /* NULL allowed */

/* Takes the bytes of a generation: for writer__use_memory(), `to` is the window. 0 or -ENOMEM. */
int window__append(void *to, const struct iovec *iov, size_t n);
/*
 * Describes the generation that was appended; no effect if none was. `is_first`: a trace can begin
 * with it. Then removes the oldest ones that exceed a limit, up to one that a trace can begin with.
 * Without one, or if the last alone exceeds the limit of bytes, everything is removed. 0 or -ENOMEM.
 */
int window__describe(struct window *w, uint64_t from, uint64_t to, uint64_t events, bool is_first);
/* Bytes of the largest generation so far after which everything was removed; 0: none. */
size_t window__too_large(const struct window *w);
/* The sums; `bytes` 0: it is empty. */
struct window_part window__sums(const struct window *w);

/* What it contains now, which shares the memory with it. NULL: empty, or no memory. */
struct window_copy *window__copy(const struct window *w);
/* Writes a header of the format version, and the generations. 0 or a negative errno. Any thread. */
int window_copy__write(const struct window_copy *c, struct trace_file *file, unsigned int version);
void window_copy__destroy(struct window_copy *c); /* any thread; NULL allowed */

#endif

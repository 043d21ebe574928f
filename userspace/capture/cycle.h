/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the windows of a duty cycle (record --sample) begin, and a timer for that.
 *
 * Used by recorder_windows.c. Times are CLOCK_MONOTONIC, ns. Aligned windows begin at multiples of
 * the period by CLOCK_REALTIME, so that several machines record the same windows.
 */
#ifndef CAPTURE_CYCLE_H
#define CAPTURE_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

#define CYCLE_WINDOW_MIN_NS 1000000ull
#define CYCLE_PERIOD_MAX_NS (30 * 24 * 3600 * 1000000000ull)

struct cycle_opts {
	uint64_t window_ns; /* 0: no duty cycle; less than the period */
	uint64_t period_ns;
	bool is_aligned;
};

/*
 * Returns the start of the first window that begins at `earliest` or later. `first` is the start of the
 * first window of the recording; aligned windows do not depend on it.
 */
uint64_t cycle__next(const struct cycle_opts *opts, uint64_t first, uint64_t earliest);

/* Creates a timer: returns a descriptor that the caller closes, or a negative errno. */
int cycle__open_timer(const struct cycle_opts *opts);
/*
 * Starts the timer. If windows are aligned, it also ends when CLOCK_REALTIME is set. 0 or a negative
 * errno; -ECANCELED: the clock was set since the last start, and no sleep has ended by that.
 */
int cycle__set_timer(int fd, const struct cycle_opts *opts, uint64_t at);
/* Whether it ended because CLOCK_REALTIME was set: then the start must be computed again. */
bool cycle__clock_was_set(int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How exact the wall-clock times of a trace are, compared with other hosts.
 *
 * Between the kernel's clock discipline, which chrony, ntpd and systemd-timesyncd control, and the
 * metadata of objects (transfer.c). The state is that of the upload, which follows the recording by
 * seconds; the shift covers what happened since the recording began.
 */
#ifndef SHIP_HOST_CLOCK_H
#define SHIP_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct host_clock {
	bool known;	      /* false: this process may not read it, and all below is 0 */
	bool synchronized;    /* with a server of time or a local source */
	int64_t max_error_us; /* bound of the difference from true time, as the kernel has it */
	int64_t estimated_us; /* estimate of it */
	bool shift_known;     /* of the next one */
	int64_t shift_us; /* how much later the clock is now than the times of the trace imply */
};

/* The state now, without the shift. */
void host_clock__read(struct host_clock *ret);
/*
 * The shift of a trace, whose first generation begins at `start_ns` (CLOCK_MONOTONIC) and `wall_ns`
 * by its own clock. Unknown for a file of `mtime_ns` before this boot.
 */
void host_clock__compare(struct host_clock *c, uint64_t start_ns, uint64_t wall_ns,
			 uint64_t mtime_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks: CLOCK_MONOTONIC, which all records use, its relation to CLOCK_REALTIME, and CPU time.
 */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MS 1000000ull /* ns */

uint64_t clock__now(void); /* CLOCK_MONOTONIC, ns */
uint64_t clock__cpu(void); /* this process's CPU time, ns */
/* CPU time of a process, ns, with that of threads that have ended; 0: there is no such process. */
uint64_t clock__cpu_of(pid_t pid);
/*
 * CLOCK_REALTIME at the CLOCK_MONOTONIC time `mono`, ns; accurate to about the cost of a clock
 * read.
 */
uint64_t clock__wall_at(uint64_t mono);

/* What the kernel's clock discipline knows, which chrony, ntpd and systemd-timesyncd control. */
struct clock_state {
	bool synchronized;    /* with a server of time or a local source */
	int64_t max_error_us; /* bound of the difference from true time */
	int64_t error_us;     /* estimate of it */
};
/* Needs no privilege. False: a filter of system calls forbids it. */
bool clock__state(struct clock_state *ret);

#endif

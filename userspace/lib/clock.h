/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks: CLOCK_MONOTONIC, which all records use, its relation to CLOCK_REALTIME, and CPU time.
 */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

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

#endif

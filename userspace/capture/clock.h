/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of every record, CLOCK_MONOTONIC, and where it stands against the calendar.
 */
#ifndef CAPTURE_CLOCK_H
#define CAPTURE_CLOCK_H

#include <stdint.h>

uint64_t clock__now(void); /* CLOCK_MONOTONIC, ns */
uint64_t clock__cpu(void); /* this process's CPU time, ns */
/* CLOCK_REALTIME at the CLOCK_MONOTONIC time `mono`, ns; good to about the cost of a clock read. */
uint64_t clock__wall_at(uint64_t mono);

#endif

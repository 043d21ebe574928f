// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks: see clock.h.
 */
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts = {};

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t clock__now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock__cpu(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock__cpu_of(pid_t pid)
{
	clockid_t id;

	return clock_getcpuclockid(pid, &id) ? 0 : read_clock(id);
}

/* Uses the reading with the shortest bracket of several: the others were interrupted in between. */
uint64_t clock__wall_at(uint64_t mono)
{
	uint64_t best = UINT64_MAX, wall = 0, before, after, now;

	for (int i = 0; i < 8; i++) {
		before = clock__now();
		now = read_clock(CLOCK_REALTIME);
		after = clock__now();
		if (after - before < best) {
			best = after - before;
			wall = now - (before + best / 2) + mono;
		}
	}
	return wall;
}

bool clock__state(struct clock_state *ret)
{
	struct timex t = {}; /* changes nothing */
	/* glibc calls clock_adjtime instead, which the filters of our recorder and services forbid. */
	long state = syscall(SYS_adjtimex, &t);

	*ret = (struct clock_state){};
	if (state < 0)
		return false;
	ret->synchronized = state != TIME_ERROR && !(t.status & STA_UNSYNC);
	ret->max_error_us = t.maxerror;
	ret->error_us = t.esterror;
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * How exact the wall-clock times of a trace are: see host_clock.h.
 */
#include "ship/host_clock.h"

#include "lib/clock.h"

#define BOOT_SLACK (600 * 1000000000ull)

void host_clock__read(struct host_clock *ret)
{
	struct clock_state state;

	*ret = (struct host_clock){};
	if (!clock__state(&state))
		return;
	ret->known = true;
	ret->synchronized = state.synchronized;
	ret->max_error_us = state.max_error_us;
	ret->estimated_us = state.error_us;
}

void host_clock__compare(struct host_clock *c, uint64_t start_ns, uint64_t wall_ns,
			 uint64_t mtime_ns)
{
	uint64_t now = clock__now(), wall = clock__wall_at(now);

	/* The clock may have been set meanwhile, so times before the boot are compared roughly. */
	if (start_ns > now || wall < now || mtime_ns + BOOT_SLACK < wall - now)
		return;
	c->shift_known = true;
	c->shift_us = (int64_t)(wall - (now - start_ns) - wall_ns) / 1000;
}

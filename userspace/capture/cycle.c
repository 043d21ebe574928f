// SPDX-License-Identifier: GPL-2.0
/*
 * The times of a duty cycle: see cycle.h.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "capture/cycle.h"
#include "lib/clock.h"

#define SECOND 1000000000ull

uint64_t cycle__next(const struct cycle_opts *opts, uint64_t first, uint64_t earliest)
{
	uint64_t into;

	if (!opts->is_aligned && earliest <= first)
		return first;
	into = opts->is_aligned ? clock__wall_at(earliest) : earliest - first;
	into %= opts->period_ns;
	return into ? earliest + opts->period_ns - into : earliest;
}

int cycle__open_timer(const struct cycle_opts *opts)
{
	int fd = timerfd_create(opts->is_aligned ? CLOCK_REALTIME : CLOCK_MONOTONIC,
				TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int cycle__set_timer(int fd, const struct cycle_opts *opts, uint64_t at)
{
	uint64_t ns = opts->is_aligned ? clock__wall_at(at) : at;
	int flags = TFD_TIMER_ABSTIME | (opts->is_aligned ? TFD_TIMER_CANCEL_ON_SET : 0);
	struct itimerspec spec = {
		.it_value = { .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) },
	};

	return timerfd_settime(fd, flags, &spec, NULL) ? -errno : 0;
}

bool cycle__clock_was_set(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) < 0 && errno == ECANCELED;
}

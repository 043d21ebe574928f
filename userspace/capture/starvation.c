// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of starvation: see starvation.h. Upstream: recorder.c, at each drain and whenever it
 * reads the loss counters. Downstream: the statistics, and the message about losses
 * (gotrace-bpf/recording.c).
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/starvation.h"
#include "lib/clock.h"

#define LATE	    (20 * MS)	/* longer than the pause between drains plus a drain */
#define REFRESH	    (200 * MS)	/* run_delay is read at least this often */
#define CONSEQUENCE (1000 * MS) /* time until a loss is counted */

void starvation__init(struct starvation *s)
{
	*s = (struct starvation){ .fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC) };
}

void starvation__deinit(struct starvation *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static uint64_t run_delay(const struct starvation *s)
{
	unsigned long long on_cpu, delay;
	char text[96];
	ssize_t n = s->fd < 0 ? -1 : pread(s->fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	return sscanf(text, "%llu %llu", &on_cpu, &delay) == 2 ? delay : UINT64_MAX;
}

void starvation__note(struct starvation *s, uint64_t now, uint64_t delay)
{
	uint64_t gap = s->drained ? now - s->drained : 0;
	uint64_t waited = delay != UINT64_MAX && delay > s->delay ? delay - s->delay : 0;

	if (waited > gap)
		waited = gap; /* the rest precedes the last drain */
	if (gap >= LATE && waited >= gap / 2) {
		s->times++;
		s->total_ns += waited;
		if (waited > s->longest_ns)
			s->longest_ns = waited;
		s->until = now + CONSEQUENCE;
	}
	if (delay != UINT64_MAX)
		s->delay = delay;
}

void starvation__drain(struct starvation *s, uint64_t now)
{
	if (!s->drained || now - s->drained >= LATE || now / REFRESH != s->drained / REFRESH)
		starvation__note(s, now, run_delay(s));
	s->drained = now;
}

void starvation__losses(struct starvation *s, uint64_t now, uint64_t count)
{
	if (count > s->counted && now <= s->until)
		s->lost += count - s->counted;
	if (count > s->counted)
		s->counted = count;
}

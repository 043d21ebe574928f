// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a perf.data file or as perf's output to a pipe. What is read is in the order of time, its
 * names are there, and what is refused has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"
#include "plain.h"

static volatile size_t seen;

/* Sorts the events by a number that many share and that often falls: those of one stay in order. */
static void sort_again(const struct perf_sched *ev, size_t n)
{
	struct perf_sched *again = calloc(n, sizeof(*again));

	if (!again)
		abort();
	for (size_t i = 0; i < n; i++)
		again[i] = (struct perf_sched){ .time = (ev[i].tid + i) % 4, .state = i };
	if (!perf__sort(again, n))
		abort();
	for (size_t i = 1; i < n; i++)
		if (again[i].time < again[i - 1].time ||
		    (again[i].time == again[i - 1].time && again[i].state <= again[i - 1].state))
			abort();
	free(again);
}

static void look_at(const struct perf_data *d)
{
	const struct perf_sched *ev;
	size_t n;

	ev = perf_data__sched(d, &n);
	if (!n)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (i && ev[i].time < ev[i - 1].time)
			abort();
		seen = strlen(perf_data__comm(d, ev[i].comm)) +
		       strlen(perf_data__comm(d, ev[i].next_comm)) +
		       perf_data__process(d, ev[i].by);
		if (!*perf_data__comm(d, ev[i].event))
			abort();
	}
	sort_again(ev, n);
	seen = strlen(perf_data__describe(d)) + perf_data__lost(d) + (size_t)perf_data__clock(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input *in = open_plain(data, size);
	struct error err = {};
	struct perf_data *d;

	if (!in)
		return 0;
	if (!perf_data__open(&d, in, &err)) {
		look_at(d);
		perf_data__close(d);
	} else if (!err.text[0] || strchr(err.text, '\n')) {
		abort();
	}
	return 0;
}

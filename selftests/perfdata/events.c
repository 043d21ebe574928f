// SPDX-License-Identifier: GPL-2.0
/*
 * What align/perfdata.c makes of a perf.data file, event by event, for selftests/check/perfdata.sh to
 * compare with `perf script`:
 *
 *	perfdata FILE		a line an event: time, core, process, thread, event, and its fields in
 *				brackets, by the names that this kernel's have; last a line "# ..." of
 *				the file
 *	perfdata FILE -		reads it, and prints the last line alone
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "align/perfdata.h"

static void print_fields(const struct perf_data *d, const struct perf_sched *ev)
{
	const char *comm = perf_data__comm(d, ev->comm), *next = perf_data__comm(d, ev->next_comm);

	switch ((enum perf_sched_kind)ev->kind) {
	case PERF_SWITCH:
		printf("[%s] %" PRIu32 " %" PRIu64 "%s [%s] %" PRIu32, comm, ev->tid, ev->state,
		       ev->preempted ? " R" : "", next, ev->next);
		break;
	case PERF_FORK:
		printf("[%s] %" PRIu32 " [%s] %" PRIu32, comm, ev->tid, next, ev->next);
		break;
	case PERF_MIGRATE:
		printf("[%s] %" PRIu32 " %" PRIu64 " %" PRIu32, comm, ev->tid, ev->state, ev->next);
		break;
	case PERF_WAKING:
	case PERF_WAKEUP:
		printf("[%s] %" PRIu32 " %" PRIu32, comm, ev->tid, ev->next);
		break;
	case PERF_EXIT:
	case PERF_OTHER_SCHED:
		printf("[%s] %" PRIu32, comm, ev->tid);
		break;
	}
}

static void print_event(const struct perf_data *d, const struct perf_sched *ev)
{
	printf("%" PRIu64 " %u %d %d %s ", ev->time, ev->cpu, (int)ev->pid, (int)ev->by,
	       perf_data__comm(d, ev->event));
	print_fields(d, ev);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct perf_sched *ev;
	struct error err = {};
	struct perf_data *d;
	size_t n;

	if (argc < 2) {
		fprintf(stderr, "usage: perfdata FILE [-]\n");
		return 2;
	}
	if (perf_data__open_path(&d, argv[1], &err)) {
		fprintf(stderr, "perfdata: %s\n", err.text);
		return 1;
	}
	ev = perf_data__sched(d, &n);
	for (size_t i = 0; i < n && argc == 2; i++)
		print_event(d, &ev[i]);
	printf("# %zu events, %" PRIu64 " lost, clock %d, %s\n", n, perf_data__lost(d),
	       perf_data__clock(d), perf_data__describe(d));
	perf_data__close(d);
	return 0;
}

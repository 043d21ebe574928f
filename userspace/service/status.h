/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a recording that continues: what it has recorded, lost, costs and keeps in memory.
 *
 * The recorder of each target fills a struct status (capture/recorder_status.c) as the result of
 * CHANNEL_STATS. The supervisor does not trust recorders: status__parse() checks it. It is printed as
 * JSON for CHANNEL_TARGETS, and by 'gotrace-bpf status', which gets an array of them.
 */
#ifndef SERVICE_STATUS_H
#define SERVICE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"

#define STATUS_MAGIC   0x3173746174737467ull
#define STATUS_NAME    64
#define STATUS_TARGETS 64 /* that are recorded at the same time, at most */

/* Sums since the recording began, at one point in time. */
struct status_counts {
	uint64_t time;	 /* CLOCK_MONOTONIC, ns */
	uint64_t events; /* in complete generations, as `bytes` */
	uint64_t bytes;	 /* of the trace */
	uint64_t lost;	 /* records */
	/* what the target pays for */
	uint64_t probes, stepped;	 /* hits of probes; those that the kernel single-steps */
	uint64_t inlined;		 /* events of inline probes */
	uint64_t calls, switches, wakes; /* hits of tracepoints */
	uint64_t cost_ns; /* CPU time of the target that these take; set by the supervisor */
	uint64_t target_cpu_ns;
	uint64_t cpu_ns; /* of the recorder's process */
};

struct status {
	uint64_t magic; /* STATUS_MAGIC */
	int32_t pid, recorder;
	char name[STATUS_NAME]; /* printable; set by the supervisor */
	uint64_t started;	/* CLOCK_MONOTONIC, ns: the first probe was attached before */
	/* Rates are those between the last two: each at the end of a generation, some seconds apart. */
	struct status_counts now, first, last;
	uint64_t trap_ns;	/* what a hit takes in a loop; 0: unknown */
	uint64_t memory;	/* of the recorder's process, bytes: anonymous and shared */
	uint64_t ring_bytes;	/* of all rings */
	uint64_t kernel_memory; /* of rings and maps, bytes */
	/* the window of a flight recorder */
	uint64_t window_bytes, window_events, window_from, window_to; /* as in struct window_part */
	uint64_t causes; /* of snapshots: requests and triggers */
	uint64_t snapshots;
	uint8_t is_flight, has_stacks;
	uint8_t state; /* enum status_state; set by the supervisor */
	uint8_t padding[5];
};

/* In other states than STATUS_RECORDING only `pid` and `name` are known. */
enum status_state {
	STATUS_RECORDING,
	STATUS_ATTACHING, /* its probes are being attached */
	STATUS_SILENT,	  /* its recorder did not answer in time, or with something invalid */
	STATUS_STATES,
};

/* Checks what a recorder has sent. False: it is not a struct status, and *ret is undefined. */
bool status__parse(const void *data, size_t size, struct status *ret);
/*
 * Reads the result of CHANNEL_STATS: an array of at most STATUS_TARGETS, `*n` elements in *ret, which
 * the caller frees. 0; -EBADMSG: it is not one; or another negative errno.
 */
int status__read(int memory, struct status **ret, size_t *n);
/* Makes a name printable: that of a process, which may contain anything. */
void status__set_name(struct status *s, const char *name);
const char *status__state(const struct status *s); /* such as "recording" */
/* Per second, between `first` and `last`; 0: unknown. `now` and later: CLOCK_MONOTONIC, ns. */
double status__rate(const struct status *s, uint64_t first, uint64_t last);
/* Prints an array of objects, one per target. The caller checks the stream for errors. */
void status__print_json(FILE *out, const struct status *s, size_t n, uint64_t now);

#endif

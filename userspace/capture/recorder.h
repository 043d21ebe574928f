/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One recording from the probes to the file: attach, drain and sequence until it is stopped,
 * detach.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/sink.h"
#include "capture/starvation.h"
#include "gotrace/counters.h"
#include "lib/error.h"
#include "target/layout.h"
#include "target/pclntab.h"
#include "target/process.h"
#include "target/site.h"

struct launch;

struct recorder_opts {
	struct sink_opts sink;
	uint64_t duration_ns; /* 0: until it is stopped */
	unsigned int stack_depth;
	unsigned int sets;	/* bits, by enum site_set */
	bool kernel_optional;	/* as session.h says */
	unsigned int sample_hz; /* CPU samples a second, with set cpu; 0: none */
	bool force_perf;
	bool folder_of_other; /* another file, of the caller's, is in a folder of another user */
	uint32_t ring_size;   /* bytes of each ring; 0: by the number of CPUs */
	uint64_t started;     /* CLOCK_MONOTONIC: when the command began, for attach_ms */
	uint64_t checks_ns;   /* of that time the live checks took */
	/* the program: analysed, not yet probed; borrowed */
	const struct elf_image *elf;
	struct pclntab *pclntab;
	const struct layout *layout;
	const struct site_list *sites;
	/* open, its bias known; attached to by its attach_path */
	struct process *process;
	struct launch *launch; /* which holds the process; NULL: it runs */
	/* when it began its program, ns, if its runtime may not be up yet; 0: it is */
	uint64_t exec_time;
};

struct recorder_stats {
	struct sequencer_stats sequencer;
	struct writer_stats writer;
	struct gt_counters counters;
	uint64_t records[GT_KIND_END]; /* out of the rings, the window's or not */
	uint64_t attach_ns, cpu_ns, peak_memory, ring_bytes;
	uint64_t analysis_ns, checks_ns, load_ns; /* of attach_ns; the rest: attaching the probes */
	uint64_t snapshot_ns[2];
	uint64_t initial_ns; /* from t0 until the initial state was known; 0: it never was */
	uint64_t t0;	     /* when the last probe was live; 0: it came not so far */
	uint64_t missed_ns;  /* of a program that had just begun: from its exec to t0 */
	struct starvation starvation;
	unsigned int rings;
	bool multi;
	bool layout_checked; /* against the program, while it was recorded */
	bool kfuncs;	     /* the module walked the stacks */
};

/*
 * Returns when the recording has ended, however: duration, SIGINT, SIGTERM, exit or exec of the
 * target. 0, or a negative errno and the reason; *ret is filled as far as it came. SIGINT and
 * SIGTERM must be blocked.
 */
int recorder__run(const struct recorder_opts *opts, struct recorder_stats *ret, struct error *err);

#endif

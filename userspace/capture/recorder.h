/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One recording, from the probes to the file: attach, drain and sequence until it is stopped,
 * detach.
 *
 * Upstream: gotrace-bpf/recording.c, with the analysis of the program. Downstream: sink.c.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "budget/budget.h"
#include "capture/cycle.h"
#include "capture/sink.h"
#include "capture/starvation.h"
#include "gotrace/counters.h"
#include "lib/error.h"
#include "target/layout/layout.h"
#include "target/modules/libraries.h"
#include "target/modules/modules.h"
#include "target/probe/calls.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/symbols/pclntab.h"

struct launch;

struct recorder_opts {
	struct sink_opts sink;	 /* `served` is set by the recorder */
	int channel;		 /* to the supervisor of 'serve', which sends requests; 0: none */
	uint64_t duration_ns;	 /* 0: unlimited */
	struct cycle_opts cycle; /* with a window: sink.rotate has a dir, and launch is NULL */
	/* Its sets are set here. Requires that there are no inline probes, and no duty cycle. */
	struct budget_opts budget;
	unsigned int stack_depth;
	unsigned int sets;	/* bits, by enum site_set */
	bool kernel_optional;	/* as in struct probes_opts */
	unsigned int sample_hz; /* CPU samples a second, with set cpu; 0: none */
	bool heap_whole;	/* as in struct probes_opts */
	bool no_labels;		/* of goroutines */
	bool force_perf;
	bool is_inline;	      /* frequent events by inline probes */
	bool folder_of_other; /* another file of the caller is in a folder of another user */
	uint32_t ring_size;   /* bytes of each ring; 0: by the number of CPUs */
	uint64_t started;     /* CLOCK_MONOTONIC: when the command began, for attach_ms */
	uint64_t checks_ns;   /* part of that time, for the live checks */
	/* the analysed program; borrowed */
	const struct elf_image *elf;
	struct pclntab *pclntab;
	const struct layout *layout;
	const struct site_list *sites;
	struct go_modules *modules;	/* the plugins of the process; the recorder adds new ones */
	struct go_libraries *libraries; /* its other Go runtimes; the recorder adds new ones */
	const struct calls
		*calls; /* functions whose calls are regions; their sites are in `sites` */
	/* what requests are, or NULL; their sites are in `sites` */
	const struct gt_request_site *requests;
	/* open, with known bias; probes are attached by its attach_path */
	struct process *process;
	struct launch *launch; /* holds the process at its exec; NULL: it runs */
	/* ns; when it executed its program, if its runtime may not be up yet; 0: it is up */
	uint64_t exec_time;
};

struct recorder_stats {
	struct sequencer_stats sequencer;
	struct writer_stats writer;
	struct gt_counters counters;
	uint64_t records[GT_KIND_END]; /* read from the rings, in the window or not */
	uint64_t attach_ns, cpu_ns, peak_memory, ring_bytes;
	uint64_t analysis_ns, checks_ns, load_ns; /* of attach_ns; the rest: attaching the probes */
	uint64_t snapshot_ns[2];
	uint64_t initial_ns; /* from t0 until the initial state was known; 0: never */
	uint64_t t0;	     /* when the last probe was live; 0: never */
	uint64_t missed_ns;  /* from the exec of a program that just started to t0 */
	struct starvation starvation;
	uint64_t target_cpu_ns; /* used by the target in the window; 0: unknown */
	double trap_ns;		/* what a hit takes in a loop; 0: unknown */
	uint64_t stepped;	/* of `records`, those of single-stepped instructions */
	double stepped_ns;	/* as trap_ns, if the kernel single-steps; 0: unknown */
	unsigned int rings;
	bool multi;
	bool layout_checked;  /* with the running program, during the recording */
	bool kfuncs;	      /* the module walked the stacks */
	bool target_ended;    /* what ended the recording: the end of the process, */
	bool target_executed; /* or another program in it */
	uint64_t inlined;     /* of `records`, those that inline probes wrote, but for stacks */
	uint64_t inline_lost;
	uint64_t inline_bytes;	 /* of the rings of inline probes */
	uint64_t inline_held_ns; /* how long a thread of the target was held to put them in place */
	uint64_t inline_clock_ns; /* the largest error of the times of their records */
	bool derives;		  /* parks and ends were derived: no hit is one of them */
	/* With a budget */
	uint64_t overhead_ns; /* CPU time of the target that the probes took, by our own account */
	uint64_t overhead_changes, overhead_pauses, overhead_paused_ns;
	uint64_t sample_period_ns;	  /* of CPU samples; 0: there are none */
	uint64_t throttles, throttled_ns; /* of them, by the kernel: a sum over the CPUs */
	/* Of a duty cycle; 0 without one. What is above are sums of all windows, or their maximum. */
	uint64_t windows, windows_missed;
	uint64_t window_attach_min_ns, window_attach_median_ns, window_attach_max_ns;
};

/*
 * Returns when the recording has ended: by its duration, SIGINT, SIGTERM, or exit or exec of the
 * target. 0, or a negative errno and the reason; *ret is filled as far as the recording got. SIGINT
 * and SIGTERM must be blocked.
 */
int recorder__run(const struct recorder_opts *opts, struct recorder_stats *ret,
		  struct error *error);

#endif

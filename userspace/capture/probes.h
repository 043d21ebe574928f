/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads the probes of one recording, attaches them to one process, and detaches them.
 *
 * Upstream: target/probe/site.c (where) and target/layout/layout.c (offsets). Downstream: drain.c.
 * Links are file descriptors: the kernel removes every probe when this process ends in any way.
 */
#ifndef CAPTURE_PROBES_H
#define CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gotrace/counters.h"
#include "gotrace/request.h"
#include "gotrace/slot.h"
#include "lib/error.h"
#include "target/layout/layout.h"
#include "target/probe/site.h"

struct go_module;
struct private_cpu_samples;
struct probes;

#define PROBES_HEAP_MAX 1000 /* changes of the heap's size per second; more are sampled */

struct probes_opts {
	pid_t pid;
	const char *path;		/* of the program, for attaching: a link to its open file */
	uint64_t bias;			/* run-time minus link-time address */
	const struct gt_config *config; /* the offsets; the other members are set here */
	const struct site_list *sites;	/* borrowed until the attach */
	unsigned int stack_depth;	/* 0: no stacks */
	unsigned int sets;		/* bits, by enum site_set; sched is always included */
	bool derives;		/* parks and ends without probes of their own: gotrace/slot.h */
	uint64_t is_inline;	/* bits, by enum gt_probe: these are inline, and not attached */
	uint32_t derived_ns;	/* how much earlier these are than the hit (GT_DERIVED_OF) */
	bool no_tracepoints;	/* no system calls are derived from the kernel's tracepoints */
	bool kernel_optional;	/* if set kernel is unavailable, report it and go on without */
	unsigned int sample_hz; /* CPU samples per second; 0: none */
	bool heap_whole;	/* every size of the heap is recorded, however many there are */
	bool no_labels;		/* labels of goroutines are not recorded */
	bool force_perf;	/* one perf uprobe per site, as on kernels before 6.10 */
	uint32_t session;	/* of the module (kmod.h), which receives all records; 0: rings */
	uint32_t ring_size;	/* bytes of each ring, a power of two; 0: by the number of CPUs */
	const struct gt_request_site *requests; /* GT_REQUEST_SITES rows; NULL: none */
	/* Some plugin that is added later has sites in copies that the compiler inlined. */
	bool plugins_inlined;
};

/* Loads the programs. On failure a negative errno and the reason, with the remedy. */
int probes__open(struct probes **ret, const struct probes_opts *opts, struct error *error);
/* -ESRCH: the process has ended. On failure some may be attached: destroy it. */
int probes__attach(struct probes *p, struct error *error);
/*
 * The options for a plugin of the process: its file and *sites, which is set to its sites. Whether system
 * calls are derived is a property of the recording.
 */
struct probes_opts probes__opts_of_plugin(const struct probes_opts *opts,
					  const struct go_module *plugin, struct site_list *sites);
/*
 * Adds the sites of a plugin, which is borrowed: the next probes__attach() attaches them, too, or with
 * `now` this call does. On failure nothing was added, and the reason is set.
 */
int probes__add_plugin(struct probes *p, const struct go_module *plugin, bool now,
		       struct error *error);
/*
 * With opts.derives, once all probes are attached and before the window: from now on they remember
 * what each thread runs; then what a thread runs that has had no hit since.
 */
void probes__start_slots(struct probes *p);
void probes__set_slot(struct probes *p, uint32_t tid, const struct gt_slot *slot);
/* From now on sizes of the heap are sampled, without a probe. False: they cannot be, or are. */
bool probes__sample_heap(struct probes *p);
/*
 * Chooses the event sets to record, of opts.sets: others are detached. Sets that were not selected
 * before are attached by the next probes__attach(), or at once by probes__add(), which adds to the
 * selected ones. All are selected at first.
 */
void probes__select(struct probes *p, unsigned int sets);
int probes__add(struct probes *p, unsigned int sets, struct error *error);
/*
 * Removes every probe until the next probes__attach(), except the one that records an exec. 0 or a
 * negative errno.
 */
int probes__suspend(struct probes *p);
/* Records the state of all threads once more, if kernel events are recorded. 0 or a negative errno. */
int probes__present(const struct probes *p);
/*
 * Removes every probe; rings and counters stay. Afterwards no program runs any more: the kernel
 * waits for those of uprobes, and that includes those of tracepoints, which are removed before.
 */
/* As sampler__throttled(), if there are CPU samples. */
void probes__throttled(struct probes *p, struct private_cpu_samples *ret);
void probes__detach(struct probes *p);
/* After probes__detach(), makes another probes__attach() possible. 0 or a negative errno. */
int probes__reset(struct probes *p);
void probes__destroy(struct probes *p);

bool probes__has_kernel(const struct probes *p);    /* any of sets kernel and fault */
bool probes__calls_only(const struct probes *p);    /* tracepoints, but not set kernel */
bool probes__multi(const struct probes *p);	    /* by uprobe_multi */
bool probes__kfuncs(const struct probes *p);	    /* the module unwinds stacks */
unsigned int probes__rings(const struct probes *p); /* none with opts.session */
int probes__ring_fd(const struct probes *p, unsigned int ring);
uint64_t probes__ring_bytes(const struct probes *p); /* of all rings */
uint64_t probes__memory(const struct probes *p);     /* kernel memory of rings and maps */
/* Summed over the CPUs. */
int probes__counters(const struct probes *p, struct gt_counters *ret);

/* Whether this kernel can attach many sites to one process with one call: 6.10 and later. */
bool probes__kernel_has_multi(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the hits of a recording's probes and kernel events, without recording them, and measures
 * what one hit takes on this machine.
 *
 * Upstream: setup.c, gotrace-bpf/doctor_measure.c, cost.c. Downstream: bpf/hits.bpf.c.
 */
#ifndef CAPTURE_HITS_H
#define CAPTURE_HITS_H

#include <stdint.h>

#include "capture/probes.h"
#include "gotrace/hits.h"
#include "lib/error.h"

struct hits;

/*
 * Loads the programs for the sites that a recording with these options (pid, path, sites, sets,
 * derives) attaches; kernel events are counted with set kernel. Copies what it needs.
 */
int hits__open(struct hits **ret, const struct probes_opts *opts, struct error *error);
/* On failure some may be attached: destroy it. */
int hits__attach(struct hits *h, struct error *error);
/* By GT_HITS_OF() and enum gt_hits, since the attach. 0 or a negative errno. */
int hits__read(const struct hits *h, uint64_t ret[GT_HITS_COUNT]);
void hits__destroy(struct hits *h); /* detaches; NULL allowed */

/*
 * Puts such probes into this process. Until they are destroyed, hits__trap_ns() measures what a hit
 * takes in a loop, ns: the least that any probe costs. Needs no privileges; takes 10,000 hits.
 * hits__stepped_ns(): the same of an instruction that the kernel single-steps; 1,000 hits.
 */
int hits__open_trap(struct hits **ret, struct error *error);
double hits__trap_ns(void);
double hits__stepped_ns(void);

#endif

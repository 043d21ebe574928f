/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by probes.c, which loads and attaches the programs, site_links.c, which links those of sites,
 * and probes_programs.c, which selects them.
 */
#ifndef CAPTURE_PROBES_IMPL_H
#define CAPTURE_PROBES_IMPL_H

#include "capture/probes.h"

struct bpf_program;
struct gotrace_bpf;

/* Passes libbpf's messages to the log. Otherwise it prints them. */
void probes__log_libbpf(void);
/* Sets the reason of a failure to do `what`, with the remedy. Returns err. */
int probes__explain(int err, struct error *error, const char *what);
/* The program that the sites of a probe run; some programs are for several probes. */
struct bpf_program *probes__program_of(const struct gotrace_bpf *skel, enum gt_probe probe);
/* Whether system calls of goroutines are seen by the kernel's tracepoints, not by probes. */
bool probes__derives_syscalls(const struct probes_opts *opts);
/* Whether the target has sites of the probe and the recording includes its set. */
bool probes__wants(const struct probes_opts *opts, enum gt_probe probe);
/*
 * Whether any site is in a copy that the compiler inlined. Otherwise all sites of most probes are
 * alike, and the programs need not read the cookie of each.
 */
bool probes__has_inlined_sites(const struct site_list *sites);

#endif

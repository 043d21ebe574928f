/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by probes.c, which attaches the programs, probes_load.c, which loads them, site_links.c,
 * which links those of sites, and probes_programs.c, which selects them.
 */
#ifndef CAPTURE_PROBES_IMPL_H
#define CAPTURE_PROBES_IMPL_H

#include <pthread.h>

#include "capture/pid_ns.h"
#include "capture/probes.h"
#include "capture/rings.h"
#include "target/modules/modules.h"

struct bpf_link;
struct bpf_program;
struct gotrace_bpf;

#define KERNEL_SETS (SITE_SET(KERNEL) | SITE_SET(FAULT))

/* Kernel event programs are loaded in parallel to the probes: each takes tens of milliseconds. */
struct kernel_job {
	pthread_t thread;
	bool threaded;
	struct gt_config config;
	int err;
	struct error error;
};

/* The probes of a plugin: the same programs, with a file and sites of their own. */
struct plugin_probes {
	struct probes_opts opts;
	struct site_list sites;
	struct site_links *links;
};

struct probes {
	struct gotrace_bpf *skel;
	struct probes_opts opts;
	struct gt_pid_ns pid_ns;
	bool multi;
	bool kfuncs; /* the kernel module's functions can be called */
	struct bpf_link *exec;
	struct site_links *links;
	struct plugin_probes *plugin[MODULES_MAX];
	size_t nplugins;
	struct rings rings;
	unsigned int sets;	      /* that are attached, or will be: probes__select() */
	struct sampler *sampler;      /* NULL: no CPU samples */
	struct kernel_probes *kernel; /* NULL: not wanted, or unavailable */
	struct kernel_job kernel_job;
};

/* Loads all programs. On failure, probes__destroy() frees what was loaded. */
int probes__load(struct probes *p, struct error *error);
/* The program that ends the recording when the target executes another program. */
struct bpf_program *probes__exec_program(const struct probes *p);
/*
 * Handles a failure of kernel events with its reason: set kernel is a default set, and if it is
 * unavailable, the recording continues without it. Returns 0 or err.
 */
int probes__without_kernel(struct probes *p, int err, struct error *error, const struct error *why);
/* Passes libbpf's messages to the log. Otherwise it prints them. */
void probes__log_libbpf(void);
/* Sets the reason of a failure to do `what`, with the remedy. Returns err. */
int probes__explain(int err, struct error *error, const char *what);
/* Sets the reason why a uprobe could not be attached by a perf event. Returns err. */
int probes__explain_perf_uprobes(int err, struct error *error, const char *what);
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

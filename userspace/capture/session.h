/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probes of one recording: loaded, attached to one process, detached.
 *
 * Before it: target/site.c (where) and target/layout.c (offsets). After it: capture/drain.c, which
 * empties the rings. Links are file descriptors: when this process ends, however, the kernel takes
 * every probe away.
 */
#ifndef CAPTURE_SESSION_H
#define CAPTURE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gotrace/counters.h"
#include "lib/error.h"
#include "target/layout.h"
#include "target/site.h"

struct session;

struct session_opts {
	pid_t pid;
	const char *path;		/* of the program, to attach by: a link to its open file */
	const struct gt_config *config; /* offsets; the rest is filled in here */
	const struct site_list *sites;	/* must outlive the attach */
	unsigned int stack_depth;	/* 0: no stacks */
	unsigned int sets;		/* bits, by enum site_set; sched is always on */
	bool kernel_optional;	/* set kernel is left out, and that said, where it can't be had */
	unsigned int sample_hz; /* CPU samples a second; 0: none */
	bool force_perf;	/* one perf uprobe a site, as on kernels before 6.10 */
	uint32_t session;	/* of the module (kmod.h), which gets all records; 0: rings do */
	uint32_t ring_size;	/* bytes of each ring, a power of two; 0: by the number of CPUs */
};

/* Loads the programs. On failure a negative errno, and the reason with its remedy. */
int session__open(struct session **ret, const struct session_opts *opts, struct error *err);
/* -ESRCH: the process is gone. Half attached on failure: destroy it. */
int session__attach(struct session *s, struct error *err);
/* Takes every probe away; rings and counters stay. */
void session__detach(struct session *s);
void session__destroy(struct session *s);

bool session__has_kernel(const struct session *s);    /* any of sets kernel and fault */
bool session__multi(const struct session *s);	      /* by uprobe_multi */
bool session__kfuncs(const struct session *s);	      /* the module walks stacks */
unsigned int session__rings(const struct session *s); /* none with opts.session */
int session__ring_fd(const struct session *s, unsigned int ring);
uint64_t session__ring_bytes(const struct session *s); /* of all rings */
uint64_t session__memory(const struct session *s); /* of rings and maps, which the kernel holds */
/* Summed over the CPUs. */
int session__counters(const struct session *s, struct gt_counters *ret);

/* The inode of the initial PID namespace (the kernel's PROC_PID_INIT_INO). */
#define SESSION_INIT_PID_NS 0xeffffffcu

/* Whether this kernel can attach many probes to one process by one link: 6.10 and later. */
bool session__kernel_has_multi(void);

#endif

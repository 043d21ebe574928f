/* SPDX-License-Identifier: GPL-2.0 */
/* Single Gs, Ms and Ps of a running process. Downstream: target/process/snapshot.c and live.c. */
#ifndef TARGET_SNAPSHOT_READ_H
#define TARGET_SNAPSHOT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/layout/layout.h"
#include "target/process/process.h"

#define GS_MAX (1u << 24) /* limits: larger counts are rejected */
#define MS_MAX (1u << 17)
#define PS_MAX (1u << 16)

struct go_g {
	bool ok; /* it could be read */
	uint64_t stack_lo, stack_hi, m, goid, startpc, parent;
	uint64_t sp, pc,
		bp; /* saved in g.sched; outdated if it runs; since 1.23 those of a system call */
	uint32_t status; /* without the scan bit */
	uint32_t wait_reason;
	uint64_t wait_since; /* g.waitsince, CLOCK_MONOTONIC ns; 0: unknown, or it does not wait */
};

struct go_m {
	uint64_t g0, procid, curg, p, oldp, alllink;
	uint32_t tid; /* set by the caller */
};

struct go_p {
	uint64_t m;
	uint32_t id, status;
};

/* Reads an array of `n` words into memory that the caller frees. */
int process__read_words(const struct process *proc, uint64_t addr, size_t n, uint64_t **ret);

/* Reads the addresses of all Ps that ever existed, into memory that the caller frees. */
int go_ps__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n);

/*
 * Reads the addresses of all Gs into memory that the caller frees. -EPROTO with *ret_n above
 * GS_MAX: too many.
 */
int go_gs__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n);
int go_gs__read(const struct process *proc, const struct layout *l, const uint64_t *addr, size_t n,
		struct go_g *ret);
int go_m__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_m *ret);
int go_p__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_p *ret);

#endif

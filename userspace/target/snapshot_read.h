/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single gs, ms and ps of a running process, for target/snapshot.c and target/live.c.
 */
#ifndef TARGET_SNAPSHOT_READ_H
#define TARGET_SNAPSHOT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/layout.h"
#include "target/process.h"

#define GS_MAX (1u << 24) /* more of them than that is not believed */
#define MS_MAX (1u << 17)
#define PS_MAX (1u << 16)

struct go_g {
	bool ok; /* it could be read */
	uint64_t stack_lo, stack_hi, m, goid, startpc, parent;
	uint64_t sp, bp; /* saved in g.sched: of one that runs, those of a while ago */
	uint32_t status; /* without the scan bit */
	uint32_t wait_reason;
};

struct go_m {
	uint64_t g0, procid, curg, p, oldp, alllink;
	uint32_t tid; /* the caller's to fill in */
};

struct go_p {
	uint64_t m;
	uint32_t id, status;
};

/* Addresses of all ps that there ever were, in memory that the caller frees. */
int go_ps__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n);

/*
 * The addresses of all gs, in memory that the caller frees. -EPROTO with *ret_n above GS_MAX: they
 * are too many.
 */
int go_gs__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n);
int go_gs__read(const struct process *proc, const struct layout *l, const uint64_t *addr, size_t n,
		struct go_g *ret);
int go_m__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_m *ret);
int go_p__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_p *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a running Go process at one moment, read without stopping it.
 *
 * Upstream: target/process/snapshot.c. Downstream: rawfile/rawfile.c saves it, sequence/initial.c
 * evaluates it. Two are taken after the probes are active: a status word can lag behind its probe,
 * so a goroutine without records is read again tens of milliseconds later.
 */
#ifndef TARGET_SNAPSHOT_H
#define TARGET_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fixed-width and without padding: the arrays are written to raw files unchanged. */
struct snapshot_g {
	uint64_t addr;
	uint64_t goid;
	uint64_t m; /* address of g.m, 0: none */
	uint64_t startpc;
	uint64_t parent;     /* goid */
	uint64_t wait_since; /* g.waitsince, CLOCK_MONOTONIC ns: set by the collector; 0: unknown */
	uint32_t status;     /* g.atomicstatus without the scan bit */
	uint32_t wait_reason; /* g.waitreason */
	uint32_t stack;	      /* in snapshot.stacks, plus 1; 0: was not read */
	uint32_t context;     /* of the stack: parked__context() of target/process/parked.h */
};

struct snapshot_m {
	uint64_t addr;
	uint64_t curg; /* address, 0: none */
	uint64_t p;    /* address, 0: none */
	uint64_t oldp; /* address of the P before its system call, 0: none */
	uint32_t tid;  /* in our PID namespace */
	uint32_t pad;
};

struct snapshot_p {
	uint64_t addr;
	uint64_t m; /* address, 0: none */
	uint32_t id;
	uint32_t status; /* p.status */
};

struct snapshot {
	uint64_t time;	   /* CLOCK_MONOTONIC, ns, before the first read */
	uint64_t time_end; /* after the last */
	uint32_t procs;	   /* gomaxprocs */
	uint32_t pad;
	struct snapshot_g *g;
	struct snapshot_m *m;
	struct snapshot_p *p;
	/*
	 * The stacks of parked goroutines, each once: a word with its depth and SNAPSHOT_STACK_CUT,
	 * and its return addresses, the innermost first.
	 */
	uint64_t *stacks;
	size_t ng, nm, np, nstacks; /* nstacks: words */
	uint64_t
		stacks_left_out; /* goroutines of which no stack was read, since there were too many */
};

#define SNAPSHOT_STACK_CUT 0x10000 /* the stack has more frames */

struct process;
struct layout;

/* Options; relevant for a million goroutines, which take a third of a second. */
struct snapshot_reading {
	/*
	 * Goroutines unchanged since that snapshot are omitted: of a million hardly any changes
	 * within milliseconds, and they need not be stored twice. NULL: includes all.
	 */
	const struct snapshot *before;
	unsigned int stack_depth; /* frames of parked goroutines; 0: their stacks are not read */
	/* Called every few milliseconds during the read; an error ends it. NULL: none. */
	int (*between)(void *ctx);
	void *ctx;
};

/*
 * Reads all Gs, Ms and Ps. Omits entries that are not goroutines (goid 0, status idle or dead).
 * Returns 0 or a negative errno (-ESRCH: the process ended; -ETIMEDOUT, -EINTR: a read blocks, see
 * target/process/reader.h); *ret is not written on failure. The caller deinits it.
 */
int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret);
void snapshot__deinit(struct snapshot *snap);

/* The return addresses of a goroutine's stack. NULL: it has none, or the snapshot is invalid. */
const uint64_t *snapshot__stack(const struct snapshot *snap, const struct snapshot_g *g,
				uint32_t *ret_depth, bool *ret_cut);
/* The stack at word *at of the table, which moves to the next one; NULL: that was the last one. */
const uint64_t *snapshot__next_stack(const struct snapshot *snap, size_t *at, uint32_t *ret_depth,
				     bool *ret_cut);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a running Go process looked like at one moment, read from outside without stopping it.
 *
 * Two are taken after the probes are live (seed: shared notes "attaching to a running process"): a
 * status word can lag its probe, so a goroutine without records is read again tens of
 * milliseconds later. Read by target/snapshot.c; saved by capture/rawfile.c; judged by
 * sequence/initial.c.
 */
#ifndef TARGET_SNAPSHOT_H
#define TARGET_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

/* Fixed-width and without padding: the arrays are written to raw files as they are. */
struct snapshot_g {
	uint64_t addr;
	uint64_t goid;
	uint64_t m; /* address of g.m, 0: none */
	uint64_t startpc;
	uint64_t parent;      /* goid */
	uint32_t status;      /* g.atomicstatus without the scan bit */
	uint32_t wait_reason; /* g.waitreason */
};

struct snapshot_m {
	uint64_t addr;
	uint64_t curg; /* address, 0: none */
	uint64_t p;    /* address, 0: none */
	uint64_t oldp; /* address: the P it had before its system call (0: none) */
	uint32_t tid;  /* the host's */
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
	size_t ng, nm, np;
};

struct process;
struct layout;

/* How to read one, where that matters: a million goroutines take a third of a second. */
struct snapshot_reading {
	/*
	 * Goroutines that are just as they were then are left out: of a million hardly any changes
	 * within milliseconds, and they need not be held twice. NULL: all are there.
	 */
	const struct snapshot *before;
	/* Called every few milliseconds while a thread reads; an error ends the reading. NULL: none. */
	int (*between)(void *ctx);
	void *ctx;
};

/*
 * Reads all Gs, Ms and Ps. Entries that can't be a goroutine (goid 0, status idle or dead) are left
 * out. Returns 0 or a negative errno (-ESRCH: the process is gone; -ETIMEDOUT, -EINTR: a read
 * blocks, see target/reader.h); *ret is untouched on failure.
 */
int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret);
void snapshot__deinit(struct snapshot *snap);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rings of one recording, with what belongs to them: the numbers of their records, the counters of
 * what found no room. The same memory under the same names for each BPF object that writes records
 * (bpf/maps.bpf.h), so it is made before any of them.
 *
 * Made by session.c; used by it, sampler.c and kernel_probes.c; emptied by drain.c.
 */
#ifndef CAPTURE_RINGS_H
#define CAPTURE_RINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gotrace/session.h"

struct bpf_object;

struct ring_job {
	pthread_t thread;
	bool threaded;
	uint32_t index, size;
	int map, fd, code;
};

struct rings {
	unsigned int cpus, n;	    /* possible CPUs; rings */
	uint32_t size;		    /* of each, in bytes */
	int map, counters, numbers; /* descriptors; -1: none */
	struct ring_job job[GT_RINGS_MAX];
};

/*
 * Begins to make them, each ring in a thread: `size` bytes each, a power of two, 0: by the number of CPUs.
 * A negative errno; on failure, too, destroy them.
 */
int rings__start(struct rings *r, uint32_t size);
/* The maps without a ring: for programs whose records go to the module. Else as the above. */
int rings__start_none(struct rings *r);
/* Waits until they are made. A negative errno. */
int rings__finish(struct rings *r);
void rings__destroy(struct rings *r); /* started or zeroed */

/* The maps of an object that is not loaded yet are these. A negative errno. */
int rings__use(const struct rings *r, struct bpf_object *object);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring buffers of one recording, their sequence numbers, and the counters of lost records. All
 * BPF objects that write records share these maps (bpf/maps.bpf.h), so they are created first.
 *
 * Created by probes.c; used by it, sampler.c and kernel_probes.c; drained by drain.c.
 */
#ifndef CAPTURE_RINGS_H
#define CAPTURE_RINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gotrace/config.h"

struct bpf_object;

struct ring_job {
	pthread_t thread;
	bool threaded;
	uint32_t index, size;
	int map, fd, err;
};

struct rings {
	unsigned int cpus, n; /* possible CPUs; rings */
	uint32_t size;	      /* of each, in bytes */
	/* Descriptors of the maps that all objects share; -1: none. */
	int map, counters, numbers, seen, slots, windows;
	struct ring_job job[GT_RINGS_MAX];
};

/*
 * Starts to create the rings, each in a thread: `size` bytes each, a power of two; 0: by the number
 * of CPUs. 0 or a negative errno; in both cases rings__destroy() them.
 */
int rings__start(struct rings *r, uint32_t size);
/* The same without any ring, for programs whose records go to the kernel module. */
int rings__start_none(struct rings *r);
/* Waits until all are created. 0 or a negative errno. */
int rings__finish(struct rings *r);
/*
 * Clears all state that a window has left in the maps: ring sequence numbers, losses, the stacks that
 * were sent, what threads run. No program may be attached. 0 or a negative errno.
 */
int rings__reset(const struct rings *r);
/* Clears only what threads run. No probe may be attached. 0 or a negative errno. */
int rings__forget_slots(const struct rings *r);
void rings__destroy(struct rings *r); /* started or zeroed */

/* Makes an object that is not loaded yet use these maps. 0 or a negative errno. */
int rings__use(const struct rings *r, struct bpf_object *object);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the probes' object has, and others that write into its rings use, too: sampler.c and
 * kernel_probes.c. The same memory under the same names (bpf/maps.bpf.h).
 */
#ifndef CAPTURE_SHARED_MAPS_H
#define CAPTURE_SHARED_MAPS_H

struct bpf_object;

/* Descriptors, the probes'. */
struct shared_maps {
	int rings, counters, ring_seq;
};

/* To be called before the object is loaded. A negative errno. */
int shared_maps__use(const struct shared_maps *maps, struct bpf_object *object);

#endif

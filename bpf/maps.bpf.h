/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data shared by the probes and userspace/capture/probes.c: configuration, rings, counters.
 *
 * Maps are weak: each object defines them and the linked object keeps one. The linker would keep
 * each copy of weak data, so data is defined once: in maps.bpf.c, and that for stacks and texts in
 * seen.bpf.c.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "goabi.bpf.h"

/* Written by probes.c before loading, then frozen: constants for the verifier. */
extern const volatile struct gt_config config;

/*
 * The rings, created by probes.c: config.rings of them, together 16 MiB on up to 4 CPUs. Writer:
 * the probes on the CPUs of its group; reader: userspace/capture/drain.c.
 */
struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, GT_RINGS_MAX);
	__type(key, u32);
	__array(values, struct ring_map);
} rings __weak SEC(".maps");

/* Number of the latest record of each ring, one cache line each. Writer: the probes. 4 KiB. */
extern gt_u32 ring_seq[GT_RINGS_MAX][16];

/* Losses. Writer: the probes, each on its CPU; reader: probes.c. 600 bytes per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct gt_counters);
} counters __weak SEC(".maps");

/*
 * Hashes of stacks whose PCs have been sent, each in the place given by its low 16 bits; instead of
 * these bits a place contains the count of its changes, see seen__number() (stack.bpf.h). If two
 * stacks need one place the later wins; the other is sent again, under another number, when it
 * recurs. A place whose stack is not sent yet has no hash. Writer and reader: the probes, by atomic
 * operations on one word. 512 KiB.
 */
#define SEEN_SIZE    GT_STACK_SEEN
#define SEEN_LOW     0xffffull /* bits of the hash that the place implies */
#define SEEN_CHANGES 0x7fffull

extern gt_u64 seen[SEEN_SIZE];

/* The same for texts that are named by their hash. 64 KiB. */
#define SEEN_TEXTS GT_TEXT_PLACES

extern gt_u64 seen_texts[SEEN_TEXTS];

/* Number of struct curg_place (g.bpf.h). */
#define CURG_CACHE 512

extern gt_u64 curg_cache[CURG_CACHE][3];

static __always_inline struct gt_counters *counters__get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

#define COUNT(field)                                                                               \
	do {                                                                                       \
		struct gt_counters *c_ = counters__get();                                          \
                                                                                                   \
		if (c_)                                                                            \
			__sync_fetch_and_add(&c_->field, 1);                                       \
	} while (0)

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the probes and userspace/capture/session.c share: configuration, rings, counters.
 *
 * The maps are weak: each object has them and the linked object keeps one. The linker would keep
 * each copy of weak data, so that is defined once: in maps.bpf.c, and what reads stacks and texts has
 * in seen.bpf.c.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "goabi.bpf.h"

/* Written by session.c before the load, then frozen: the verifier sees constants. */
extern const volatile struct gt_config config;

/*
 * The rings, made by session.c: config.rings of them, together 16 MiB on up to 4 CPUs. Writer: the
 * probes on the CPUs of its group; reader: capture/drain.c.
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

/* Numbers of the records of each ring, a cache line each. Writer: the probes. 4 KiB. */
extern gt_u32 ring_seq[GT_RINGS_MAX][16];

/* Losses. Writer: the probes, each on its CPU; reader: session.c. 528 bytes a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct gt_counters);
} counters __weak SEC(".maps");

/*
 * Hashes of the stacks whose PCs are on their way to userspace, in the place that the hash's low 16
 * bits name. In their stead a place says how often it has changed: see seen__number() (stack.bpf.h). Of two
 * stacks that want one place the later wins; the other is sent again, under another number, when it comes
 * again. A place whose stack is not sent yet has no hash. Writer and reader: the probes, by atomic operations on
 * one word. 512 KiB.
 */
#define SEEN_SIZE    GT_STACK_PLACES
#define SEEN_CHANGES 0xffffull

extern gt_u64 seen[SEEN_SIZE];

/* The same of the texts that are named by their hash. 64 KiB. */
#define SEEN_TEXTS GT_TEXT_PLACES

extern gt_u64 seen_texts[SEEN_TEXTS];

/* Places of struct curg_place (g.bpf.h), which says what they are for. */
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

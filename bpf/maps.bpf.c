// SPDX-License-Identifier: GPL-2.0
/*
 * The probes' data, one copy for all objects: maps.bpf.h says who writes and who reads it.
 */
#include "maps.bpf.h"

const volatile struct gt_config config = {};
gt_u32 ring_seq[GT_RINGS_MAX][16] SEC(".bss.rings");
gt_u64 seen[SEEN_SIZE] SEC(".bss.seen");
gt_u64 seen_texts[SEEN_TEXTS] SEC(".bss.texts");
gt_u64 curg_cache[CURG_CACHE][3] SEC(".bss.curg");

char LICENSE[] SEC("license") = "GPL";

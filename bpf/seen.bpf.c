// SPDX-License-Identifier: GPL-2.0
/* Data of objects that read stacks and texts: see maps.bpf.h. */
#include "maps.bpf.h"

gt_u64 seen[SEEN_SIZE] SEC(".bss.seen");
gt_u64 seen_texts[SEEN_TEXTS] SEC(".bss.texts");
gt_u64 curg_cache[CURG_CACHE][3] SEC(".bss.curg");
gt_u64 slots_live SEC(".bss.curg");
gt_u64 heap_sampled[2] SEC(".bss.curg");

char LICENSE[] SEC("license") = "GPL";

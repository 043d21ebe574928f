// SPDX-License-Identifier: GPL-2.0
/*
 * The data of all objects that write records, one copy for each: maps.bpf.h says who writes and who
 * reads it.
 */
#include "maps.bpf.h"

const volatile struct gt_config config = {};
gt_u32 ring_seq[GT_RINGS_MAX][16] SEC(".bss.rings");

char LICENSE[] SEC("license") = "GPL";

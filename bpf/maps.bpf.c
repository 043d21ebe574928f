// SPDX-License-Identifier: GPL-2.0
/* Data of all objects that write records, defined once: see maps.bpf.h. */
#include "maps.bpf.h"
#include "pid.bpf.h"

const volatile struct gt_config config = {};
const volatile struct gt_pid_ns pid_ns = {};
gt_u32 ring_seq[GT_RINGS_MAX][16] SEC(".bss.rings");

char LICENSE[] SEC("license") = "GPL";

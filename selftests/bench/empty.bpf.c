// SPDX-License-Identifier: GPL-2.0
/*
 * The least that a probe can do: what the trap alone costs. For selftests/bench/run.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("uprobe.multi")
int empty(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

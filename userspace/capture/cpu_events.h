/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A BPF program at one of the kernel's software events, on each CPU: what sampler.c and
 * kernel_probes.c have in common. All processes' events come; the program picks the target's.
 */
#ifndef CAPTURE_CPU_EVENTS_H
#define CAPTURE_CPU_EVENTS_H

#include <stdint.h>

struct bpf_link;
struct bpf_program;

/* Which types the kernel has: what programs that look into its own structs can't do without. */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct cpu_events {
	struct bpf_link **link; /* a CPU each */
	unsigned int cpus;
};

/* `config` is one of PERF_COUNT_SW_*. A negative errno; half attached then: detach it. */
int cpu_events__attach(struct cpu_events *e, const struct bpf_program *program, uint64_t config,
		       uint64_t period);
void cpu_events__detach(struct cpu_events *e); /* a zeroed one allowed */

/* Whether this kernel and these privileges let us have such an event; a negative errno. */
int cpu_events__possible(uint64_t config);

#endif

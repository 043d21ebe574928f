/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaches a BPF program to a software event of the kernel, on each CPU; shared by sampler.c and
 * kernel_probes.c. The events of all processes run the program, which selects those of the target.
 */
#ifndef CAPTURE_CPU_EVENTS_H
#define CAPTURE_CPU_EVENTS_H

#include <stdint.h>

struct bpf_link;
struct bpf_program;

/* The types of the kernel: required by programs that read its structs. */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct cpu_events {
	struct bpf_link **link; /* one per CPU; NULL: the CPU is offline */
	int *fd;		/* of the event, which the link closes */
	unsigned int cpus;
};

/* `config` is one of PERF_COUNT_SW_*. On a negative errno some CPUs may be attached: detach it. */
int cpu_events__attach(struct cpu_events *e, const struct bpf_program *program, uint64_t config,
		       uint64_t period);
void cpu_events__detach(struct cpu_events *e); /* may be zeroed */

/* 0 if this kernel and the current privileges permit such an event, or a negative errno. */
int cpu_events__possible(uint64_t config);

#endif

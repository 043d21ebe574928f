// SPDX-License-Identifier: GPL-2.0
/*
 * Software events on each CPU: see cpu_events.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/libbpf.h>

#include "capture/cpu_events.h"

/* -ENODEV: the CPU is offline. */
static int open_event(int cpu, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.exclude_idle = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int cpu_events__possible(uint64_t config)
{
	int fd = open_event(0, config, 1000000);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int cpu_events__attach(struct cpu_events *e, const struct bpf_program *program, uint64_t config,
		       uint64_t period)
{
	int cpus = libbpf_num_possible_cpus(), cpu, fd, err;

	e->link = cpus > 0 ? calloc((size_t)cpus, sizeof(*e->link)) : NULL;
	e->fd = cpus > 0 ? calloc((size_t)cpus, sizeof(*e->fd)) : NULL;
	if (!e->link || !e->fd)
		return cpus < 0 ? cpus : -ENOMEM;
	e->cpus = (unsigned int)cpus;
	for (cpu = 0; cpu < cpus; cpu++) {
		fd = open_event(cpu, config, period);
		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		e->link[cpu] = bpf_program__attach_perf_event(program, fd);
		if (!e->link[cpu]) {
			err = -errno;
			close(fd);
			return err;
		}
		e->fd[cpu] = fd;
	}
	return 0;
}

void cpu_events__detach(struct cpu_events *e)
{
	unsigned int cpu;

	for (cpu = 0; cpu < e->cpus; cpu++)
		bpf_link__destroy(e->link[cpu]);
	free(e->link);
	free(e->fd);
	*e = (struct cpu_events){};
}

// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples: see sampler.h. The event is the kernel's cpu-clock, a timer, so that it can be had in
 * virtual machines, too; it counts for the whole CPU, and bpf/sample.bpf.c picks the target's threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/sampler.h"
#include "lib/log.h"

#include "sample.skel.h"

#define NS_PER_SEC 1000000000ull

struct sampler {
	struct sample_bpf *skel;
	struct bpf_link **link; /* a CPU each */
	unsigned int cpus;
};

/* For the registers with which a thread in the kernel left the program. */
#define BTF "/sys/kernel/btf/vmlinux"

static int explain(int code, struct error *err)
{
	if (code != -EPERM && access(BTF, R_OK))
		return error__set(err, code,
				  "CPU samples: no " BTF "; for them the kernel needs "
				  "CONFIG_DEBUG_INFO_BTF");
	switch (-code) {
	case EPERM:
	case EACCES:
		return error__set(
			err, code,
			"CPU samples: not permitted; run as root, or with CAP_BPF and "
			"CAP_PERFMON, and where no seccomp filter forbids perf_event_open");
	case ENOENT:
	case EOPNOTSUPP:
	case ENOSYS:
		return error__set(err, code,
				  "CPU samples: this kernel has no perf events of its CPUs' clock "
				  "(CONFIG_PERF_EVENTS); record without --cpu-profile");
	case EMFILE:
		return error__set(err, code,
				  "CPU samples: too few file descriptors (ulimit -n) "
				  "for two a CPU");
	default:
		return error__set(err, code, "CPU samples: %s%s", strerror(-code),
				  log__verbose() ? "" : " (--verbose shows the kernel's log)");
	}
}

/* -ENODEV: that CPU is off. */
static int open_event(int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_SEC / hz,
		.exclude_idle = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int sampler__possible(struct error *err)
{
	int fd = open_event(0, 100);

	if (fd < 0)
		return explain(fd, err);
	close(fd);
	return access(BTF, R_OK) ? explain(-ENOENT, err) : 0;
}

int sampler__open(struct sampler **ret, const struct gt_config *config,
		  const struct shared_maps *maps, struct error *err)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int cpus = libbpf_num_possible_cpus(), code = -ENOMEM;

	if (s && cpus > 0)
		s->link = calloc((size_t)cpus, sizeof(*s->link));
	if (s && s->link) {
		s->cpus = (unsigned int)cpus;
		s->skel = sample_bpf__open();
		code = s->skel ? 0 : -errno;
	}
	if (!code) {
		s->skel->rodata->config = *config;
		code = shared_maps__use(maps, s->skel->obj);
	}
	if (!code)
		code = sample_bpf__load(s->skel);
	if (code) {
		sampler__destroy(s);
		return explain(code, err);
	}
	*ret = s;
	return 0;
}

int sampler__attach(struct sampler *s, unsigned int hz, struct error *err)
{
	unsigned int cpu;
	int fd, code;

	for (cpu = 0; cpu < s->cpus; cpu++) {
		fd = open_event((int)cpu, hz);
		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return explain(fd, err);
		s->link[cpu] = bpf_program__attach_perf_event(s->skel->progs.sample, fd);
		if (!s->link[cpu]) {
			code = -errno;
			close(fd);
			return explain(code, err);
		}
	}
	return 0;
}

void sampler__detach(struct sampler *s)
{
	unsigned int cpu;

	for (cpu = 0; s && s->link && cpu < s->cpus; cpu++) {
		bpf_link__destroy(s->link[cpu]);
		s->link[cpu] = NULL;
	}
}

void sampler__destroy(struct sampler *s)
{
	if (!s)
		return;
	sampler__detach(s);
	sample_bpf__destroy(s->skel);
	free(s->link);
	free(s);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples: see sampler.h. The event is the kernel's cpu-clock, a timer, so that it can be had in
 * virtual machines, too; it counts for the whole CPU, and bpf/sample.bpf.c picks the target's threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/libbpf.h>

#include "capture/cpu_events.h"
#include "capture/sampler.h"
#include "lib/log.h"

#include "sample.skel.h"

#define NS_PER_SEC 1000000000ull

struct sampler {
	struct sample_bpf *skel;
	struct cpu_events events;
};

/* The registers with which a thread in the kernel left the program are known by the types of KERNEL_BTF. */
static int explain(int code, struct error *err)
{
	if (code != -EPERM && access(KERNEL_BTF, R_OK))
		return error__set(err, code,
				  "CPU samples: no " KERNEL_BTF "; for them the kernel needs "
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

int sampler__possible(struct error *err)
{
	int code = cpu_events__possible(PERF_COUNT_SW_CPU_CLOCK);

	if (code)
		return explain(code, err);
	return access(KERNEL_BTF, R_OK) ? explain(-ENOENT, err) : 0;
}

int sampler__open(struct sampler **ret, const struct gt_config *config, const struct rings *rings,
		  struct error *err)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int code = -ENOMEM;

	if (s) {
		s->skel = sample_bpf__open();
		code = s->skel ? 0 : -errno;
	}
	if (!code) {
		s->skel->rodata->config = *config;
		code = rings__use(rings, s->skel->obj);
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
	int code = cpu_events__attach(&s->events, s->skel->progs.sample, PERF_COUNT_SW_CPU_CLOCK,
				      NS_PER_SEC / hz);

	return code ? explain(code, err) : 0;
}

void sampler__detach(struct sampler *s)
{
	if (s)
		cpu_events__detach(&s->events);
}

void sampler__destroy(struct sampler *s)
{
	if (!s)
		return;
	sampler__detach(s);
	sample_bpf__destroy(s->skel);
	free(s);
}

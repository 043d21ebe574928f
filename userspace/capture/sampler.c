// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples: see sampler.h. The event is the kernel's cpu-clock, a timer that virtual machines
 * have, too. It counts for the whole CPU, and bpf/sample.bpf.c selects the target's threads.
 *
 * The intervals have no jitter. The timer has a fixed period: the kernel converts a frequency
 * (perf_event_attr.freq) into one when it opens a cpu-clock event, a BPF program cannot change it, and
 * PERF_EVENT_IOC_PERIOD starts the timer anew, so that the time since the last sample would be in none.
 * The default rate avoids that of usual timers instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "capture/cpu_events.h"
#include "capture/sampler.h"
#include "budget/throttle.h"
#include "lib/log.h"

#include "sample.skel.h"

struct sampler {
	struct sample_bpf *skel;
	struct cpu_events events;
	struct throttle *throttle;	      /* one per CPU of the events; NULL: not attached */
	struct private_cpu_samples throttled; /* not returned yet */
};

/*
 * KERNEL_BTF: for a thread in the kernel, the program finds its user registers by the kernel's
 * types.
 */
static int explain(int err, struct error *error)
{
	if (err != -EPERM && access(KERNEL_BTF, R_OK))
		return error__set(error, err,
				  "CPU samples: " KERNEL_BTF " is missing: the kernel requires "
				  "CONFIG_DEBUG_INFO_BTF");
	switch (-err) {
	case EPERM:
	case EACCES:
		return error__set(
			error, err,
			"CPU samples: not permitted; run as root, or with CAP_BPF and "
			"CAP_PERFMON, and without a seccomp filter that forbids perf_event_open");
	case ENOENT:
	case EOPNOTSUPP:
	case ENOSYS:
		return error__set(error, err,
				  "CPU samples: this kernel has no perf event cpu-clock "
				  "(CONFIG_PERF_EVENTS); record without --cpu-profile");
	case EMFILE:
		return error__set(
			error, err,
			"CPU samples: too many open files; two per CPU are required, raise "
			"the limit (ulimit -n)");
	default:
		return error__set(error, err, "CPU samples: %s%s", strerror(-err),
				  log__verbose() ? "" : " (--verbose shows the kernel's log)");
	}
}

int sampler__possible(struct error *error)
{
	int err = cpu_events__possible(PERF_COUNT_SW_CPU_CLOCK);

	if (err)
		return explain(err, error);
	return access(KERNEL_BTF, R_OK) ? explain(-ENOENT, error) : 0;
}

int sampler__open(struct sampler **ret, const struct gt_config *config,
		  const struct gt_pid_ns *pid_ns, const struct rings *rings, struct error *error)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (s) {
		s->skel = sample_bpf__open();
		err = s->skel ? 0 : -errno;
	}
	if (!err) {
		s->skel->rodata->config = *config;
		s->skel->rodata->pid_ns = *pid_ns;
		err = rings__use(rings, s->skel->obj);
	}
	if (!err)
		err = sample_bpf__load(s->skel);
	if (err) {
		sampler__destroy(s);
		return explain(err, error);
	}
	*ret = s;
	return 0;
}

int sampler__attach(struct sampler *s, unsigned int hz, struct error *error)
{
	int err = cpu_events__attach(&s->events, s->skel->progs.sample, PERF_COUNT_SW_CPU_CLOCK,
				     sampler__period(hz));

	if (err)
		return explain(err, error);
	s->throttle = calloc(s->events.cpus, sizeof(*s->throttle));
	if (!s->throttle)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < s->events.cpus; cpu++)
		if (s->events.link[cpu])
			throttle__open(&s->throttle[cpu], s->events.fd[cpu]);
	return 0;
}

static void read_throttling(struct sampler *s)
{
	for (unsigned int cpu = 0; s->throttle && cpu < s->events.cpus; cpu++)
		throttle__read(&s->throttle[cpu], &s->throttled);
}

void sampler__throttled(struct sampler *s, struct private_cpu_samples *ret)
{
	read_throttling(s);
	ret->throttles = s->throttled.throttles;
	ret->throttled_ns = s->throttled.throttled_ns;
	s->throttled = (struct private_cpu_samples){};
}

void sampler__detach(struct sampler *s)
{
	if (!s)
		return;
	read_throttling(s);
	for (unsigned int cpu = 0; s->throttle && cpu < s->events.cpus; cpu++)
		throttle__close(&s->throttle[cpu]);
	free(s->throttle);
	s->throttle = NULL;
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

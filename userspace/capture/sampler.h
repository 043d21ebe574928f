/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU samples of one recording: one perf event per CPU, and the program that it runs.
 *
 * Created by probes.c, whose rings and counters it uses. Everything is bound to descriptors of this
 * process, as the probes are.
 */
#ifndef CAPTURE_SAMPLER_H
#define CAPTURE_SAMPLER_H

#include "gotrace/pid_ns.h"
#include "capture/rings.h"
#include "format/private.h"
#include "gotrace/config.h"
#include "lib/error.h"

struct sampler;

#define SAMPLER_HZ_MAX	   10000
/*
 * Not 100, the rate of many timers: the samples of a program that does the same every 10 ms would all
 * be of the same part of it.
 */
#define SAMPLER_HZ_DEFAULT 99

/* The CPU time between two samples at this rate, in ns; 0: none are taken. */
static inline uint64_t sampler__period(unsigned int hz)
{
	return hz ? 1000000000ull / hz : 0;
}

/* Loads the program. On failure a negative errno and the reason, with the remedy. */
int sampler__open(struct sampler **ret, const struct gt_config *config,
		  const struct gt_pid_ns *pid_ns, const struct rings *rings, struct error *error);
/* Starts sampling: each CPU `hz` times per second of the target's running time on it. */
int sampler__attach(struct sampler *s, unsigned int hz, struct error *error);
void sampler__detach(struct sampler *s);
/* How often and for how long the kernel has throttled the samples since the last call. */
void sampler__throttled(struct sampler *s, struct private_cpu_samples *ret);
void sampler__destroy(struct sampler *s); /* NULL allowed */

/* 0 if this kernel and the current privileges permit it; a negative errno and the reason. */
int sampler__possible(struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU samples of one recording: one perf event per CPU, and the program that it runs.
 *
 * Created by probes.c, whose rings and counters it uses. Everything is bound to descriptors of this
 * process, as the probes are.
 */
#ifndef CAPTURE_SAMPLER_H
#define CAPTURE_SAMPLER_H

#include "capture/rings.h"
#include "gotrace/config.h"
#include "lib/error.h"

struct sampler;

#define SAMPLER_HZ_MAX 10000

/* Loads the program. On failure a negative errno and the reason, with the remedy. */
int sampler__open(struct sampler **ret, const struct gt_config *config, const struct rings *rings,
		  struct error *error);
/* Starts sampling: each CPU `hz` times per second of the target's running time on it. */
int sampler__attach(struct sampler *s, unsigned int hz, struct error *error);
void sampler__detach(struct sampler *s);
void sampler__destroy(struct sampler *s); /* NULL allowed */

/* 0 if this kernel and the current privileges permit it; a negative errno and the reason. */
int sampler__possible(struct error *error);

#endif

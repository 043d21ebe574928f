/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU samples of one recording: a perf event a CPU, and the program that it runs.
 *
 * Made by session.c, whose rings and counters it uses. All that hangs on this process's descriptors,
 * as the probes do.
 */
#ifndef CAPTURE_SAMPLER_H
#define CAPTURE_SAMPLER_H

#include "capture/rings.h"
#include "gotrace/session.h"
#include "lib/error.h"

struct sampler;

#define SAMPLER_HZ_MAX 10000

/* Loads the program. The reason, with its remedy, when that can't be. */
int sampler__open(struct sampler **ret, const struct gt_config *config, const struct rings *rings,
		  struct error *err);
/* From now on each CPU that runs the target is sampled `hz` times a second of its time. */
int sampler__attach(struct sampler *s, unsigned int hz, struct error *err);
void sampler__detach(struct sampler *s);
void sampler__destroy(struct sampler *s); /* NULL allowed */

/* Whether this kernel and these privileges allow it; a negative errno and the reason. */
int sampler__possible(struct error *err);

#endif

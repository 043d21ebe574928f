/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of one recording: its tracepoints for the target's threads, system calls, and page
 * faults.
 *
 * Made by session.c, whose rings and counters it uses. All that hangs on this process's descriptors,
 * as the probes do.
 */
#ifndef CAPTURE_KERNEL_PROBES_H
#define CAPTURE_KERNEL_PROBES_H

#include "capture/rings.h"
#include "gotrace/session.h"
#include "lib/error.h"

struct kernel_probes;

/* Loads the programs of those of sets kernel and fault that are in `sets`, by enum site_set. */
int kernel_probes__open(struct kernel_probes **ret, const struct gt_config *config,
			const struct rings *rings, unsigned int sets, struct error *err);
/*
 * From now on records come; of set kernel first, for each thread that is there, what it is doing.
 * Half attached on failure: detach it.
 */
int kernel_probes__attach(struct kernel_probes *k, struct error *err);
void kernel_probes__detach(struct kernel_probes *k);  /* NULL allowed */
void kernel_probes__destroy(struct kernel_probes *k); /* NULL allowed */

/* Whether this kernel has what they need; a negative errno and the reason, with its remedy. */
int kernel_probes__possible(unsigned int sets, struct error *err);

#endif

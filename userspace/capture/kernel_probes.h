/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel events of one recording: tracepoints for the target's threads and system calls, and
 * page faults.
 *
 * Created by probes.c, whose rings and counters it uses. Everything is bound to descriptors of this
 * process, as the probes are.
 */
#ifndef CAPTURE_KERNEL_PROBES_H
#define CAPTURE_KERNEL_PROBES_H

#include "gotrace/pid_ns.h"
#include "capture/rings.h"
#include "gotrace/config.h"
#include "gotrace/record.h"
#include "lib/error.h"

struct kernel_probes;

/*
 * Loads the programs of sets kernel and fault, as far as they are in `sets` (bits, by enum
 * site_set). With set syscall, those of system calls are loaded in any case. sockets: reads and
 * writes of connections are recorded, and when data arrives there, if the kernel permits that.
 */
int kernel_probes__open(struct kernel_probes **ret, const struct gt_config *config,
			const struct gt_pid_ns *pid_ns, const struct rings *rings,
			unsigned int sets, bool sockets, struct error *error);
/*
 * Attaches the programs, and then, for set kernel, records the state of each existing thread. On
 * failure some programs may be attached: detach it.
 */
int kernel_probes__attach(struct kernel_probes *k, struct error *error);
/*
 * From now on only the programs of these sets are attached, and those from which system calls are
 * derived; others are detached. Call kernel_probes__attach() for sets that were not selected before.
 */
void kernel_probes__select(struct kernel_probes *k, unsigned int sets);
/* With set kernel selected: records the state of each existing thread. 0 or a negative errno. */
int kernel_probes__present(const struct kernel_probes *k);
/*
 * Adds, by kind, how often the kernel did not run a program, because the program was already running on that
 * CPU: such an event is missing. It may have been another process's.
 */
void kernel_probes__add_skipped(const struct kernel_probes *k, gt_u64 lost[GT_KIND_END]);
/* Counts them from now on. */
void kernel_probes__forget_skipped(struct kernel_probes *k);
void kernel_probes__detach(struct kernel_probes *k);  /* NULL allowed */
void kernel_probes__destroy(struct kernel_probes *k); /* NULL allowed */

/* 0 if this kernel supports the sets; a negative errno and the reason, with the remedy. */
int kernel_probes__possible(unsigned int sets, struct error *error);

#endif

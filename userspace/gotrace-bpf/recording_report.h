/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages about one recording: what it could not observe, its result, losses and cost.
 *
 * Upstream: recording.c. Downstream: lib/log.h.
 */
#ifndef RECORDING_REPORT_H
#define RECORDING_REPORT_H

#include "analysis.h"
#include "recording.h"

/*
 * Reports missing probes of the recorded sets. If one is indispensable, the program was refused
 * before.
 */
void recording_report__missing(const struct analysis *an, uint32_t sets);
/* Reports if it is unknown which plugins the process has. */
void recording_report__plugins(const struct analysis *an);
/* What was recorded of process `pid`, and what was lost. */
void recording_report__result(const struct recording *r, int pid,
			      const struct recorder_stats *stats);
/* An estimate of the CPU time that the probes took; nothing if it is not known. */
void recording_report__cost(const struct recorder_stats *stats, bool stacks);
/* The status of a command unless it is 0, since it becomes that of gotrace-bpf. */
void recording_report__status(const struct launch *child);

#endif

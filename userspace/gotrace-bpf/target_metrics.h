/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 'gotrace-bpf serve' answers to requests for metrics: the snapshots that its recorders have sent.
 *
 * Upstream: supervisor.c, as a printer of service/router.h. Downstream: metrics/metrics.h.
 */
#ifndef TARGET_METRICS_H
#define TARGET_METRICS_H

#include <stdio.h>

#include "service/router.h"

/* CHANNEL_METRICS: OpenMetrics text. As struct router_printer. */
int target_metrics__print(FILE *out, const struct router_part *part, size_t n, struct error *error);

#endif

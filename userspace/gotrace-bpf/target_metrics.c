// SPDX-License-Identifier: GPL-2.0
/*
 * The metrics of the targets of 'gotrace-bpf serve': see target_metrics.h.
 */
#include "metrics/metrics.h"
#include "service/channel.h"
#include "target_metrics.h"

/* Less than the limit of a result: "gotrace_up" and other lines are added. */
#define TEXT_MAX (CHANNEL_RESULT_MAX - (1u << 20))

int target_metrics__print(FILE *out, const struct router_part *part, size_t n, struct error *error)
{
	struct metrics_target target[ROUTER_RECORDERS];

	for (size_t i = 0; i < n; i++)
		target[i] = (struct metrics_target){
			.pid = part[i].pid,
			.name = part[i].name,
			.snapshot = part[i].data,
			.size = part[i].size,
		};
	return metrics__print_limited(out, target, n, TEXT_MAX, error);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The metrics of the targets of 'gotrace-bpf serve': see target_metrics.h.
 */
#include "metrics/metrics.h"
#include "target/process/process.h"
#include "target_metrics.h"

#define NAME_SIZE 64 /* of a process: at most 15 bytes, each escaped */

int target_metrics__print(FILE *out, const struct router_part *part, size_t n, struct error *error)
{
	struct metrics_target target[ROUTER_RECORDERS];
	char name[ROUTER_RECORDERS][NAME_SIZE];

	for (size_t i = 0; i < n; i++) {
		name[i][0] = '\0';
		process__status(part[i].pid, "status", "Name", name[i], NAME_SIZE);
		target[i] = (struct metrics_target){
			.pid = part[i].pid,
			.name = name[i],
			.snapshot = part[i].data,
			.size = part[i].size,
		};
	}
	return metrics__print(out, target, n, error);
}

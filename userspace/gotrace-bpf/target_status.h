/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 'gotrace-bpf serve' answers to requests for the state of its targets: the parts that its
 * recorders have sent, checked, and with what the recorders do not know.
 *
 * Upstream: supervisor.c, as printers of service/router.h. Downstream: service/status.c, cost.c.
 */
#ifndef TARGET_STATUS_H
#define TARGET_STATUS_H

#include <stdio.h>

#include "service/router.h"
#include "service/status.h"

#define TARGET_STATUS_MAX sizeof(struct status) /* bytes of a part */

/* CHANNEL_TARGETS: JSON, status__print_json(). As struct router_printer. */
int target_status__print_json(FILE *out, const struct router_part *part, size_t n,
			      struct error *error);
/* CHANNEL_STATS: the same as an array of struct status, for 'gotrace-bpf status'. */
int target_status__print_bytes(FILE *out, const struct router_part *part, size_t n,
			       struct error *error);

#endif

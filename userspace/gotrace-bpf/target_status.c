// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the targets of 'gotrace-bpf serve': see target_status.h.
 */
#include <errno.h>
#include <string.h>

#include "capture/cost.h"
#include "lib/clock.h"
#include "target_status.h"

/* The model of cost.c; probes and single-stepped hits are separate there, too. */
static uint64_t cost(const struct status_counts *c, const struct status *s)
{
	const struct cost_events events = {
		.probes = c->probes,
		.stepped = c->stepped,
		.inlined = c->inlined,
		.calls = c->calls,
		.switches = c->switches,
		.wakes = c->wakes,
	};
	double ns = cost__recording(&events, (double)s->trap_ns * COST_IN_PROCESS, s->has_stacks);

	return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

static struct status read_part(const struct router_part *part)
{
	struct status s;

	if (!part->data || !status__parse(part->data, part->size, &s))
		s = (struct status){
			.magic = STATUS_MAGIC,
			.state = part->is_ready ? STATUS_SILENT : STATUS_ATTACHING,
		};
	s.pid = part->pid;
	if (s.state == STATUS_RECORDING) {
		s.first.cost_ns = cost(&s.first, &s);
		s.last.cost_ns = cost(&s.last, &s);
		s.now.cost_ns = cost(&s.now, &s);
	}
	status__set_name(&s, part->name);
	return s;
}

static size_t read_parts(const struct router_part *part, size_t n,
			 struct status ret[STATUS_TARGETS])
{
	if (n > STATUS_TARGETS)
		n = STATUS_TARGETS;
	for (size_t i = 0; i < n; i++)
		ret[i] = read_part(&part[i]);
	return n;
}

int target_status__print_json(FILE *out, const struct router_part *part, size_t n,
			      struct error *error)
{
	struct status s[STATUS_TARGETS];

	n = read_parts(part, n, s);
	status__print_json(out, s, n, clock__now());
	return 0;
}

int target_status__print_bytes(FILE *out, const struct router_part *part, size_t n,
			       struct error *error)
{
	struct status s[STATUS_TARGETS];

	n = read_parts(part, n, s);
	fwrite(s, sizeof(*s), n, out);
	return 0;
}

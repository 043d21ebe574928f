// SPDX-License-Identifier: GPL-2.0
/*
 * The names of probes, their sets of events and the registers that they read.
 *
 * Upstream: include/gotrace/kinds.h. Downstream: capture/probes.c selects by set what `record
 * --events` names; `probes` and `doctor` print them.
 */
#include <stdio.h>

#include "target/probe/site.h"

#include "target/arch/arch.h"

static const struct {
	const char *name;
	const char *arguments[2]; /* for cookie 0; for others, NULL: the same */
	enum site_set set;
} probes[GT_PROBE_COUNT] = {
#define PROBE(NAME, name, program, set, ...)                                                       \
	[GT_PROBE_##NAME] = { #name, { __VA_ARGS__ }, SITE_##set },
	GT_PROBES(PROBE)
};

const char *site__probe_name(enum gt_probe probe)
{
	return (unsigned int)probe < GT_PROBE_COUNT ? probes[probe].name : "?";
}

enum site_set site__set(enum gt_probe probe)
{
	return (unsigned int)probe < GT_PROBE_COUNT ? probes[probe].set : SITE_SCHED;
}

bool site__is_derived(const struct site_list *sites, const struct layout *layout,
		      enum gt_probe probe)
{
	if (probe == GT_PROBE_PARK || probe == GT_PROBE_DESTROY)
		return layout->derives_parks;
	if (probe == GT_PROBE_SYSCALL_ENTER || probe == GT_PROBE_SYSCALL_TRY_EXIT)
		return sites->has[GT_PROBE_SYSCALL_AT];
	return probe == GT_PROBE_SYSCALL_AT;
}

/* The registers that the BPF program reads at the site. */
const char *site__arguments(enum gt_probe probe, uint64_t cookie)
{
#define G_IN(name)     #name "=g",
#define BYTES_IN(name) #name "=bytes",
	static const char *const g_in[] = { "-", ARCH_REGISTERS(G_IN) };
	static const char *const bytes_in[] = { "-", ARCH_REGISTERS(BYTES_IN) };
	unsigned int object = GT_COOKIE_OBJECT(cookie);
	const char *const *listed;

	if ((unsigned int)probe >= GT_PROBE_COUNT)
		return NAME_ARG1 "=g";
	listed = probes[probe].arguments;
	if (!GT_COOKIE_IS_PLACE(probe) && object && object <= GPR_COUNT) {
		if (probe == GT_PROBE_HEAP_ALLOC)
			return bytes_in[object];
		if (probe != GT_PROBE_P_HANDOFF &&
		    (GT_COOKIE_ZERO_FLAG(cookie) || !GT_COOKIE_NEW_REG(cookie)))
			return g_in[object];
	}
	return cookie && listed[1] ? listed[1] : listed[0];
}

const char *site_set__name(enum site_set set)
{
	static const char *const names[SITE_SETS] = {
		"sched", "syscall", "gc", "heap", "user", "kernel", "sweep", "cpu", "fault",
	};

	return (unsigned int)set < SITE_SETS ? names[set] : "?";
}

void site_set__names(unsigned int sets, char *ret, size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned int set = 0; set < SITE_SETS && len < size; set++)
		if (sets >> set & 1)
			len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? "," : "",
						site_set__name((enum site_set)set));
}

// SPDX-License-Identifier: GPL-2.0
/* Which ring a record goes into, and the order in which a drain takes them out: see rings.h. */
#include "rings.h"

#include "gotrace/config.h"

void rings__assign(struct sim_run *run, unsigned int rings)
{
	uint32_t seq[GT_RINGS_MAX] = {};

	for (size_t i = 0; i < run->n; i++) {
		struct sim_entry *e = &run->entry[i];

		e->ring = e->rec.cpu % rings;
		e->rec.seq = seq[e->ring]++;
	}
}

size_t rings__next(const struct sim_run *run, size_t from, size_t to, size_t prev)
{
	unsigned int ring = prev == SIZE_MAX ? 0 : run->entry[prev].ring;

	for (size_t i = prev == SIZE_MAX ? from : prev + 1; ring < GT_RINGS_MAX; ring++, i = from)
		for (; i < to; i++)
			if (run->entry[i].ring == ring)
				return i;
	return to;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the goroutine of each thread: see slots.h. Upstream: process.c, snapshot_read.c.
 * Downstream: capture/setup.c.
 */
#include "target/process/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "target/process/reader.h"
#include "target/process/snapshot_read.h"

struct reading {
	const struct process *proc;
	const struct layout *layout;
	struct thread_slot *slot;
	size_t n, cap;
};

/* Adds the slot of an M; none if its goroutine changed meanwhile: then the probes have seen it. */
static int add_slot(struct reading *rd, uint64_t addr, const struct go_m *m)
{
	const struct gt_config *config = &rd->layout->config;
	struct thread_slot slot = { process__host_tid(rd->proc, m->procid),
				    { .g0 = m->g0, .m = addr, .g = m->curg } };
	uint64_t again = 0;
	uint32_t status = 0;
	int err;

	if (!slot.tid || !m->curg)
		return 0;
	err = process__read(rd->proc, m->curg + config->g_goid, &slot.slot.goid,
			    sizeof(slot.slot.goid));
	if (!err)
		err = process__read(rd->proc, m->curg + config->g_status, &status, sizeof(status));
	if (!err)
		err = process__read(rd->proc, addr + config->m_curg, &again, sizeof(again));
	if (err || again != m->curg)
		return err == -EFAULT ? 0 : err;
	slot.slot.call = (status & ~GS_SCAN) == GS_SYSCALL ? GT_CALL_BEGUN : GT_CALL_NONE;
	if (array__grow(&rd->slot, rd->n, &rd->cap, sizeof(*rd->slot)))
		return -ENOMEM;
	rd->slot[rd->n++] = slot;
	return 0;
}

static int read_all(void *ctx)
{
	struct reading *rd = ctx;
	uint64_t at = 0;
	struct go_m m;
	int err;

	process__begin_reading(rd->proc);
	err = process__read(rd->proc, rd->layout->allm + rd->proc->bias, &at, sizeof(at));
	for (size_t n = 0; at && !err && n < MS_MAX; n++) {
		err = go_m__read(rd->proc, rd->layout, at, &m);
		if (err == -EFAULT)
			return 0; /* freed meanwhile */
		if (!err)
			err = add_slot(rd, at, &m);
		at = m.alllink;
	}
	return err;
}

int process__read_slots(const struct process *proc, const struct layout *layout,
			struct thread_slot **ret, size_t *ret_n)
{
	struct reading rd = { .proc = proc, .layout = layout };
	int err = reader__run(read_all, &rd, sizeof(rd), NULL, NULL);

	if (err) {
		free(rd.slot);
		return err;
	}
	*ret = rd.slot;
	*ret_n = rd.n;
	return 0;
}

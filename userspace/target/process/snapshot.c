// SPDX-License-Identifier: GPL-2.0
/*
 * Reads all goroutines, threads and Ps of a running process in a few milliseconds.
 *
 * Upstream: process.c, snapshot_read.c. Downstream: capture/recorder.c takes two after the probes
 * are active; sequence/initial.c derives the initial state. The snapshot is not consistent, since
 * the process keeps running: goroutines change between two reads, which the records show.
 */
#include "target/process/snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "target/layout/layout.h"
#include "target/process/process.h"
#include "target/process/reader.h"
#include "target/process/snapshot_read.h"

#define BATCH 1024

static bool is_there(const struct go_g *g)
{
	return g->ok && g->goid && g->status != GS_IDLE && g->status != GS_DEAD &&
	       g->status != GS_DEADEXTRA;
}

/* The list of all Gs only grows at its end, so previous Gs keep their order. */
static int add_batch(struct snapshot *s, size_t *cap, const uint64_t *addr, const struct go_g *g,
		     size_t n, const struct snapshot *before, size_t *at_before)
{
	for (size_t i = 0; i < n; i++) {
		struct snapshot_g now = {
			.addr = addr[i],
			.goid = g[i].goid,
			.m = g[i].m,
			.startpc = g[i].startpc,
			.parent = g[i].parent,
			.status = g[i].status,
			.wait_reason = g[i].wait_reason,
		};
		const struct snapshot_g *then = NULL;

		if (before && *at_before < before->ng && before->g[*at_before].addr == addr[i])
			then = &before->g[(*at_before)++];
		if (!is_there(&g[i]) || (then && !memcmp(then, &now, sizeof(now))))
			continue;
		if (array__grow(&s->g, s->ng, cap, sizeof(*s->g)))
			return -ENOMEM;
		s->g[s->ng++] = now;
	}
	return 0;
}

static int read_goroutines(const struct process *proc, const struct layout *l,
			   const struct snapshot *before, struct snapshot *s)
{
	uint64_t *addr = NULL;
	struct go_g *g = calloc(BATCH, sizeof(*g));
	size_t n = 0, at_before = 0, cap = 0;
	int err = g ? go_gs__addresses(proc, l, &addr, &n) : -ENOMEM;

	for (size_t at = 0; at < n && !err; at += BATCH) {
		size_t batch = n - at < BATCH ? n - at : BATCH;

		err = go_gs__read(proc, l, addr + at, batch, g);
		if (!err)
			err = add_batch(s, &cap, addr + at, g, batch, before, &at_before);
	}
	free(g);
	free(addr);
	return err;
}

static int read_threads(const struct process *proc, const struct layout *l, struct snapshot *s)
{
	uint64_t at;
	int err = process__read(proc, l->allm + proc->bias, &at, sizeof(at));
	struct go_m m;
	size_t cap = 0;

	for (size_t n = 0; at && !err && n < MS_MAX; n++) {
		err = go_m__read(proc, l, at, &m);
		if (err == -EFAULT)
			return 0; /* freed meanwhile: the rest is lost */
		if (err)
			break;
		m.tid = process__host_tid(proc, m.procid);
		if (m.tid) {
			if (array__grow(&s->m, s->nm, &cap, sizeof(*s->m)))
				return -ENOMEM;
			s->m[s->nm++] = (struct snapshot_m){
				.addr = at,
				.curg = m.curg,
				.p = m.p,
				.oldp = m.oldp,
				.tid = m.tid,
			};
		}
		at = m.alllink;
	}
	return err;
}

static int read_procs(const struct process *proc, const struct layout *l, struct snapshot *s)
{
	uint64_t slice[2], *addr = NULL;
	struct go_p p;
	int err = process__read(proc, l->allp + proc->bias, slice, sizeof(slice));

	if (err)
		return err;
	if (slice[1] > PS_MAX)
		return -EPROTO;
	s->p = calloc(slice[1] + 1, sizeof(*s->p));
	err = s->p ? process__read_words(proc, slice[0], slice[1], &addr) : -ENOMEM;
	for (size_t i = 0; i < slice[1] && !err; i++) {
		err = addr[i] ? go_p__read(proc, l, addr[i], &p) : -EFAULT;
		if (!err)
			s->p[s->np++] = (struct snapshot_p){
				.addr = addr[i],
				.m = p.m,
				.id = p.id,
				.status = p.status,
			};
		else if (err == -EFAULT)
			err = 0;
	}
	free(addr);
	return err;
}

struct reading {
	const struct process *proc;
	const struct layout *layout;
	const struct snapshot *before;
	struct snapshot s;
};

static int read_all(void *ctx)
{
	struct reading *rd = ctx;
	const struct process *proc = rd->proc;
	struct snapshot *s = &rd->s;
	int err;

	process__begin_reading(proc);
	s->time = clock__now();
	err = read_goroutines(proc, rd->layout, rd->before, s);
	if (!err)
		err = read_procs(proc, rd->layout, s);
	if (!err)
		err = read_threads(proc, rd->layout, s);
	if (!err)
		err = process__read(proc, rd->layout->gomaxprocs + proc->bias, &s->procs,
				    sizeof(s->procs));
	s->time_end = clock__now();
	return err && !process__alive(proc) ? -ESRCH : err;
}

int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret)
{
	const struct snapshot_reading all = {};
	struct reading rd = { .proc = proc, .layout = layout };
	int err;

	how = how ? how : &all;
	rd.before = how->before;
	err = reader__run(read_all, &rd, sizeof(rd), how->between, how->ctx);
	if (err)
		snapshot__deinit(&rd.s);
	else
		*ret = rd.s;
	return err;
}

void snapshot__deinit(struct snapshot *snap)
{
	free(snap->g);
	free(snap->m);
	free(snap->p);
	*snap = (struct snapshot){ 0 };
}

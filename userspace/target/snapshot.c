// SPDX-License-Identifier: GPL-2.0
/*
 * Reads all goroutines, threads and Ps of a running process in a few milliseconds.
 *
 * Taken twice by capture/session.c after the probes are live; sequence/initial.c makes the initial
 * state of it. Nothing is consistent here, since the process runs: a goroutine may come, go or
 * change between two reads, which the records of the probes then tell.
 */
#include "target/snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/layout.h"
#include "target/process.h"
#include "target/reader.h"
#include "target/snapshot_read.h"

#define BATCH 1024

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_there(const struct go_g *g)
{
	return g->ok && g->goid && g->status != GS_IDLE && g->status != GS_DEAD &&
	       g->status != GS_DEADEXTRA;
}

/* One more at the end of an array that doubles. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1) || (n && n < 16)) /* no power of 2, so there is room */
		return array;
	return realloc(array, (n ? 2 * n : 16) * size);
}

static int add_goroutine(struct snapshot *s, const struct snapshot_g *g)
{
	struct snapshot_g *more = grow(s->g, s->ng, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->g = more;
	s->g[s->ng++] = *g;
	return 0;
}

/*
 * The list of all gs only ever grows at its end: so those of the snapshot before stand in it in the
 * same order, and each is met in turn.
 */
static int add_batch(struct snapshot *s, const uint64_t *addr, const struct go_g *g, size_t n,
		     const struct snapshot *before, size_t *at_before)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
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
		if (is_there(&g[i]) && (!then || memcmp(then, &now, sizeof(now))))
			r = add_goroutine(s, &now);
	}
	return r;
}

static int read_goroutines(const struct process *proc, const struct layout *l,
			   const struct snapshot *before, struct snapshot *s)
{
	uint64_t *addr = NULL;
	struct go_g *g = calloc(BATCH, sizeof(*g));
	size_t n = 0, at_before = 0;
	int r = g ? go_gs__addresses(proc, l, &addr, &n) : -ENOMEM;

	for (size_t at = 0; at < n && !r; at += BATCH) {
		size_t batch = n - at < BATCH ? n - at : BATCH;

		r = go_gs__read(proc, l, addr + at, batch, g);
		if (!r)
			r = add_batch(s, addr + at, g, batch, before, &at_before);
	}
	free(g);
	free(addr);
	return r;
}

static int read_threads(const struct process *proc, const struct layout *l, struct snapshot *s)
{
	uint64_t at;
	int r = process__read(proc, l->allm + proc->bias, &at, sizeof(at));
	struct snapshot_m *more;
	struct go_m m;

	for (size_t n = 0; at && !r && n < MS_MAX; n++) {
		r = go_m__read(proc, l, at, &m);
		if (r == -EFAULT)
			return 0; /* freed under us: what follows is lost */
		if (r)
			break;
		m.tid = process__host_tid(proc, m.procid);
		if (m.tid) {
			more = grow(s->m, s->nm, sizeof(*more));
			if (!more)
				return -ENOMEM;
			s->m = more;
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
	return r;
}

static int read_processors(const struct process *proc, const struct layout *l, struct snapshot *s)
{
	uint64_t slice[2], *addr;
	struct go_p p;
	int r = process__read(proc, l->allp + proc->bias, slice, sizeof(slice));

	if (r)
		return r;
	if (slice[1] > PS_MAX)
		return -EPROTO;
	addr = calloc(slice[1] + 1, sizeof(*addr));
	s->p = calloc(slice[1] + 1, sizeof(*s->p));
	r = addr && s->p ? process__read(proc, slice[0], addr, slice[1] * 8) : -ENOMEM;
	for (size_t i = 0; i < slice[1] && !r; i++) {
		r = addr[i] ? go_p__read(proc, l, addr[i], &p) : -EFAULT;
		if (!r)
			s->p[s->np++] = (struct snapshot_p){
				.addr = addr[i],
				.m = p.m,
				.id = p.id,
				.status = p.status,
			};
		else if (r == -EFAULT)
			r = 0;
	}
	free(addr);
	return r;
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
	int r;

	process__begin_reading(proc);
	s->time = now();
	r = read_goroutines(proc, rd->layout, rd->before, s);
	if (!r)
		r = read_processors(proc, rd->layout, s);
	if (!r)
		r = read_threads(proc, rd->layout, s);
	if (!r)
		r = process__read(proc, rd->layout->gomaxprocs + proc->bias, &s->procs,
				  sizeof(s->procs));
	s->time_end = now();
	return r && !process__alive(proc) ? -ESRCH : r;
}

int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret)
{
	const struct snapshot_reading all = {};
	struct reading rd = { .proc = proc, .layout = layout };
	int r;

	how = how ? how : &all;
	rd.before = how->before;
	r = reader__run(read_all, &rd, sizeof(rd), how->between, how->ctx);
	if (r)
		snapshot__deinit(&rd.s);
	else
		*ret = rd.s;
	return r;
}

void snapshot__deinit(struct snapshot *snap)
{
	free(snap->g);
	free(snap->m);
	free(snap->p);
	*snap = (struct snapshot){ 0 };
}

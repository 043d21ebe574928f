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
#include "gotrace/record.h"
#include "lib/clock.h"
#include "target/layout/layout.h"
#include "target/process/parked.h"
#include "target/process/process.h"
#include "target/process/reader.h"
#include "target/process/snapshot_read.h"

/* Goroutines that are read together, and what is known about each. */
struct batch {
	uint64_t addr[PARKED_BATCH];
	struct go_g g[PARKED_BATCH];
	struct snapshot_g now[PARKED_BATCH];
	bool is_new[PARKED_BATCH];
	size_t parked[PARKED_BATCH]; /* those of which the stack is to be read */
	size_t n, nparked;
	/* of these: */
	uint64_t parked_addr[PARKED_BATCH];
	struct go_g parked_g[PARKED_BATCH];
	uint32_t stack[PARKED_BATCH];
};

static bool is_there(const struct go_g *g)
{
	return g->ok && g->goid && g->status != GS_IDLE && g->status != GS_DEAD &&
	       g->status != GS_DEADEXTRA;
}

struct reading {
	const struct process *proc;
	const struct layout *layout;
	const struct snapshot *before;
	size_t at_before;
	size_t cap;
	struct parked parked;
	struct snapshot s;
};

/*
 * The list of all Gs only grows at its end, so previous Gs keep their order. A goroutine that is
 * parked where it was before still has the stack of then.
 */
static void compare(struct reading *rd, struct batch *b)
{
	const struct snapshot *before = rd->before;

	b->nparked = 0;
	for (size_t i = 0; i < b->n; i++) {
		const struct go_g *g = &b->g[i];
		struct snapshot_g *now = &b->now[i];
		const struct snapshot_g *then = NULL;

		*now = (struct snapshot_g){
			.addr = b->addr[i],
			.goid = g->goid,
			.m = g->m,
			.startpc = g->startpc,
			.parent = g->parent,
			.wait_since = g->status == GS_WAITING ? g->wait_since : 0,
			.status = g->status,
			.wait_reason = g->wait_reason,
			.context = rd->parked.depth ? parked__context(rd->layout, g) : 0,
		};
		if (before && rd->at_before < before->ng &&
		    before->g[rd->at_before].addr == now->addr)
			then = &before->g[rd->at_before++];
		if (then && then->context == now->context)
			now->stack = then->stack;
		b->is_new[i] = is_there(g) && (!then || memcmp(then, now, sizeof(*now)));
		if (!b->is_new[i] || !now->context)
			continue;
		now->stack = 0; /* that of `before` is in another table */
		b->parked_addr[b->nparked] = now->addr;
		b->parked_g[b->nparked] = *g;
		b->parked[b->nparked++] = i;
	}
}

static int add_batch(struct reading *rd, struct batch *b)
{
	struct snapshot *s = &rd->s;
	int err = 0;

	compare(rd, b);
	if (b->nparked)
		err = parked__read(&rd->parked, rd->proc, rd->layout, b->parked_addr, b->parked_g,
				   b->nparked, b->stack);
	for (size_t i = 0; i < b->nparked && !err; i++)
		b->now[b->parked[i]].stack = b->stack[i];
	for (size_t i = 0; i < b->n && !err; i++) {
		if (!b->is_new[i])
			continue;
		if (array__grow(&s->g, s->ng, &rd->cap, sizeof(*s->g)))
			return -ENOMEM;
		s->g[s->ng++] = b->now[i];
	}
	return err;
}

static int read_goroutines(struct reading *rd)
{
	uint64_t *addr = NULL;
	struct batch *b = calloc(1, sizeof(*b));
	size_t n = 0;
	int err = b ? go_gs__addresses(rd->proc, rd->layout, &addr, &n) : -ENOMEM;

	for (size_t at = 0; at < n && !err; at += PARKED_BATCH) {
		b->n = n - at < PARKED_BATCH ? n - at : PARKED_BATCH;
		memcpy(b->addr, addr + at, b->n * sizeof(*addr));
		err = go_gs__read(rd->proc, rd->layout, b->addr, b->n, b->g);
		if (!err)
			err = add_batch(rd, b);
	}
	free(b);
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

static int read_all(void *ctx)
{
	struct reading *rd = ctx;
	const struct process *proc = rd->proc;
	struct snapshot *s = &rd->s;
	int err;

	process__begin_reading(proc);
	s->time = clock__now();
	err = read_goroutines(rd);
	if (!err)
		err = read_procs(proc, rd->layout, s);
	if (!err)
		err = read_threads(proc, rd->layout, s);
	if (!err)
		err = process__read(proc, rd->layout->gomaxprocs + proc->bias, &s->procs,
				    sizeof(s->procs));
	s->time_end = clock__now();
	s->stacks = rd->parked.words;
	s->nstacks = rd->parked.n;
	s->stacks_left_out = rd->parked.left_out;
	rd->parked.words = NULL;
	parked__deinit(&rd->parked);
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
	rd.parked.depth = how->stack_depth < GT_STACK_MAX ? how->stack_depth : GT_STACK_MAX;
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
	free(snap->stacks);
	*snap = (struct snapshot){ 0 };
}

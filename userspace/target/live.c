// SPDX-License-Identifier: GPL-2.0
/*
 * The live checks: are the runtime's structs in this process where the layout says they are?
 *
 * Last step of target analysis, before the first record. Pointers that must lead back to where they
 * came from, and thread ids that the kernel knows, cannot agree by chance: wrong offsets are found
 * here, and not as nonsense in a trace. The process runs meanwhile, so that anything may change
 * between two reads: what looks wrong is read again, by itself, and then everything once more.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "target/process.h"
#include "target/reader.h"
#include "target/snapshot_read.h"

#define TRIES	     3		  /* of everything */
#define LOOKS	     8		  /* at one struct */
#define STACK_MAX    (4ull << 30) /* g0 of a cgo program may have what ulimit -s allows */
#define BATCH	     1024
#define REASONS_MAX  64 /* of any kind, in any release */
#define SKIP_MAX     64
#define GS_LOOKED_AT (1u << 15) /* of more, a part from each region of their list */
#define MS_LOOKED_AT (1u << 10) /* of more, each 16th; all lead to the next one */
#define USER_MAX     (1ull << 47)
#define P_STATUS_MAX 4 /* _Pdead */
#define GC_MODE_MAX  3
#define WRONG	     "the Go runtime's structures are not where they should be: "

struct check {
	const struct process *proc;
	const struct layout *l;
	uint64_t *ps; /* what m.p and m.oldp may point to */
	size_t nps;
	uint64_t *ms; /* the list of all ms */
	size_t nms;
	uint64_t *goids;
	size_t ngoids;
	size_t frames, odd_frames; /* saved frame pointers, and those that lead out of the stack */
	size_t waiting, started;   /* goroutines that wait, and those that have a start function */
};

#define HEX(x) ((unsigned long long)(x))

static bool is_sane_stack(uint64_t lo, uint64_t hi)
{
	return lo < hi && hi - lo <= STACK_MAX;
}

static bool is_known_status(uint32_t status)
{
	return status <= GS_DEADEXTRA && status != 5 && status != 7;
}

static bool is_p(const struct check *c, uint64_t addr)
{
	for (size_t i = 0; i < c->nps; i++) {
		if (c->ps[i] == addr)
			return true;
	}
	return !addr;
}

/* Members that hold small numbers; a wrong place would rather hold a pointer. */
static int check_block_reason(const struct check *c, uint64_t addr, struct error *err)
{
	const struct gt_config *config = &c->l->config;
	uint64_t skip;
	uint8_t reason;
	int r = process__read(c->proc, addr + config->m_block_reason, &reason, sizeof(reason));

	if (!r)
		r = process__read(c->proc, addr + config->m_skip, &skip, sizeof(skip));
	if (!r && (reason >= REASONS_MAX || skip >= SKIP_MAX))
		return error__set(err, -EPROTO,
				  WRONG "the m at %#llx says that it blocks for "
					"reason %u, skipping %llu frames",
				  HEX(addr), reason, HEX(skip));
	return r;
}

static int check_curg(const struct check *c, uint64_t addr, const struct go_m *m, struct error *err)
{
	struct go_g g;
	int r = m->curg ? go_gs__read(c->proc, c->l, &m->curg, 1, &g) : 0;

	if (m->curg && !r && (!g.ok || g.m != addr))
		return error__set(err, -EPROTO, WRONG "m.curg.m is not m at %#llx", HEX(addr));
	return r;
}

/* An m that waits for the next thread of C; up to 1.21 it goes on naming the one before. */
static bool is_spare(const struct check *c, const struct go_m *m)
{
	struct go_g g;

	return !m->p && m->curg && !go_gs__read(c->proc, c->l, &m->curg, 1, &g) && g.ok &&
	       g.status == GS_DEAD;
}

static int check_m(const struct check *c, uint64_t addr, const struct go_m *m, struct error *err)
{
	struct go_g g0;
	struct go_p p;
	int r;

	if (!process__host_tid(c->proc, m->procid))
		return is_spare(c, m) ? 0 :
					error__set(err, -EPROTO,
						   WRONG "the m at %#llx names %llu as its thread",
						   HEX(addr), HEX(m->procid));
	r = go_gs__read(c->proc, c->l, &m->g0, 1, &g0);
	if (r)
		return r;
	if (!g0.ok || g0.m != addr)
		return error__set(err, -EPROTO, WRONG "m.g0.m is not m at %#llx", HEX(addr));
	if (!is_sane_stack(g0.stack_lo, g0.stack_hi))
		return error__set(err, -EPROTO, WRONG "m.g0 of %#llx has a stack %#llx to %#llx",
				  HEX(addr), HEX(g0.stack_lo), HEX(g0.stack_hi));
	if (!is_p(c, m->p) || !is_p(c, m->oldp))
		return error__set(err, -EPROTO,
				  WRONG "the m at %#llx has a p at %#llx, and had one "
					"at %#llx",
				  HEX(addr), HEX(m->p), HEX(m->oldp));
	if (m->p && (go_p__read(c->proc, c->l, m->p, &p) || p.m != addr))
		return error__set(err, -EPROTO, WRONG "m.p.m is not m at %#llx", HEX(addr));
	r = check_curg(c, addr, m, err);
	return r ? r : check_block_reason(c, addr, err);
}

static bool may_look_again(int r)
{
	return r == -EPROTO || r == -EFAULT;
}

struct seen {
	uint64_t next;
	size_t threads; /* ms that have one */
	bool main;	/* the main thread's was among them */
};

/* An m that changes while it is looked at is looked at again. */
static int look_at_m(const struct check *c, uint64_t addr, bool closely, struct seen *seen,
		     struct error *err)
{
	struct error why;
	struct go_m m;
	int r = -EPROTO;

	for (int i = 0; i < LOOKS && may_look_again(r); i++) {
		why.text[0] = 0;
		r = go_m__read(c->proc, c->l, addr, &m);
		if (!r && m.procid && closely) /* 0: its thread is not there yet, or is C's */
			r = check_m(c, addr, &m, &why);
	}
	if (r && why.text[0])
		return error__set(err, r, "%s", why.text);
	if (r)
		return error__set(err, r == -EFAULT ? -EPROTO : r,
				  WRONG "no m is readable at %#llx", HEX(addr));
	seen->next = m.alllink;
	seen->threads += m.procid != 0;
	seen->main |= process__host_tid(c->proc, m.procid) == (uint32_t)c->proc->pid;
	return 0;
}

static int add_m(struct check *c, uint64_t addr)
{
	uint64_t *more;

	if (!(c->nms & (c->nms - 1))) { /* 0, or a power of 2: it is full */
		more = realloc(c->ms, (c->nms ? 2 * c->nms : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->ms = more;
	}
	c->ms[c->nms++] = addr;
	return 0;
}

/* The main thread's m is the oldest, hence the last; in a C program with Go in it, it may be none. */
static int check_ms(struct check *c, struct error *err)
{
	struct seen seen = { 0 };
	int r = process__read(c->proc, c->l->allm + c->proc->bias, &seen.next, sizeof(seen.next));

	while (seen.next && !r && c->nms < MS_MAX) {
		r = add_m(c, seen.next);
		if (!r)
			r = look_at_m(c, seen.next, c->nms <= MS_LOOKED_AT || c->nms % 16 == 0,
				      &seen, err);
	}
	if (!r && c->nms == MS_MAX)
		r = error__set(err, -EPROTO,
			       WRONG "its list of ms does not end, or has more than %u "
				     "entries",
			       MS_MAX);
	if (!r && (!seen.threads || (!seen.main && seen.threads < 2)))
		r = error__set(err, -EPROTO, WRONG "its list of ms makes no sense");
	return r;
}

static int check_p(const struct check *c, size_t id, struct error *err)
{
	uint64_t addr = c->ps[id], mode;
	struct go_p p;
	int r = go_p__read(c->proc, c->l, addr, &p);

	if (!r)
		r = process__read(c->proc, addr + c->l->config.p_gc_mode, &mode, sizeof(mode));
	if (r)
		return error__set(err, r == -EFAULT ? -EPROTO : r, WRONG "p %zu is not readable",
				  id);
	if (p.id != id || p.status > P_STATUS_MAX || mode > GC_MODE_MAX)
		return error__set(err, -EPROTO,
				  WRONG "p %zu has id %u, status %u, worker mode %llu", id, p.id,
				  p.status, HEX(mode));
	return 0;
}

static bool is_m(const struct check *c, uint64_t addr)
{
	for (size_t i = 0; i < c->nms; i++) {
		if (c->ms[i] == addr)
			return true;
	}
	return !addr;
}

/* After check_ms(). What an idle p points to tells little, but all of them together. */
static int check_owners(const struct check *c, struct error *err)
{
	struct go_p p;

	for (size_t i = 0; i < c->nps; i++) {
		if (c->ps[i] && !go_p__read(c->proc, c->l, c->ps[i], &p) && !is_m(c, p.m))
			return error__set(err, -EPROTO,
					  WRONG "p %zu has an m at %#llx, where none "
						"is",
					  i, HEX(p.m));
	}
	return 0;
}

static int check_ps(struct check *c, struct error *err)
{
	uint32_t procs = 0;
	int r = go_ps__addresses(c->proc, c->l, &c->ps, &c->nps);

	if (!r)
		r = process__read(c->proc, c->l->gomaxprocs + c->proc->bias, &procs, sizeof(procs));
	if (r == -EPROTO || r == -EFAULT || (!r && (!procs || procs > c->nps)))
		return error__set(err, -EPROTO, WRONG "its list of ps makes no sense");
	for (size_t i = 0; i < procs && !r; i++)
		r = check_p(c, i, err);
	return r;
}

static bool is_sane_g(const struct go_g *g)
{
	bool freed = !g->stack_lo && !g->stack_hi;

	if (!g->ok || !is_known_status(g->status) || g->wait_reason >= REASONS_MAX ||
	    (!freed && !is_sane_stack(g->stack_lo, g->stack_hi)) || g->goid >= USER_MAX ||
	    g->parent >= USER_MAX || g->startpc >= USER_MAX)
		return false;
	return g->status != GS_WAITING || (g->goid && g->sp >= g->stack_lo && g->sp <= g->stack_hi);
}

static int check_g(struct check *c, uint64_t addr, struct go_g *g, struct error *err)
{
	int r = 0;

	for (int i = 0; i < LOOKS && !r && !is_sane_g(g); i++)
		r = go_gs__read(c->proc, c->l, &addr, 1, g);
	if (r)
		return r;
	if (!is_sane_g(g))
		return error__set(err, -EPROTO,
				  WRONG "the goroutine at %#llx makes no sense (id "
					"%llu, status %u, stack %#llx to %#llx, sp %#llx)",
				  HEX(addr), HEX(g->goid), g->status, HEX(g->stack_lo),
				  HEX(g->stack_hi), HEX(g->sp));
	if (g->status == GS_WAITING && g->bp) {
		c->frames++;
		c->odd_frames += g->bp < g->stack_lo || g->bp > g->stack_hi;
	}
	c->waiting += g->status == GS_WAITING;
	c->started += g->status == GS_WAITING && g->startpc;
	if (g->goid)
		c->goids[c->ngoids++] = g->goid;
	return 0;
}

static int compare_goids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Ids are never used twice, so that no two gs have the same one, whenever each was read. */
static int check_goids(struct check *c, struct error *err)
{
	/* The runtime's own wait everywhere; only those of callbacks from C have no start function. */
	if (c->waiting && !c->started)
		return error__set(err, -EPROTO,
				  WRONG "none of %zu goroutines that wait has a start "
					"function",
				  c->waiting);
	qsort(c->goids, c->ngoids, sizeof(*c->goids), compare_goids);
	for (size_t i = 1; i < c->ngoids; i++) {
		if (c->goids[i] == c->goids[i - 1])
			return error__set(err, -EPROTO, WRONG "two goroutines have the id %llu",
					  HEX(c->goids[i]));
	}
	if (2 * c->odd_frames > c->frames)
		return error__set(err, -EPROTO,
				  WRONG "%zu of %zu frame pointers lead out of their "
					"stacks",
				  c->odd_frames, c->frames);
	return 0;
}

static int check_batch(struct check *c, const uint64_t *addr, size_t n, struct error *err)
{
	struct go_g g[BATCH];
	int r = go_gs__read(c->proc, c->l, addr, n, g);

	for (size_t i = 0; i < n && !r; i++)
		r = check_g(c, addr[i], &g[i], err);
	return r;
}

/* Wrong offsets are wrong for all: of a million a part tells as much, in a tenth of the time. */
static int check_gs(struct check *c, struct error *err)
{
	uint64_t *addr = NULL;
	size_t n = 0, batches, step = 1;
	int r = go_gs__addresses(c->proc, c->l, &addr, &n);

	if (r == -EPROTO && n > GS_MAX)
		r = error__set(err, r,
			       WRONG "its list of goroutines has %zu entries, and more than "
				     "%u are not believed",
			       n, GS_MAX);
	else if (r == -EPROTO || r == -EFAULT || (!r && !n))
		r = error__set(err, -EPROTO, WRONG "its list of goroutines makes no sense");
	batches = (n + BATCH - 1) / BATCH;
	if (batches > GS_LOOKED_AT / BATCH)
		step = (batches + GS_LOOKED_AT / BATCH - 1) / (GS_LOOKED_AT / BATCH);
	if (!r) {
		c->goids = malloc((batches / step + 1) * BATCH * sizeof(*c->goids));
		r = c->goids ? 0 : -ENOMEM;
	}
	for (size_t at = 0; at < n && !r; at += step * BATCH)
		r = check_batch(c, addr + at, n - at < BATCH ? n - at : BATCH, err);
	free(addr);
	return r ? r : check_goids(c, err);
}

static int check_all(const struct process *proc, const struct layout *layout, struct error *err)
{
	struct check c = { .proc = proc, .l = layout };
	int r;

	process__begin_reading(proc);
	r = check_ps(&c, err);
	if (!r)
		r = check_ms(&c, err);
	if (!r)
		r = check_owners(&c, err);
	if (!r)
		r = check_gs(&c, err);
	free(c.ps);
	free(c.ms);
	free(c.goids);
	return r;
}

struct checking {
	const struct process *proc;
	const struct layout *layout;
	struct error why;
};

static int check_thrice(void *ctx)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	struct checking *c = ctx;
	int r = -EPROTO;

	for (int i = 0; i < TRIES && r == -EPROTO; i++) {
		if (i)
			nanosleep(&moment, NULL);
		c->why.text[0] = 0;
		r = check_all(c->proc, c->layout, &c->why);
	}
	return r;
}

int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *err)
{
	struct checking c = { .proc = proc, .layout = layout };
	int r = reader__run(check_thrice, &c, sizeof(c), NULL, NULL);

	if (!r)
		return 0;
	if (!process__alive(proc))
		return error__set(err, -ESRCH, "process %d ended", proc->pid);
	if (r == -EPERM)
		return error__set(err, r,
				  "no permission to read the memory of process %d: run as "
				  "root, or with CAP_SYS_PTRACE",
				  proc->pid);
	if (r == -ETIMEDOUT || r == -EINTR)
		return reader__blocked(r, proc->pid, err);
	return error__set(err, r, "%s", c.why.text[0] ? c.why.text : "cannot read the process");
}

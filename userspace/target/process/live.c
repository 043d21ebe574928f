// SPDX-License-Identifier: GPL-2.0
/*
 * The live checks: whether the runtime's structs in this process are where the layout says.
 *
 * Last step of target analysis, before the first record. Upstream: layout/layout.c. Downstream:
 * capture/recorder.c. Pointers that must lead back to their origin and thread ids known to the
 * kernel cannot match by chance, so wrong offsets are detected here, before they produce a wrong
 * trace. The process keeps running, and data may change between two reads: on a mismatch the struct
 * is read again, and finally everything is checked again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "lib/buf.h"
#include "target/arch/arch.h"
#include "target/process/process.h"
#include "target/process/reader.h"
#include "target/process/snapshot_read.h"

#define TRIES	     3		  /* attempts for all checks */
#define M_TRIES	     8		  /* attempts for one struct */
#define STACK_MAX    (4ull << 30) /* bytes; of a larger stack, the part that is in use */
#define BATCH	     1024
#define REASONS_MAX  64 /* more than any release has */
#define SKIP_MAX     64
#define GS_CHECKED   (1u << 15) /* of more goroutines, samples from all parts of the list */
#define MS_CHECKED   (1u << 10) /* of more Ms, each 16th; all are followed to the next */
#define P_STATUS_MAX 4		/* _Pdead */
#define GC_MODE_MAX  3
#define WRONG	     "the Go runtime's structures are not at the expected offsets: "

struct check {
	const struct process *proc;
	const struct layout *l;
	uint64_t *ps; /* the values that m.p and m.oldp may have, by id */
	size_t nps;
	uint64_t *sorted_ps; /* the same, by address */
	uint64_t *ms;	     /* all Ms; sorted once all are known */
	size_t nms, ms_cap;
	uint64_t *goids;
	size_t ngoids;
	size_t frames, odd_frames; /* saved frame pointers, and those outside of the stack */
	size_t waiting, started;   /* waiting goroutines, and those of them with a start function */
};

/* Sets the reason for which a check failed; returns -EPROTO. */
#define wrong(error, ...) error__set(error, -EPROTO, WRONG __VA_ARGS__)

#define HEX(x)		  ((unsigned long long)(x))

static bool is_sane_stack(uint64_t lo, uint64_t hi)
{
	return lo < hi && hi - lo <= STACK_MAX;
}

/*
 * The bounds of a g0 on a stack that C has created are estimates of the runtime. The lower one can
 * be any address below the stack, for example 0x3d8; docs/go-runtime.md lists the causes. Then the
 * saved stack pointer must be within the bounds and near the upper one. The runtime sets it before
 * m.procid.
 */
static bool is_sane_g0(const struct go_g *g0)
{
	return is_sane_stack(g0->stack_lo, g0->stack_hi) ||
	       (g0->sp >= g0->stack_lo && is_sane_stack(g0->sp, g0->stack_hi));
}

static bool is_known_status(uint32_t status)
{
	return status <= GS_DEADEXTRA && status != 5 && status != 7;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	PARSER_STEPS(1);
	return x < y ? -1 : x > y;
}

/*
 * Whether the pointer is NULL or one of `n` > 0 sorted addresses. A target may have 131,072 Ms and
 * 65,536 Ps, each of which is looked up among the others.
 */
static bool is_one_of(const uint64_t *known, size_t n, uint64_t addr)
{
	return !addr || bsearch(&addr, known, n, sizeof(*known), compare_words);
}

/* Checks members with small numbers; at a wrong offset there would likely be a pointer. */
static int check_block_reason(const struct check *c, uint64_t addr, struct error *error)
{
	const struct gt_config *config = &c->l->config;
	uint64_t skip;
	uint8_t reason;
	int err = process__read(c->proc, addr + config->m_block_reason, &reason, sizeof(reason));

	if (!err)
		err = process__read(c->proc, addr + config->m_skip, &skip, sizeof(skip));
	if (!err && (reason >= REASONS_MAX || skip >= SKIP_MAX))
		return wrong(error, "the m at %#llx has block reason %u and skip count %llu",
			     HEX(addr), reason, HEX(skip));
	return err;
}

static int check_curg(const struct check *c, uint64_t addr, const struct go_m *m,
		      struct error *error)
{
	struct go_g g;
	int err = m->curg ? go_gs__read(c->proc, c->l, &m->curg, 1, &g) : 0;

	if (m->curg && !err && (!g.ok || g.m != addr))
		return wrong(error, "m.curg.m is not m at %#llx", HEX(addr));
	return err;
}

/* Whether an m waits for the next thread of C; up to 1.21 it still names the previous one. */
static bool is_spare(const struct check *c, const struct go_m *m)
{
	struct go_g g;

	return !m->p && m->curg && !go_gs__read(c->proc, c->l, &m->curg, 1, &g) && g.ok &&
	       g.status == GS_DEAD;
}

static int check_m(const struct check *c, uint64_t addr, const struct go_m *m, struct error *error)
{
	struct go_g g0;
	struct go_p p;
	int err;

	if (!process__host_tid(c->proc, m->procid))
		return is_spare(c, m) ?
			       0 :
			       wrong(error, "m.procid at %#llx is %llu, which is not a thread",
				     HEX(addr), HEX(m->procid));
	err = go_gs__read(c->proc, c->l, &m->g0, 1, &g0);
	if (err)
		return err;
	if (!g0.ok || g0.m != addr)
		return wrong(error, "m.g0.m is not m at %#llx", HEX(addr));
	if (!is_sane_g0(&g0))
		return wrong(error, "m.g0 of %#llx has a stack %#llx to %#llx, sp %#llx", HEX(addr),
			     HEX(g0.stack_lo), HEX(g0.stack_hi), HEX(g0.sp));
	if (!is_one_of(c->sorted_ps, c->nps, m->p) || !is_one_of(c->sorted_ps, c->nps, m->oldp))
		return wrong(error, "the m at %#llx has a p at %#llx, and had one at %#llx",
			     HEX(addr), HEX(m->p), HEX(m->oldp));
	if (m->p && (go_p__read(c->proc, c->l, m->p, &p) || p.m != addr))
		return wrong(error, "m.p.m is not m at %#llx", HEX(addr));
	err = check_curg(c, addr, m, error);
	return err ? err : check_block_reason(c, addr, error);
}

static bool may_retry(int err)
{
	return err == -EPROTO || err == -EFAULT;
}

struct seen {
	uint64_t next;
	size_t threads; /* Ms with a thread */
	bool main;	/* the main thread was among them */
};

/* Checks an m, again if it changed meanwhile. */
static int check_m_again(const struct check *c, uint64_t addr, bool closely, struct seen *seen,
			 struct error *error)
{
	struct error why;
	struct go_m m;
	int err = -EPROTO;

	for (int i = 0; i < M_TRIES && may_retry(err); i++) {
		why.text[0] = 0;
		err = go_m__read(c->proc, c->l, addr, &m);
		if (!err && m.procid && closely) /* 0: its thread does not exist yet, or is C's */
			err = check_m(c, addr, &m, &why);
	}
	if (err && why.text[0])
		return error__set(error, err, "%s", why.text);
	if (err)
		return error__set(error, err == -EFAULT ? -EPROTO : err,
				  WRONG "no m is readable at %#llx", HEX(addr));
	seen->next = m.alllink;
	seen->threads += m.procid != 0;
	seen->main |= process__host_tid(c->proc, m.procid) == (uint32_t)c->proc->pid;
	return 0;
}

static int add_m(struct check *c, uint64_t addr)
{
	if (array__grow(&c->ms, c->nms, &c->ms_cap, sizeof(*c->ms)))
		return -ENOMEM;
	c->ms[c->nms++] = addr;
	return 0;
}

/*
 * Checks all Ms. The main thread's is the oldest, hence the last; in a C program it may be missing.
 */
static int check_ms(struct check *c, struct error *error)
{
	struct seen seen = { 0 };
	int err = process__read(c->proc, c->l->allm + c->proc->bias, &seen.next, sizeof(seen.next));

	while (seen.next && !err && c->nms < MS_MAX) {
		err = add_m(c, seen.next);
		if (!err)
			err = check_m_again(c, seen.next, c->nms <= MS_CHECKED || c->nms % 16 == 0,
					    &seen, error);
	}
	if (!err && c->nms == MS_MAX)
		err = wrong(error, "its list of ms does not end, or has more than %u entries",
			    MS_MAX);
	if (!err && (!seen.threads || (!seen.main && seen.threads < 2)))
		err = wrong(error, "its list of ms is invalid");
	return err;
}

static int check_p(const struct check *c, size_t id, struct error *error)
{
	uint64_t addr = c->ps[id], mode;
	struct go_p p;
	int err = go_p__read(c->proc, c->l, addr, &p);

	if (!err)
		err = process__read(c->proc, addr + c->l->config.p_gc_mode, &mode, sizeof(mode));
	if (err)
		return error__set(error, err == -EFAULT ? -EPROTO : err,
				  WRONG "p %zu is not readable", id);
	if (p.id != id || p.status > P_STATUS_MAX || mode > GC_MODE_MAX)
		return wrong(error, "p %zu has id %u, status %u, worker mode %llu", id, p.id,
			     p.status, HEX(mode));
	return 0;
}

/* Checks p.m after check_ms(), for all Ps, since an idle P alone proves little. */
static int check_owners(const struct check *c, struct error *error)
{
	struct go_p p;

	array__sort(c->ms, c->nms, sizeof(*c->ms), compare_words);
	for (size_t i = 0; i < c->nps; i++) {
		if (c->ps[i] && !go_p__read(c->proc, c->l, c->ps[i], &p) &&
		    !is_one_of(c->ms, c->nms, p.m))
			return wrong(
				error,
				"p %zu refers to an m at %#llx, which is not in the list of ms", i,
				HEX(p.m));
	}
	return 0;
}

static int sort_ps(struct check *c)
{
	c->sorted_ps = malloc(c->nps * sizeof(*c->ps));
	if (!c->sorted_ps)
		return -ENOMEM;
	memcpy(c->sorted_ps, c->ps, c->nps * sizeof(*c->ps));
	array__sort(c->sorted_ps, c->nps, sizeof(*c->ps), compare_words);
	return 0;
}

static int check_ps(struct check *c, struct error *error)
{
	uint32_t procs = 0;
	int err = go_ps__addresses(c->proc, c->l, &c->ps, &c->nps);

	if (!err)
		err = process__read(c->proc, c->l->gomaxprocs + c->proc->bias, &procs,
				    sizeof(procs));
	if (err == -EPROTO || err == -EFAULT || (!err && (!procs || procs > c->nps)))
		return wrong(error, "its list of ps is invalid");
	for (size_t i = 0; i < procs && !err; i++)
		err = check_p(c, i, error);
	return err ? err : sort_ps(c);
}

static bool is_sane_g(const struct go_g *g)
{
	bool freed = !g->stack_lo && !g->stack_hi;

	if (!g->ok || !is_known_status(g->status) || g->wait_reason >= REASONS_MAX ||
	    (!freed && !is_sane_stack(g->stack_lo, g->stack_hi)) || g->goid >= ARCH_USER_MAX ||
	    g->parent >= ARCH_USER_MAX || g->startpc >= ARCH_USER_MAX)
		return false;
	return g->status != GS_WAITING || (g->goid && g->sp >= g->stack_lo && g->sp <= g->stack_hi);
}

static int check_g(struct check *c, uint64_t addr, struct go_g *g, struct error *error)
{
	int err = 0;

	for (int i = 0; i < M_TRIES && !err && !is_sane_g(g); i++)
		err = go_gs__read(c->proc, c->l, &addr, 1, g);
	if (err)
		return err;
	if (!is_sane_g(g))
		return wrong(error,
			     "the goroutine at %#llx is invalid (id %llu, status %u, "
			     "stack %#llx to %#llx, sp %#llx)",
			     HEX(addr), HEX(g->goid), g->status, HEX(g->stack_lo), HEX(g->stack_hi),
			     HEX(g->sp));
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

/* Ids are never reused, so no two Gs have the same one, even if read at different times. */
static int check_goids(struct check *c, struct error *error)
{
	/*
	 * Some of the runtime's always wait; only goroutines of callbacks from C lack a start
	 * function.
	 */
	if (c->waiting && !c->started)
		return wrong(error, "none of %zu goroutines that wait has a start function",
			     c->waiting);
	array__sort(c->goids, c->ngoids, sizeof(*c->goids), compare_words);
	for (size_t i = 1; i < c->ngoids; i++) {
		if (c->goids[i] == c->goids[i - 1])
			return wrong(error, "two goroutines have the id %llu", HEX(c->goids[i]));
	}
	if (2 * c->odd_frames > c->frames)
		return wrong(error, "%zu of %zu frame pointers point outside their stacks",
			     c->odd_frames, c->frames);
	return 0;
}

static int check_batch(struct check *c, const uint64_t *addr, size_t n, struct error *error)
{
	struct go_g g[BATCH];
	int err = go_gs__read(c->proc, c->l, addr, n, g);

	for (size_t i = 0; i < n && !err; i++)
		err = check_g(c, addr[i], &g[i], error);
	return err;
}

/* Wrong offsets affect all: of a million goroutines a sample suffices, in a tenth of the time. */
static int check_gs(struct check *c, struct error *error)
{
	uint64_t *addr = NULL;
	size_t n = 0, batches, step = 1;
	int err = go_gs__addresses(c->proc, c->l, &addr, &n);

	if (err == -EPROTO && n > GS_MAX)
		err = wrong(error,
			    "its list of goroutines has %zu entries, which exceeds the limit of %u",
			    n, GS_MAX);
	else if (err == -EPROTO || err == -EFAULT || (!err && !n))
		err = wrong(error, "its list of goroutines is invalid");
	batches = (n + BATCH - 1) / BATCH;
	if (batches > GS_CHECKED / BATCH)
		step = (batches + GS_CHECKED / BATCH - 1) / (GS_CHECKED / BATCH);
	if (!err) {
		c->goids = malloc((batches / step + 1) * BATCH * sizeof(*c->goids));
		err = c->goids ? 0 : -ENOMEM;
	}
	for (size_t at = 0; at < n && !err; at += step * BATCH)
		err = check_batch(c, addr + at, n - at < BATCH ? n - at : BATCH, error);
	free(addr);
	return err ? err : check_goids(c, error);
}

static int check_all(const struct process *proc, const struct layout *layout, struct error *error)
{
	struct check c = { .proc = proc, .l = layout };
	int err;

	process__begin_reading(proc);
	err = check_ps(&c, error);
	if (!err)
		err = check_ms(&c, error);
	if (!err)
		err = check_owners(&c, error);
	if (!err)
		err = check_gs(&c, error);
	free(c.ps);
	free(c.sorted_ps);
	free(c.ms);
	free(c.goids);
	return err;
}

struct checking {
	const struct process *proc;
	const struct layout *layout;
	struct error why;
};

static int check_repeatedly(void *ctx)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	struct checking *c = ctx;
	int err = -EPROTO;

	for (int i = 0; i < TRIES && err == -EPROTO; i++) {
		if (i)
			nanosleep(&moment, NULL);
		c->why.text[0] = 0;
		err = check_all(c->proc, c->layout, &c->why);
	}
	return err;
}

int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *error)
{
	struct checking c = { .proc = proc, .layout = layout };
	int err = reader__run(check_repeatedly, &c, sizeof(c), NULL, NULL);

	if (!err)
		return 0;
	if (!process__alive(proc))
		return error__set(error, -ESRCH, "process %d ended", proc->pid);
	if (err == -EPERM)
		return error__set(error, err,
				  "no permission to read the memory of process %d: run as "
				  "root, or with CAP_SYS_PTRACE",
				  proc->pid);
	if (err == -ETIMEDOUT || err == -EINTR)
		return reader__blocked(err, proc->pid, error);
	return error__set(error, err, "%s", c.why.text[0] ? c.why.text : "cannot read the process");
}

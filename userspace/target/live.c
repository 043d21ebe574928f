// SPDX-License-Identifier: GPL-2.0
/*
 * The live checks: are the runtime's structs in this process where the layout says they are?
 *
 * Last step of target analysis, before the first record. Pointers that must lead back to where they
 * came from, and thread ids that the kernel knows, cannot agree by chance: wrong offsets are found
 * here, and not as nonsense in a trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "target/process.h"
#include "target/snapshot_read.h"

#define TRIES 3
#define STACK_MAX (4ull << 30)	/* g0 of a cgo program may have what ulimit -s allows */
#define BATCH 1024
#define WRONG "the Go runtime's structures are not where the program's DWARF says: "

static bool is_sane_stack(uint64_t lo, uint64_t hi)
{
	return lo < hi && hi - lo <= STACK_MAX;
}

static bool is_known_status(uint32_t status)
{
	return status <= GS_DEADEXTRA && status != 5 && status != 7;
}

static int check_m(const struct process *proc, const struct layout *l, uint64_t addr,
		   const struct go_m *m, struct error *err)
{
	struct go_g g0;
	struct go_p p;
	int r;

	if (!process__host_tid(proc, m->procid))
		return error__set(err, -EPROTO, WRONG "the m at %#llx names %llu as its thread",
				  (unsigned long long)addr, (unsigned long long)m->procid);
	r = go_gs__read(proc, l, &m->g0, 1, &g0);
	if (r)
		return r;
	if (!g0.ok || g0.m != addr)
		return error__set(err, -EPROTO, WRONG "m.g0.m is not m at %#llx",
				  (unsigned long long)addr);
	if (!is_sane_stack(g0.stack_lo, g0.stack_hi))
		return error__set(err, -EPROTO, WRONG "m.g0 of %#llx has a stack %#llx to %#llx",
				  (unsigned long long)addr, (unsigned long long)g0.stack_lo,
				  (unsigned long long)g0.stack_hi);
	if (m->p && (go_p__read(proc, l, m->p, &p) || p.m != addr || p.id >= PS_MAX))
		return error__set(err, -EPROTO, WRONG "m.p.m is not m at %#llx",
				  (unsigned long long)addr);
	return 0;
}

static int check_ms(const struct process *proc, const struct layout *l, struct error *err)
{
	size_t n, checked = 0;
	struct go_m m;
	uint64_t at;
	int r = process__read(proc, l->allm + proc->bias, &at, sizeof(at));

	for (n = 0; at && !r && n < MS_MAX; n++) {
		r = go_m__read(proc, l, at, &m);
		if (r)
			return error__set(err, r == -EFAULT ? -EPROTO : r,
					  WRONG "no m is readable at %#llx",
					  (unsigned long long)at);
		if (m.procid) {		/* 0: its thread is not there yet, or is C's */
			r = check_m(proc, l, at, &m, err);
			checked++;
		}
		at = m.alllink;
	}
	if (!r && (!checked || n == MS_MAX))
		r = error__set(err, -EPROTO, WRONG "its list of ms makes no sense");
	return r;
}

static int check_gs(const struct process *proc, const struct layout *l, struct error *err)
{
	uint64_t *addr = NULL;
	struct go_g g[BATCH];
	size_t n = 0;
	int r = go_gs__addresses(proc, l, &addr, &n);

	if (r == -EPROTO || r == -EFAULT || (!r && !n))
		r = error__set(err, -EPROTO, WRONG "its list of goroutines makes no sense");
	for (size_t at = 0; at < n && !r; at += BATCH) {
		size_t batch = n - at < BATCH ? n - at : BATCH;

		r = go_gs__read(proc, l, addr + at, batch, g);
		for (size_t i = 0; i < batch && !r; i++) {
			bool freed = !g[i].stack_lo && !g[i].stack_hi;

			if (!g[i].ok || !is_known_status(g[i].status) ||
			    (!freed && !is_sane_stack(g[i].stack_lo, g[i].stack_hi)))
				r = error__set(err, -EPROTO, WRONG "the goroutine at %#llx makes "
					       "no sense", (unsigned long long)addr[at + i]);
		}
	}
	free(addr);
	return r;
}

int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *err)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	struct error why;
	int r = -EPROTO;

	for (int i = 0; i < TRIES && r == -EPROTO; i++) {
		if (i)
			nanosleep(&moment, NULL);
		why.text[0] = 0;
		r = check_ms(proc, layout, &why);
		if (!r)
			r = check_gs(proc, layout, &why);
	}
	if (!r)
		return 0;
	if (!process__alive(proc))
		return error__set(err, -ESRCH, "process %d ended", proc->pid);
	if (r == -EPERM)
		return error__set(err, r, "no permission to read the memory of process %d: run as "
				  "root, or with CAP_SYS_PTRACE", proc->pid);
	return error__set(err, r, "%s", why.text[0] ? why.text : "cannot read the process");
}

// SPDX-License-Identifier: GPL-2.0
/* See inline_probes.h: what the recorder has of inline probes; the guardian has the rest. */
#include "inline/inline_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inline/areas.h"
#include "inline/choose.h"
#include "inline/guardian.h"
#include "inline/inline_clock.h"
#include "inline/inline_rings.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/map.h"

#define START_FUNCTION "runtime.rt0_go"
#define NAMES_NS       1000000000ull /* in which numbers of threads are looked up only so often: */
#define LOOKUPS_MAX    20000
#define UNSEEN_MAX     4096	    /* threads that had ended when their records were read */
#define CHECK_NS       100000000ull /* between comparisons of the code */

struct inline_probes {
	struct inline_opts opts;
	struct installation inst;
	struct guardian guardian;
	struct inline_clock clock;
	struct inline_rings *rings;
	void *area;   /* our mapping of the rings; MAP_FAILED: none */
	int rings_fd; /* the memory itself; -1: none */
	uint64_t which;
	uint64_t allocated;	      /* bits, by ring */
	struct map tids;	      /* host TIDs by those of the process's PID namespace */
	uint64_t listed;	      /* when threads could be looked up again */
	unsigned int lookups, unseen; /* since then; of ended threads, in all */
	uint64_t checked;	      /* when the code was last compared */
	bool is_removed;
};

static void fill_control(struct inline_probes *p)
{
	struct gt_inline *in = &p->inst.in;

	in->config = p->opts.layout->config;
	in->config.stack_depth = p->opts.stack_depth;
	in->m_procid = p->opts.layout->m_procid;
}

/* Their copies of the runtime's functions would need inline probes of their own. */
static int check_plugins(const struct inline_opts *opts, struct error *error)
{
	if (!opts->modules || !opts->modules->n)
		return 0;
	return error__set(error, -ENOTSUP,
			  "process %d has loaded the plugin %s, in which inline probes are not "
			  "supported; record with --probes=uprobe",
			  opts->process->pid, go_module__name(opts->modules->module[0]));
}

int inline_probes__create(struct inline_probes **ret, const struct inline_opts *opts,
			  struct error *error)
{
	struct inline_probes *p = calloc(1, sizeof(*p));
	struct go_func start;
	int err;

	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	p->area = MAP_FAILED;
	p->inst.mem_fd = p->inst.proc_fd = p->rings_fd = -1;
	p->inst.proc = opts->process;
	p->inst.elf = opts->elf;
	fill_control(p);
	err = inline_clock__init(&p->clock, error);
	if (!err)
		err = inline_sites__choose(opts->sites, opts->elf, opts->layout, &p->inst.in,
					   &p->which, error);
	if (!err)
		err = check_plugins(opts, error);
	if (!err)
		err = inline_process__check(opts->process, opts->elf, &p->inst.in, error);
	if (!err && !pclntab__named(opts->pclntab, START_FUNCTION, &start))
		err = error__set(error, -ENOTSUP,
				 "the program has no function " START_FUNCTION
				 ", which inline probes need; record with --probes=uprobe");
	if (!err)
		err = installation__prepare(&p->inst, start.entry, start.end - start.entry, error);
	if (err) {
		inline_probes__close(p);
		return err;
	}
	*ret = p;
	return 0;
}

uint64_t inline_probes__which(const struct inline_probes *p)
{
	return p->which;
}

/*
 * The host's TID of a thread of the process. One that ended before its records were read cannot be
 * looked up; without a PID namespace of its own the process names it as we do.
 */
static uint32_t host_tid(void *ctx, uint64_t procid)
{
	struct inline_probes *p = ctx;
	uint32_t tid = (uint32_t)(uintptr_t)map__get(&p->tids, procid);

	if (tid || !procid || procid > INT_MAX || p->lookups >= LOOKUPS_MAX)
		return tid;
	p->lookups++;
	tid = process__host_tid(p->opts.process, procid);
	if (!tid && !p->opts.process->own_pid_ns && p->unseen < UNSEEN_MAX) {
		p->unseen++;
		tid = (uint32_t)procid;
	}
	if (tid && map__put(&p->tids, procid, (void *)(uintptr_t)tid))
		return 0;
	return tid;
}

int inline_probes__install(struct inline_probes *p, struct error *error)
{
	int err = installation__open(&p->inst, error);

	if (!err)
		err = guardian__start(&p->guardian, &p->inst, error);
	if (!err)
		err = guardian__install(&p->guardian, &p->inst, error);
	if (!err)
		err = areas__open_rings(p->opts.process, &p->inst.in, &p->rings_fd, &p->area,
					error);
	if (err)
		return err;
	memset(p->area, 0, GT_INLINE_SEEN_BYTES); /* allocates it, as allocate_rings() does rings */
	inline_clock__sample(&p->clock);
	err = inline_rings__open(&p->rings, &p->inst.in, p->area, &p->clock, host_tid, p);
	return err ? error__set(error, err, "cannot read the rings: %s", strerror(-err)) : 0;
}

/* If it was killed, starts another one, which restores the code in any case. */
static void keep_guarded(struct inline_probes *p)
{
	struct error why = {};

	if (p->is_removed || !p->guardian.pid || guardian__is_alive(&p->guardian))
		return;
	guardian__stop(&p->guardian);
	if (guardian__start(&p->guardian, &p->inst, &why))
		log__msg("the guardian of the inline probes was killed: %s", why.text);
}

int inline_probes__start(struct inline_probes *p, struct error *error)
{
	int err = guardian__switch(&p->guardian, true);

	if (err == -EPIPE) { /* it was killed */
		keep_guarded(p);
		err = guardian__switch(&p->guardian, true);
	}
	return err ? error__set(error, err, "cannot start the inline probes of process %d: %s",
				p->opts.process->pid, strerror(-err)) :
		     0;
}

bool inline_probes__disturbed(struct inline_probes *p, uint64_t now)
{
	uint64_t at;

	if (p->is_removed)
		return false;
	if (p->rings && inline_rings__is_forged(p->rings)) {
		log__msg(
			"process %d has overwritten the records of its inline probes: the recording "
			"ends; record with --probes=uprobe",
			p->opts.process->pid);
		inline_probes__remove(p);
		return true;
	}
	if (now < p->checked + CHECK_NS)
		return false;
	p->checked = now;
	at = installation__foreign(&p->inst);
	if (!at || !process__is_same(p->opts.process)) /* it may have executed another program */
		return false;
	log__msg("another tracer or a debugger has changed the code of process %d at %#" PRIx64
		 ", where an inline probe is: the recording ends; record with --probes=uprobe",
		 p->opts.process->pid, at);
	inline_probes__remove(p);
	return true;
}

uint64_t inline_probes__now(struct inline_probes *p)
{
	uint64_t now;

	keep_guarded(p);
	inline_clock__sample(&p->clock);
	now = clock__now() -
	      inline_clock__error_ns(&p->clock); /* times of records may be as wrong */
	if (now > p->listed + NAMES_NS) {
		process__begin_reading(p->opts.process);
		p->lookups = 0;
		p->listed = now;
	}
	return now;
}

/*
 * Shared memory is charged to the cgroup of the process that uses it first. So this process allocates
 * each ring that has records; the other rings take no memory.
 */
static void allocate_rings(struct inline_probes *p)
{
	uint64_t stride = p->inst.in.stride;

	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++) {
		if (p->allocated >> i & 1 || !inline_rings__is_used(p->rings, i))
			continue;
		p->allocated |= 1ull << i;
		fallocate(p->rings_fd, 0, (off_t)(GT_INLINE_SEEN_BYTES + i * stride),
			  (off_t)stride);
	}
}

int inline_probes__drain(struct inline_probes *p, uint64_t now, inline_record_fn fn, void *ctx,
			 bool *ret_complete)
{
	int err;

	*ret_complete = true;
	if (!p->rings)
		return 0;
	err = inline_rings__drain(p->rings, now, fn, ctx, ret_complete);
	allocate_rings(p);
	return err;
}

unsigned int inline_probes__fill(const struct inline_probes *p)
{
	return p->rings ? inline_rings__fill(p->rings) : 0;
}

uint64_t inline_probes__lost(struct inline_probes *p, uint64_t lost[GT_KIND_END])
{
	uint64_t own[GT_KIND_END] = {};
	uint64_t sum = p->rings ? inline_rings__lost(p->rings, own) : 0;

	for (unsigned int kind = 0; kind < GT_KIND_END; kind++)
		lost[kind] += own[kind];
	return sum - own[GT_STACK];
}

uint64_t inline_probes__held_ns(const struct inline_probes *p)
{
	return p->inst.held_ns;
}

uint64_t inline_probes__clock_error_ns(const struct inline_probes *p)
{
	return inline_clock__error_ns(&p->clock);
}

uint64_t inline_probes__bytes(const struct inline_probes *p)
{
	return p->inst.in.ring_bytes;
}

void inline_probes__remove(struct inline_probes *p)
{
	struct error why = {};
	int err = -EPIPE;

	if (p->is_removed || !p->guardian.pid)
		return;
	for (int i = 0; i < 2 && err == -EPIPE; i++) { /* it may be killed at any time */
		keep_guarded(p);
		why.text[0] = '\0';
		err = guardian__remove(&p->guardian, &why);
	}
	p->is_removed = true;
	if (err)
		log__msg("the inline probes of process %d are still in its code, but off: %s; "
			 "process %d removes them as soon as that is possible",
			 p->opts.process->pid, why.text, p->guardian.pid);
}

void inline_probes__close(struct inline_probes *p)
{
	if (!p)
		return;
	guardian__stop(&p->guardian); /* removes what is there */
	inline_rings__close(p->rings);
	if (p->area != MAP_FAILED)
		munmap(p->area, p->inst.in.ring_bytes);
	if (p->rings_fd >= 0)
		close(p->rings_fd);
	installation__deinit(&p->inst);
	map__deinit(&p->tids);
	free(p);
}

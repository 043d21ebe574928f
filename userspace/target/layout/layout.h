/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Facts that differ between Go releases: struct offsets, reason texts, stack skips, statuses.
 *
 * Upstream: offsets and addresses of globals from sources that must agree (target/infer/offsets.h),
 * the rest from layout_tables.c by release. Downstream: capture/probes.c (struct gt_config),
 * target/probe/site.c, target/process/snapshot.c, sequence/state.c.
 */
#ifndef TARGET_LAYOUT_H
#define TARGET_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/config.h"
#include "lib/error.h"
#include "target/elf/debug_file.h"
#include "target/elf/elf.h"
#include "target/elf/go_version.h"

struct pclntab;

/*
 * Number of frames that Go's tracer omits at the top, by event: the skip of its traceStack calls,
 * minus the frames that our stacks lack (see layout_tables.c). syscall_block is for
 * GT_SYSCALL_BLOCK.
 */
struct layout_skips {
	uint32_t stop, preempt_park, create, syscall, syscall_block, gc_begin, stw_begin, procs;
	uint32_t task_begin, task_end, region, log;
};

/* Statuses of goroutines in runtime/runtime2.go: the same numbers in 1.19 to 1.26. */
enum go_status {
	GS_IDLE = 0,
	GS_RUNNABLE = 1,
	GS_RUNNING = 2,
	GS_SYSCALL = 3,
	GS_WAITING = 4,
	GS_DEAD = 6,
	GS_COPYSTACK = 8,
	GS_PREEMPTED = 9,
	GS_LEAKED = 10,
	GS_DEADEXTRA = 11,
	GS_SCAN = 0x1000, /* added to the others */
};

struct layout {
	struct go_version version;
	/*
	 * Found in the program, up to `warning`: process/cache.c stores these bytes. Some members of
	 * `config` are those of a recording: capture/probes.c sets them.
	 */
	struct gt_config config;
	/* further offsets, for the snapshot and the live checks */
	uint32_t g_stack_lo, g_stack_hi;
	uint32_t m_g0, m_procid, m_alllink;
	uint32_t p_status, p_m;
	/* link-time addresses of runtime globals */
	uint64_t allglen, allgptr, allp, allm, gomaxprocs;
	char source[800];  /* sources of the offsets and addresses, for display */
	char warning[600]; /* what is less certain than usual about them; empty: nothing */
	/* facts of the release */
	bool exit_is_tentative; /* >= 1.26: GT_SYSCALL_TRY_EXIT */
	bool derives_parks;	/* >= 1.22: a probe sees each change of m.curg without execute */
	bool derives_syscalls;	/* >= 1.23: g.sched has the stack; ends only if exit_is_tentative */
	bool stw_by_caller;	/* <= 1.20: the reason follows from the stack of GT_STW_BEGIN */
	bool assist_begins_again; /* <= 1.21: GT_ASSIST_BEGIN comes once per attempt */
	struct layout_skips skips;
	const char *const *block_reasons; /* indexed by traceBlockReason */
	unsigned int nblock_reasons;
	const char *const *wait_reasons; /* indexed by waitReason */
	unsigned int nwait_reasons;
	const char *const *stw_reasons;
	unsigned int nstw_reasons;
	const char *const *gc_modes; /* GoLabel texts, indexed by gcMarkWorkerMode; [0] is NULL */
	unsigned int ngc_modes;
	uint64_t suspend_g_reasons; /* bit set of wait reasons that mean "running" */
};

/*
 * Only the facts of a release (no offsets), for replay and tests. -ENOTSUP with a reason for a
 * release that is too old; one newer than all known releases gets the facts of the newest one.
 */
int layout__for_version(const struct go_version *version, struct layout *ret, struct error *error);

/*
 * The facts, offsets and addresses of a program; `source` and `warning` describe them. `places` (or
 * NULL) is where to search a separate debug file. Negative errno with a reason: -ENODATA if no
 * source has one of them, -EPROTO if two contradict each other. *ret is not written on failure.
 */
int layout__read(const struct elf_image *elf, const struct pclntab *pt,
		 const struct go_version *version, const struct debug_places *places,
		 struct layout *ret, struct error *error);

/*
 * The text of a reason as Go's tracer writes it; "unspecified" if out of range. `wait` is the
 * goroutine's waitReason, which before 1.22 is more precise than the tracer's reason.
 */
const char *layout__block_reason(const struct layout *l, unsigned int reason, unsigned int wait);
/*
 * The text that Go's tracer writes for a goroutine that parks with this waitReason; of a coroutine, for
 * which it writes none, "coroutine". NULL: unknown.
 */
const char *layout__parked_reason(const struct layout *l, unsigned int wait);
/* The i-th one of these texts that any release has; NULL: there are fewer. */
const char *layout__known_parked_reason(unsigned int i);
/* The i-th reason that any release has; NULL: there are fewer. */
const char *layout__known_block_reason(unsigned int i);
const char *layout__stw_reason(const struct layout *l, unsigned int reason);
/* With stw_by_caller: the reason for which this function stops the world; 0: none. */
unsigned int layout__stw_caller(const char *function);
const char *layout__gc_mode(const struct layout *l, unsigned int mode); /* NULL: no GC worker */

#endif

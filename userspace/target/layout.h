/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ALL facts that differ between Go releases: struct offsets, reason texts, stack skips, statuses.
 *
 * Offsets and the addresses of the runtime's globals come from sources that must agree (see
 * offsets.h), the rest from the tables of layout_tables.c by release. Used by capture/session.c (struct gt_config), target/site.c,
 * target/snapshot.c and sequence/state.c. Nothing else in the tree asks for a Go version.
 */
#ifndef TARGET_LAYOUT_H
#define TARGET_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/session.h"
#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/debug_file.h"
#include "target/elf.h"

struct pclntab;

/*
 * Frames that Go's tracer leaves out at the top, by event: the skip of its traceStack calls, less
 * the frames that our probes' stacks do not have (see layout_tables.c). syscall_block is for
 * GT_SYSCALL_BLOCK.
 */
struct layout_skips {
	uint32_t stop, preempt_park, create, syscall, syscall_block, gc_begin, stw_begin, procs;
	uint32_t task_begin, task_end, region, log;
};

/* Go's own statuses that the snapshot and the probes meet. */
enum go_status { /* runtime/runtime2.go: the same numbers in 1.19 to 1.26 */
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
};

struct layout {
	struct go_version version;
	struct gt_config config; /* tgid, rings and stack_depth are the session's to fill */
	/* further offsets, for the snapshot and the live checks */
	uint32_t g_stack_lo, g_stack_hi, g_atomicstatus;
	uint32_t m_g0, m_procid, m_oldp, m_alllink;
	uint32_t p_status, p_m;
	/* addresses (link time) of runtime globals */
	uint64_t allglen, allgptr, allp, allm, gomaxprocs;
	char source[800];  /* which sources the offsets and addresses come from, for a person */
	char warning[600]; /* what is not as sure as usual about them; empty: nothing */
	/* facts of the release */
	bool exit_is_tentative;	  /* >= 1.26: GT_SYSCALL_TRY_EXIT */
	bool stw_by_caller;	  /* <= 1.20: GT_STW_BEGIN has no reason, but its stack */
	bool assist_begins_again; /* <= 1.21: GT_ASSIST_BEGIN comes once a try */
	struct layout_skips skips;
	const char *const *block_reasons; /* by traceBlockReason */
	unsigned int nblock_reasons;
	const char *const *wait_reasons; /* by waitReason */
	unsigned int nwait_reasons;
	const char *const *stw_reasons;
	unsigned int nstw_reasons;
	const char *const *gc_modes; /* GoLabel texts by gcMarkWorkerMode; [0] is NULL */
	unsigned int ngc_modes;
	uint8_t func_id_wrapper;
	uint64_t suspend_g_reasons; /* set of bits: wait reasons that mean "running" */
};

/*
 * The release's facts alone (no offsets): for replay and tests. Refuses, with the reason, a release
 * that is too old; one that is newer than all known ones gets the newest one's facts.
 */
int layout__for_version(const struct go_version *version, struct layout *ret, struct error *err);

/*
 * The same and the offsets and addresses, of which `source` and `warning` speak. `places` (or NULL)
 * tells where a separate debug file may be. Refuses, with the reason, when no source knows one of
 * them (-ENODATA), or two sources contradict each other (-EPROTO).
 */
int layout__read(const struct elf_image *elf, const struct pclntab *pt,
		 const struct go_version *version, const struct debug_places *places,
		 struct layout *ret, struct error *err);

/*
 * The text of a reason as Go's tracer writes it; "unspecified" for one out of range. `wait` is the
 * goroutine's waitReason, which before 1.22 tells more than the tracer's reason.
 */
const char *layout__block_reason(const struct layout *l, unsigned int reason, unsigned int wait);
const char *layout__stw_reason(const struct layout *l, unsigned int reason);
/* With stw_by_caller: the number of the reason for which this function stops the world; 0: none. */
unsigned int layout__stw_caller(const char *function);
const char *layout__gc_mode(const struct layout *l, unsigned int mode); /* NULL: no worker */

#endif

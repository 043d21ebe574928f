/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of struct members and globals of the runtime whose location is needed, and one source's
 * values for them.
 *
 * Upstream: the program's DWARF (layout/layout_dwarf.c), its machine code (calibrate.c) and the
 * table by release (layout/offsets_table.c, generated). Downstream: target/layout/layout_merge.c
 * compares and merges them for target/layout/layout.c.
 */
#ifndef TARGET_OFFSETS_H
#define TARGET_OFFSETS_H

#include <stdint.h>

/*
 * X(id, struct, member, name before `renamed`, renamed, since): `renamed` and `since` are minor
 * releases, 0: always. Releases before `since` lack the member. runtime.coro is linked only with
 * package iter, the only user of coroutines. Run `make offsets` after a change.
 */
#define OFFSETS(X)                                                                                 \
	X(G_STACK, "runtime.g", "stack", NULL, 0, 0)                                               \
	X(G_M, "runtime.g", "m", NULL, 0, 0)                                                       \
	X(G_SCHED, "runtime.g", "sched", NULL, 0, 0)                                               \
	X(G_GOID, "runtime.g", "goid", NULL, 0, 0)                                                 \
	X(G_ATOMICSTATUS, "runtime.g", "atomicstatus", NULL, 0, 0)                                 \
	X(G_WAITREASON, "runtime.g", "waitreason", NULL, 0, 0)                                     \
	X(G_STARTPC, "runtime.g", "startpc", NULL, 0, 0)                                           \
	X(G_PARENT_GOID, "runtime.g", "parentGoid", NULL, 0, 21)                                   \
	X(G_COROARG, "runtime.g", "coroarg", NULL, 0, 23)                                          \
	X(G_COROEXIT, "runtime.g", "coroexit", NULL, 0, 23)                                        \
	X(G_SYNC_SAFE_POINT, "runtime.g", "syncSafePoint", NULL, 0, 25)                            \
	X(GOBUF_SP, "runtime.gobuf", "sp", NULL, 0, 0)                                             \
	X(GOBUF_PC, "runtime.gobuf", "pc", NULL, 0, 0)                                             \
	X(GOBUF_BP, "runtime.gobuf", "bp", NULL, 0, 0)                                             \
	X(STACK_LO, "runtime.stack", "lo", NULL, 0, 0)                                             \
	X(STACK_HI, "runtime.stack", "hi", NULL, 0, 0)                                             \
	X(M_G0, "runtime.m", "g0", NULL, 0, 0)                                                     \
	X(M_PROCID, "runtime.m", "procid", NULL, 0, 0)                                             \
	X(M_CURG, "runtime.m", "curg", NULL, 0, 0)                                                 \
	X(M_P, "runtime.m", "p", NULL, 0, 0)                                                       \
	X(M_OLDP, "runtime.m", "oldp", NULL, 0, 0)                                                 \
	X(M_ALLLINK, "runtime.m", "alllink", NULL, 0, 0)                                           \
	X(M_BLOCK_REASON, "runtime.m", "waitTraceBlockReason", "waittraceev", 21, 0)               \
	X(M_SKIP, "runtime.m", "waitTraceSkip", "waittraceskip", 21, 0)                            \
	X(P_ID, "runtime.p", "id", NULL, 0, 0)                                                     \
	X(P_STATUS, "runtime.p", "status", NULL, 0, 0)                                             \
	X(P_M, "runtime.p", "m", NULL, 0, 0)                                                       \
	X(P_GC_MODE, "runtime.p", "gcMarkWorkerMode", NULL, 0, 0)                                  \
	X(CORO_GP, "runtime.coro", "gp", NULL, 0, 23)

#define OFFSET_ID(id, ...) OFF_##id,
enum offset_id { OFFSETS(OFFSET_ID) OFF_COUNT };
#undef OFFSET_ID

/* The list as an array; defined in calibrate.c. */
struct offset_member {
	const char *type, *name, *old_name;
	unsigned int renamed, since;
};
extern const struct offset_member offset_members[OFF_COUNT];

#define OFFSET_UNKNOWN	    0xfffffffeu /* this source has no value */
#define OFFSET_ABSENT	    0xffffffffu /* the release has no such member; = GT_NO_OFFSET */

/* runtime.<name>: link-time addresses; 0: this source has none. */
#define GLOBALS(X)	    X(allgs) X(allglen) X(allgptr) X(allp) X(allm) X(gomaxprocs)

#define GLOBAL_MEMBER(name) uint64_t name;
struct offsets {
	uint32_t at[OFF_COUNT]; /* bytes from the start of the struct, or one of the two above */
	struct {
		GLOBALS(GLOBAL_MEMBER)
	} global;
};
#undef GLOBAL_MEMBER

#endif

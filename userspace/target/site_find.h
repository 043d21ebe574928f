/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding the instruction of a given kind in a function's code: between target/site.c (which says
 * what is wanted) and target/site_insn.c (which decodes).
 */
#ifndef TARGET_SITE_FIND_H
#define TARGET_SITE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/site_insn.h"

#define NO_INSN SIZE_MAX

/*
 * The `push rbp` of the prologue: once a call, behind the stack check, arguments untouched. Up to
 * 1.20, which has none, the stack check's jump: only for what runs on g0.
 * NO_INSN: the prologue is not one that is known to be safe.
 */
size_t find__entry(const struct code *code);

/* The next direct call of `target` from instruction `from` on. */
size_t find__call(const struct code *code, uint64_t target, size_t from);

/*
 * Where the registers of the set `results` still are what the call at `call` returned: an emulated
 * instruction if one comes before they are written and control branches, else the very next.
 */
size_t find__after_call(const struct code *code, size_t call, uint32_t results);

/*
 * The test "is the tracer on" before the call of a tracer function at `call`: the conditional jump
 * around a call of `acquire` (runtime.traceAcquireEnabled). It runs with the tracer on or off.
 */
size_t find__trace_test(const struct code *code, size_t call, uint64_t acquire);

/*
 * The branch around the call of a tracer function at `call`, before Go 1.22: of several that jump
 * to the same place, for further conditions, the first, which is passed with the tracer on or off.
 * `over_calls`: others may be called before it.
 */
size_t find__guard(const struct code *code, size_t call, bool over_calls);

/*
 * Behind the next `lock xadd` from `from` on whose old value is added to what it added: the branch
 * that comes before the sum is overwritten, and before all else that branches. Its register is in
 * *ret_sum.
 */
size_t find__added(const struct code *code, size_t from, enum gpr *ret_sum);

/* The next `lock cmpxchg` of `width` bytes at [register + disp] from `from` on; disp -1: any. */
size_t find__cas(const struct code *code, int64_t disp, unsigned int width, size_t from);

/*
 * Where it shows whether the compare-and-swap at `cas` took place, and the registers of its operands
 * and AX hold what they held: the branch on its result, or the instruction right behind it.
 * `ret_zero_flag`: the zero flag there if it did.
 */
size_t find__cas_done(const struct code *code, size_t cas, bool *ret_zero_flag);

/*
 * Before the compare-and-swap at `cas`, on which the kernel sets no breakpoint (no locked instruction
 * can be stepped): an instruction that all pass who come to it, and where its source register holds
 * what it will hold there. An emulated one, else the nearest; both may be passed again in each round
 * of the swap's loop. NO_INSN: there is none.
 */
size_t find__before_cas(const struct code *code, size_t cas);

/* The next store of zero, 8 bytes, at [register + disp] from `from` on. */
size_t find__cleared(const struct code *code, int64_t disp, size_t from);

/* The constant in a register at instruction `at`, as far as it is set close before it. */
bool find__constant(const struct code *code, size_t at, enum gpr reg, int64_t *ret);

/*
 * Is a constant stored at [register + disp] shortly before the call or compare-and-swap at `at`,
 * after the last return, compare-and-swap, and call of the same function?
 */
bool find__stored(const struct code *code, size_t at, int64_t disp, int64_t value);

#endif

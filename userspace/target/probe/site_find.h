/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the instruction of a given kind in a function's code.
 *
 * Upstream: target/probe/code.c, which decodes. Downstream: target/probe/site.c, which states what
 * to find. All results are indices of instructions, or NO_INSN.
 */
#ifndef TARGET_SITE_FIND_H
#define TARGET_SITE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/probe/code.h"

#define NO_INSN SIZE_MAX

/* Whether a jump of the function leads to the instruction at `addr`. */
bool code__is_jumped_to(const struct code *code, uint64_t addr);

/* Whether the function ends at the instruction: a return, or a jump out of it. */
bool code__is_exit(const struct code *code, const struct insn *in);

/*
 * The instruction of the prologue that is executed once per call, after the stack check, with the
 * arguments still in their registers. Go up to 1.20 has none: there the jump of the stack check,
 * which functions on g0 execute once; others execute it again if it jumps (entry__repeats() in bpf/
 * detects that). NO_INSN: not a prologue known to be safe.
 */
size_t find__entry(const struct code *code);

/* The next direct call of `target`, from instruction `from` on. */
size_t find__call(const struct code *code, uint64_t target, size_t from);

/*
 * An instruction where the registers of the set `results` still contain the results of the call at
 * `call`: an emulated one if it precedes branches and writes to them, else the very next.
 */
size_t find__after_call(const struct code *code, size_t call, uint32_t results);

/*
 * The test whether the tracer is on, before the call of a tracer function at `call`: the
 * conditional jump around a call of `acquire` (runtime.traceAcquireEnabled). Always executed.
 */
size_t find__trace_test(const struct code *code, size_t call, uint64_t acquire);

/*
 * The branch around the call of a tracer function at `call`, before Go 1.22. If several jump to the
 * same target, for further conditions, the first one, which is executed with the tracer on or off.
 * `over_calls`: other calls may come before it.
 */
size_t find__guard(const struct code *code, size_t call, bool over_calls);

/*
 * After the next `lock xadd` from `from` on whose old value and addend are summed: the branch that
 * comes before the sum is overwritten, and before any other branch. *ret_sum: the sum's register.
 */
size_t find__added(const struct code *code, size_t from, enum gpr *ret_sum);
/* The address of the counter whose sum is used at `at`, a result of find__added(); 0: unknown. */
uint64_t find__counter(const struct code *code, size_t at);

/* The next `lock cmpxchg` of `width` bytes at [register + disp], from `from` on; disp -1: any. */
size_t find__cas(const struct code *code, int64_t disp, unsigned int width, size_t from);

/*
 * Where the result of the compare-and-swap at `cas` is known and the registers of its operands are
 * unchanged: the branch on its result, or the next instruction. *ret_zero_flag: zero flag if
 * swapped.
 */
size_t find__cas_done(const struct code *code, size_t cas, bool *ret_zero_flag);

/*
 * An instruction on every path to the compare-and-swap at `cas` where its source register already
 * has its value; the kernel sets no breakpoint on the swap itself (locked instructions cannot be
 * stepped). An emulated one, else the nearest; it may be in the swap's loop.
 */
size_t find__before_cas(const struct code *code, size_t cas);

/* The next store of zero, 8 bytes, at [register + disp], from `from` on. */
size_t find__cleared(const struct code *code, int64_t disp, size_t from);

/* The constant in a register at instruction `at`, if it is set shortly before. */
bool find__constant(const struct code *code, size_t at, enum gpr reg, int64_t *ret);

/*
 * Whether a constant is stored at [register + disp] shortly before the call or compare-and-swap at
 * `at`, after the last return, compare-and-swap, and call of the same function.
 */
bool find__stored(const struct code *code, size_t at, int64_t disp, int64_t value);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface of symbolizers: return addresses to frames with function, file:line and inlining.
 *
 * Upstream: target/symbols/pclntab.c (the program itself), target/process/csymbols.c (C code) and
 * rawfile/rawfile.c (the frames in a raw file, so that a replay needs no program). Downstream:
 * sequence/stacks.c, once per PC.
 */
#ifndef TARGET_SYMBOLIZE_H
#define TARGET_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

struct sym_frame {
	uint64_t pc;	  /* of the call, as in traces; inlined frames differ */
	const char *func; /* owned by the symbolizer, valid as long as it */
	const char *file;
	uint32_t line;
	uint32_t wrapper; /* 1: a compiler-made wrapper (funcID_wrapper) */
	uint32_t elides;  /* 1: a wrapper that called this function is shown (gopanic…) */
	uint32_t pushed;  /* enum sym_pushed, of the innermost frame */
};

/* What the function has pushed on the stack at the PC. */
enum sym_pushed {
	SYM_PUSHED_FRAME = 0, /* also if unknown */
	SYM_PUSHED_NOTHING = 1,
	SYM_PUSHED_WORD = 2, /* the frame pointer register may still be the caller's */
};

#define SYM_INLINE_MAX 64

struct symbolizer {
	void *ctx;
	/*
	 * Writes the logical frames of the call that returns to `pc`, innermost first, at most
	 * SYM_INLINE_MAX. Returns their number; 0: not a PC of the program.
	 */
	int (*frames)(void *ctx, uint64_t pc, struct sym_frame *frames);
	/*
	 * Writes the frame that names a goroutine with this start PC: the function itself, the one
	 * that a compiler-made `gowrap` calls, or main.main, which runtime.main calls. Returns 1, or 0
	 * if unknown.
	 */
	int (*start)(void *ctx, uint64_t startpc, struct sym_frame *frame);
};

#endif

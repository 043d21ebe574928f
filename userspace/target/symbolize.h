/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return addresses to the runtime's own frames: functions, file:line, inlining.
 *
 * An interface with two makers: target/pclntab.c (the program itself) and capture/rawfile.c (the
 * frames that a raw file carries, so that a replay needs no program). Used by
 * sequence/stacks.c, once a PC.
 */
#ifndef TARGET_SYMBOLIZE_H
#define TARGET_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

struct sym_frame {
	uint64_t pc;	  /* of the call, distinct for inlined frames: as traces have it */
	const char *func; /* owned by the symbolizer, valid as long as it lives */
	const char *file;
	uint32_t line;
	uint32_t wrapper; /* 1: a compiler-made wrapper (funcID_wrapper) */
	uint32_t elides;  /* 1: a wrapper that called this function is to be shown (gopanic…) */
	uint32_t pushed;  /* enum sym_pushed, of the innermost frame */
};

enum sym_pushed {			/* what its function has on the stack, there */
		  SYM_PUSHED_FRAME = 0, /* or it is not known */
		  SYM_PUSHED_NOTHING = 1,
		  SYM_PUSHED_WORD = 2, /* the frame pointer, which may still be the caller's */
};

#define SYM_INLINE_MAX 64

struct symbolizer {
	void *ctx;
	/*
	 * The logical frames of the call that returns to `pc`, innermost first; at most
	 * SYM_INLINE_MAX into `frames`. Returns their number; 0: not a PC of the program.
	 */
	int (*frames)(void *ctx, uint64_t pc, struct sym_frame *frames);
	/*
	 * The frame by which a goroutine that starts at `startpc` is named: the function itself,
	 * or the one that a compiler-made `gowrap` calls. Returns 1, or 0: unknown.
	 */
	int (*start)(void *ctx, uint64_t startpc, struct sym_frame *frame);
};

#endif

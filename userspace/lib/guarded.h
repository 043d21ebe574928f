/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call into a library that a hostile file may crash or hang: made in a child process.
 *
 * Used by target/layout_dwarf.c for libdw. What the child makes of its memory is its own affair;
 * what comes back is a result of fixed size, and the reason if there is none.
 */
#ifndef LIB_GUARDED_H
#define LIB_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct guarded_limits {
	unsigned int cpu_seconds;
	unsigned int seconds; /* by the clock */
	uint64_t memory;      /* bytes of address space; without effect with sanitizers */
};

/* Fills `result`; 0, or a negative errno and the reason. */
typedef int (*guarded_fn)(void *ctx, void *result, struct error *err);

/*
 * Calls `fn` in a child with these limits. Returns what it returned, with its reason, and
 * `ret_result` of `size` bytes when that is 0. -ENOTRECOVERABLE and what happened ("crashed
 * (Segmentation fault)", "did not end within 60 s"): it did not come back. -EAGAIN, -EMFILE, ...:
 * there is no child to be had. One thread calls this; the child must not use what threads share,
 * and can open no files.
 */
int guarded__run(guarded_fn fn, void *ctx, const struct guarded_limits *limits, void *ret_result,
		 size_t size, struct error *err);

#endif

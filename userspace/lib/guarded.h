/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls a library in a child process, because a hostile file may make it crash or hang.
 *
 * target/layout/layout_dwarf.c uses it for libdw, ship/facts.c for traces. Whatever the child does to its memory has no
 * effect here: only a result of fixed size, or the reason for its absence, comes back.
 */
#ifndef LIB_GUARDED_H
#define LIB_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct guarded_limits {
	unsigned int cpu_seconds;
	unsigned int seconds; /* wall-clock time */
	uint64_t memory;      /* bytes of address space; ignored with sanitizers */
};

/* Fill `result`. 0, or a negative errno and the reason. */
typedef int (*guarded_fn)(void *ctx, void *result, struct error *error);

/*
 * Call `fn` in a child with these limits. Returns what `fn` returned, with its reason, or with
 * `ret_result` of `size` bytes if that is 0. -ENOTRECOVERABLE and the reason ("crashed
 * (Segmentation fault)", "did not end within 60 s") if it did not return; -EAGAIN, -EMFILE, ... if
 * no child could be created. For one thread at a time; the child must not use what threads share,
 * and cannot open files.
 */
int guarded__run(guarded_fn fn, void *ctx, const struct guarded_limits *limits, void *ret_result,
		 size_t size, struct error *error);

#endif

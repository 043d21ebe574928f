/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The areas of inline probes in a process: their size and place, and finding those of an earlier
 * recording. The process may have forged them. Upstream: install.c.
 */
#ifndef INLINE_AREAS_H
#define INLINE_AREAS_H

#include <stdbool.h>

#include "gotrace/inline.h"
#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/process/process.h"

#define AREA_PAGE  4096
#define AREA_SLOTS 131072 /* of a ring: 8 MiB, which the fastest thread fills in 25 ms */

/* Sets the magic and all sizes. */
void areas__shape(struct gt_inline *in);

/* Chooses free addresses for code and flag from which the program's code can be reached. */
int areas__place(const struct process *proc, const struct elf_image *elf, struct gt_inline *in,
		 struct error *error);

/* What an earlier recording has left. 0, -ENOENT, or another negative errno. */
int areas__find(const struct process *proc, int mem_fd, struct gt_inline *ret);
bool areas__are_patched(int mem_fd, const struct gt_inline *left); /* a site has our jump */
/* Whether they have our handler and the sizes of `in`, so that they can be used again. */
bool areas__fit(int mem_fd, const struct gt_inline *left, const struct gt_inline *in);
/* Whether the process still has what install.c wrote. */
bool areas__are_ours(int mem_fd, const struct gt_inline *in);

/*
 * Opens and maps the rings of the process; the caller closes and unmaps. 0, or a negative errno with
 * a reason: they are not memory that only this process shares.
 */
int areas__open_rings(const struct process *proc, const struct gt_inline *in, int *ret_fd,
		      void **ret, struct error *error);

#endif

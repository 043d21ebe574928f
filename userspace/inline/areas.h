/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The areas of inline probes in a process: their size and place. Upstream: install.c.
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

/* Whether the process still has what install.c wrote. */
bool areas__are_ours(int mem_fd, const struct gt_inline *in);

/*
 * Opens and maps the rings of the process; the caller closes and unmaps. 0, or a negative errno with
 * a reason: they are not memory that only this process shares.
 */
int areas__open_rings(const struct process *proc, const struct gt_inline *in, int *ret_fd,
		      void **ret, struct error *error);

#endif

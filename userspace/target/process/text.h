/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks that the program's code in memory is that of its file at the probe sites.
 *
 * Upstream: target/probe/site.c. Downstream: capture/probes.c. A debugger's breakpoint is an int3
 * in the process's copy of a page. A uprobe on the same instruction would intercept the debugger's
 * hits, and whichever is removed first leaves the other's int3 behind, or none: the process could
 * die.
 */
#ifndef TARGET_TEXT_H
#define TARGET_TEXT_H

#include "lib/error.h"

struct elf_image;
struct process;
struct site_list;

/*
 * 0, -EBUSY (a debugger's breakpoint) or -EPROTO (other code than in the file) with a reason.
 * Breakpoints of other uprobes are accepted: the kernel shares them.
 */
int text__check(const struct process *proc, const struct elf_image *elf,
		const struct site_list *sites, struct error *error);

#endif

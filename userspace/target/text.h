/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the program's code in memory that of its file, where it is to be probed?
 *
 * A debugger's breakpoint is an int3 in the process's copy of a page. A uprobe on the same instruction
 * would take its hits away from the debugger, and whoever of the two goes first leaves the other's
 * int3, or none, behind: the process could die of a trap that nobody knows. Before: target/site.c.
 * After: capture/session.c.
 */
#ifndef TARGET_TEXT_H
#define TARGET_TEXT_H

#include "lib/error.h"

struct elf_image;
struct process;
struct site_list;

/*
 * 0, or -EBUSY (a debugger's breakpoint) or -EPROTO (other code than the file's) and the reason.
 * Breakpoints of other uprobes are let be: the kernel shares them.
 */
int text__check(const struct process *proc, const struct elf_image *elf,
		const struct site_list *sites, struct error *err);

#endif

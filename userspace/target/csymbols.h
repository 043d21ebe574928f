/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names for PCs outside of Go's text: C code of cgo programs, shared objects, the vdso.
 *
 * A symbolizer around target/pclntab.c's: what that one does not know is looked up here. Used by
 * capture/recorder.c for the process that it records; the files are those that the process has
 * mapped, so they are read as hostile ones: functions from symbol tables by target/elf.c, lines by
 * libdw in a child process that may crash (csymbols_line.c).
 */
#ifndef TARGET_CSYMBOLS_H
#define TARGET_CSYMBOLS_H

#include "lib/error.h"
#include "target/symbolize.h"

struct csymbols;
struct process;

/* `go` is asked first; its ctx must outlive this. NULL: no memory. */
struct csymbols *csymbols__create(const struct symbolizer *go);
void csymbols__destroy(struct csymbols *c);

/*
 * Opens the files that the process has mapped to execute, while there is the right to. Nothing of
 * them is read before a PC asks for it. Those that cannot be opened give their name to their PCs.
 * Without `c` nothing is done.
 */
void csymbols__add_modules(struct csymbols *c, const struct process *proc);

/*
 * One frame a PC: the function, with file:line where there is DWARF, else with the module's path and
 * line 0; "[libc.so.6]" where no function is known. Nothing for a PC in no file.
 */
void csymbols__symbolizer(struct csymbols *c, struct symbolizer *ret);

#endif

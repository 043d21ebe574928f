/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names for PCs outside of Go's text: C code of cgo programs, shared objects, the vdso.
 *
 * Upstream: target/symbols/pclntab.c's symbolizer, which it wraps: PCs unknown to that are looked
 * up here. Downstream: capture/recorder.c, for the recorded process. The files mapped by the
 * process are treated as hostile: functions come from symbol tables by target/elf/elf.c, lines from
 * libdw in a child process that may crash (csymbols_line.c).
 */
#ifndef TARGET_CSYMBOLS_H
#define TARGET_CSYMBOLS_H

#include "lib/error.h"
#include "target/symbols/symbolize.h"

struct csymbols;
struct process;

/* `go` is tried first; its ctx must outlive this. NULL: no memory. */
struct csymbols *csymbols__create(const struct symbolizer *go);
void csymbols__destroy(struct csymbols *c);

/*
 * Opens the files that the process has mapped executable, while privileges allow it. They are not
 * read until a PC needs them. Others have only a name. `c` may be NULL.
 */
void csymbols__add_modules(struct csymbols *c, const struct process *proc);

/*
 * Returns one frame per PC: the function with file:line if there is DWARF, else with the module's
 * path and line 0; "[libc.so.6]" if the function is unknown; none for a PC outside of files.
 */
void csymbols__symbolizer(struct csymbols *c, struct symbolizer *ret);

#endif

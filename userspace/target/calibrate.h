/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets and addresses of globals from the machine code of the program's own runtime.
 *
 * One of the three sources of target/layout.c, and the only one that a stripped program of an
 * unknown release has. Needs nothing but gopclntab. Looks at some 30 functions of the runtime whose
 * sources do the same in Go 1.19 to 1.27, for what can mean only one thing, and never guesses.
 */
#ifndef TARGET_CALIBRATE_H
#define TARGET_CALIBRATE_H

#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/offsets.h"
#include "target/pclntab.h"

/*
 * Fills `ret`: OFFSET_UNKNOWN (0 for a global) where the code does not say, or says two different
 * things; OFFSET_ABSENT for members that the release does not have yet. A program without
 * coroutines has no code that uses G_COROARG, G_COROEXIT and CORO_GP, which stay unknown then.
 * Negative errno with the reason: not a single function of the runtime could be read.
 */
int calibrate__read(const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_version *version, struct offsets *ret, struct error *err);

/* "27 of 28 members, 6 of 6 globals; not g.coroarg": for people. Absent ones do not count. */
void calibrate__describe(const struct offsets *o, char *ret, size_t size);

#endif

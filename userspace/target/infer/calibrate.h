/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets and addresses of globals from the machine code of the program's own runtime.
 *
 * Upstream: target/symbols/pclntab.c, which is all it needs. Downstream: target/layout/layout.c;
 * for a stripped program of an unknown release it is the only source. Analyzes some 40 functions of
 * the runtime whose sources are equivalent in Go 1.19 to 1.27, and uses only unambiguous code.
 */
#ifndef TARGET_CALIBRATE_H
#define TARGET_CALIBRATE_H

#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/elf/go_version.h"
#include "target/infer/offsets.h"
#include "target/symbols/pclntab.h"

/*
 * Writes to *ret: OFFSET_UNKNOWN (0 for a global) where the code does not show a value or is
 * contradictory; OFFSET_ABSENT for members that the release does not have yet. A program without
 * coroutines has no code that uses G_COROARG, G_COROEXIT and CORO_GP; these are unknown then.
 * Negative errno with a reason if no function of the runtime could be read.
 */
int calibrate__read(const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_version *version, struct offsets *ret, struct error *error);

#endif

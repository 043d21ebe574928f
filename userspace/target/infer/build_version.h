/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The release of a Go program without build information, and unsupported Go compilers.
 *
 * Downstream: target/infer/buildinfo.c only. Some projects remove the section .go.buildinfo
 * (esbuild does), and some build systems never write it. The runtime has its own copy of the
 * release, which the linker stores for runtime.Version().
 */
#ifndef TARGET_BUILD_VERSION_H
#define TARGET_BUILD_VERSION_H

#include "lib/error.h"
#include "target/elf/elf.h"

struct go_version;

/*
 * Reads the value of runtime.buildVersion. Negative errno with a reason: -ENOENT if the program has
 * no Go function table, -ENODATA if it is a Go program but its release was not found.
 */
int build_version__find(const struct elf_image *elf, struct go_version *ret, struct error *error);

/* "gccgo" or "TinyGo" if one of these built the program, else NULL. */
const char *build_version__other_compiler(const struct elf_image *elf);

#endif

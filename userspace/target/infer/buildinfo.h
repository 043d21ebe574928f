/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's build information: the release and the settings that built the program.
 *
 * Upstream: target/elf/elf.c. Downstream: all later steps of target analysis. Format: Go's
 * debug/buildinfo (both the pointer form and the inline form, since 1.18).
 */
#ifndef TARGET_BUILDINFO_H
#define TARGET_BUILDINFO_H

#include <stdbool.h>

#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/elf/go_version.h"

struct go_buildinfo {
	struct go_version version;
	char path[256]; /* import path of the main package */
	bool cgo, race, trimpath;
	bool unoptimized; /* -gcflags contains -N */
	bool pgo;	  /* built with -pgo=FILE */
	bool plugin;	  /* -buildmode=plugin */
};

/*
 * Reads it. Negative errno with a reason: -ENOENT if this is not a Go program or its release was
 * not found, -ENOTSUP if another Go compiler built it. Without it only the release is set.
 */
int buildinfo__read(const struct elf_image *elf, struct go_buildinfo *ret, struct error *error);

/*
 * The version of a module that the program contains. -ENOTSUP and the reason if it is not known, or is
 * not a release: the program has no list of its modules, or the module was replaced.
 */
int buildinfo__module(const struct elf_image *elf, const char *module, struct go_version *ret,
		      struct error *error);
#endif

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
 * The version of a module that the program contains, such as "v1.85.0"; what does not fit is cut. The
 * reason and -ENOENT if the build information does not list the module, or -ENOTSUP if it was replaced.
 */
int buildinfo__module(const struct elf_image *elf, const char *module, char *version, size_t size,
		      struct error *error);
/* The same, parsed; also -ENOTSUP if it is not a release. */
int buildinfo__module_release(const struct elf_image *elf, const char *module,
			      struct go_version *ret, struct error *error);
#endif

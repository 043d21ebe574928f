/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's build info: which release built the program, with which settings.
 * Format: Go's debug/buildinfo (both the pointer form and the inline form of >= 1.18).
 */
#ifndef TARGET_BUILDINFO_H
#define TARGET_BUILDINFO_H

#include <stdbool.h>

#include "lib/error.h"
#include "target/elf.h"

struct go_version {
	unsigned int major, minor, patch; /* 1.26.8 */
	/* "go1.26.8", as it stands in the program; "devel go1.27-... X:..." has some 100 characters */
	char text[160];
};

struct go_buildinfo {
	struct go_version version;
	char path[256]; /* main package's path */
	bool cgo, race, trimpath;
	bool unoptimized; /* -gcflags has -N */
	bool pgo;	  /* built with -pgo=FILE */
	bool plugin;	  /* -buildmode=plugin */
};

/*
 * -ENOENT with a reason: not a Go program, or its release was not found; -ENOTSUP: built with
 * another Go compiler. Of a program without build information the release alone is known.
 */
int buildinfo__read(const struct elf_image *elf, struct go_buildinfo *ret, struct error *err);
/* Parses "go1.26.8", "go1.27rc1", "devel go1.27-abc": false if there is no version in it. */
bool go_version__parse(const char *text, struct go_version *ret);
/* v >= 1.minor */
static inline bool go_version__since(const struct go_version *v, unsigned int minor)
{
	return v->major > 1 || (v->major == 1 && v->minor >= minor);
}

#endif

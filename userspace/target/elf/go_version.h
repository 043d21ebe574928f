/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Go release, or that of a module: parsed from the text that the toolchain stores in programs,
 * compared by number.
 *
 * Upstream: target/infer/buildinfo.c. Downstream: all code that depends on the release.
 */
#ifndef TARGET_GO_VERSION_H
#define TARGET_GO_VERSION_H

#include <stdbool.h>

struct go_version {
	unsigned int major, minor, patch; /* 1.26.8: 1, 26, 8 */
	/* "go1.26.8", as in the program; "devel go1.27-... X:..." has some 100 characters */
	char text[160];
};

/* Parses "go1.26.8", "go1.27rc1", "devel go1.27-abc"; false, if there is no version in it. */
bool go_version__parse(const char *text, struct go_version *ret);
/* Parses the version "v1.85.0" of a module, which must be a release; false for any other text. */
bool go_version__parse_module(const char *text, struct go_version *ret);
/* v >= 1.minor */
static inline bool go_version__since(const struct go_version *v, unsigned int minor)
{
	return v->major > 1 || (v->major == 1 && v->minor >= minor);
}

#endif

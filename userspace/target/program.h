/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything known of a program's file: the steps of target analysis in their order.
 */
#ifndef TARGET_PROGRAM_H
#define TARGET_PROGRAM_H

#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/layout.h"
#include "target/pclntab.h"
#include "target/site.h"

struct program {
	struct elf_image *elf;
	struct go_buildinfo info;
	struct pclntab *pclntab;
	struct layout layout;
	struct site_list sites;
};

/* Analyses the file behind `fd` (not taken over). A negative errno and the reason on failure. */
int program__open(struct program *ret, int fd, const char *name, struct error *err);
void program__deinit(struct program *program);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All of userspace/target for one program: its file, build info, symbols, offsets, sites.
 *
 * What record, probes and doctor begin with.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/elf.h"
#include "target/layout.h"
#include "target/pclntab.h"
#include "target/process.h"
#include "target/site.h"

/* The option of the verbs that analyse; what it does is analysis__no_cache(). */
#define OPT_NO_CACHE 0x1000
#define NO_CACHE_OPTION                                                                            \
	{ "no-cache", OPT_NO_CACHE, NULL, 0, "analyse the program anew, and keep nothing", 0 }

struct analysis {
	char *path; /* of a file that is no process's */
	struct elf_image *elf;
	struct pclntab *pclntab;
	struct go_buildinfo info;
	struct layout layout;
	struct site_list sites;
	struct process process;
	bool has_process;
	bool cached;	    /* layout and sites are those of an earlier analysis */
	uint64_t checks_ns; /* what the live checks took */
};

/* From now on: target/cache.h is not asked, nor told. */
void analysis__no_cache(void);

/*
 * Keeps what was found for the next time, once the live checks have passed; analysis__of_process()
 * does it by itself.
 */
void analysis__keep(const struct analysis *a);

/* Negative errno and the reason; what was found up to there stays (doctor shows it). */
int analysis__of_file(struct analysis *a, const char *path, struct error *err);
/* The process's program, its bias, and the live checks. */
int analysis__of_process(struct analysis *a, pid_t pid, struct error *err);
/*
 * A process that has just begun its program, or is held there: without the live checks, which are
 * for the recorder to make when its runtime is up.
 */
int analysis__of_beginning(struct analysis *a, pid_t pid, struct error *err);
/* After a failure: the file could be read, and is no Go program. */
bool analysis__is_not_go(const struct analysis *a);
void analysis__deinit(struct analysis *a);

#endif

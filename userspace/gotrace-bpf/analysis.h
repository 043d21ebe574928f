/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The analysis of one program by all of userspace/target: its file, build info, symbols, offsets,
 * sites.
 *
 * record, probes and doctor start with it. Upstream: userspace/target/. Downstream: recording.c,
 * probes.c, doctor_target.c.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/infer/buildinfo.h"
#include "target/layout/layout.h"
#include "target/modules/libraries.h"
#include "target/modules/modules.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/symbols/pclntab.h"

/* The option --no-cache of these verbs, which calls analysis__no_cache(). */
#define OPT_NO_CACHE 0x1000
#define NO_CACHE_OPTION                                                                            \
	{ "no-cache", OPT_NO_CACHE, NULL, 0, "analyse again, and do not store the result", 0 }

/* The option --library of these verbs, which calls analysis__library(). */
#define OPT_LIBRARY 0x1002
#define LIBRARY_OPTION                                                                             \
	{ "library",                                                                               \
	  OPT_LIBRARY,                                                                             \
	  "NAME|PATH",                                                                             \
	  0,                                                                                       \
	  "record the Go code of this shared library in the process, instead of that of the "      \
	  "program or of the first library",                                                       \
	  0 }

struct json;

struct analysis {
	char *path; /* of analysis__of_file() */
	struct elf_image *elf;
	struct pclntab *pclntab;
	struct go_buildinfo info;
	struct layout layout;
	struct site_list sites;
	struct go_modules modules; /* the plugins that the process has loaded */
	struct error modules_why;  /* why they are unknown */
	struct process process;
	struct go_libraries libraries; /* other Go runtimes of the process */
	bool has_process;
	bool cached;	    /* layout and sites are from the cache */
	uint64_t checks_ns; /* duration of the live checks */
};

/* Disables the cache of analyses (target/process/cache.h). */
void analysis__no_cache(void);
/* Analyse the Go library `which` of processes: its path, or the name of its file. */
void analysis__library(const char *which);

/*
 * Stores the result in the cache. To be called once the live checks have passed;
 * analysis__of_process() does it itself.
 */
void analysis__keep(const struct analysis *a);

/*
 * All return a negative errno and the reason on failure; what was found before it stays, for
 * doctor.
 */
int analysis__of_file(struct analysis *a, const char *path, struct error *error);
/* The program of a process, its bias, and the live checks. */
int analysis__of_process(struct analysis *a, pid_t pid, struct error *error);
/*
 * The same for a process that has just executed its program, or is held there: without the live
 * checks, which the recorder makes once the runtime is up.
 */
int analysis__of_new_program(struct analysis *a, pid_t pid, struct error *error);
/* After a failure: whether the file could be read, but is not a Go program. */
bool analysis__is_not_go(const struct analysis *a);
/*
 * Adds to the reason why a function was not found that those in plugins are not: which the process has loaded,
 * or that it can load some.
 */
void analysis__name_plugins(const struct analysis *a, struct error *error);
/* The member "libraries": other files with a Go runtime, as far as their paths are kept. */
void analysis__libraries_json(const struct analysis *a, struct json *j);
void analysis__deinit(struct analysis *a);

#endif

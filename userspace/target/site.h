/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where to probe: for each transition the cheapest correct instruction of this very program.
 *
 * First in an event's way. Reads functions and inlining from target/pclntab.c and disassembles
 * each site; used by capture/session.c (attach) and by the `probes` command.
 */
#ifndef TARGET_SITE_H
#define TARGET_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/session.h"
#include "lib/error.h"
#include "target/layout.h"
#include "target/pclntab.h"

enum site_cost {
	SITE_EMULATED, /* the kernel emulates the instruction: about 0.4 us a hit */
	SITE_STEPPED,  /* single-stepped: about ten times that */
};

struct site {
	enum gt_probe probe;
	uint64_t cookie; /* as session.h says by probe */
	uint64_t addr;	 /* link-time address of the instruction */
	uint64_t offset; /* its offset in the file */
	char func[96];
	uint32_t func_offset; /* from the function's start */
	char text[64];	      /* the instruction, for people */
	enum site_cost cost;
	const char *why; /* one phrase: what the hit means */
};

/* What record --events chooses from: a probe belongs to one of them. */
enum site_set {
	SITE_SCHED, /* always on */
	SITE_SYSCALL,
	SITE_GC,
	SITE_HEAP,
	SITE_USER,
	SITE_KERNEL, /* the kernel's side: no instruction of the program's has to do with it */
	SITE_SWEEP,
	SITE_CPU,
	SITE_FAULT, /* page faults, likewise */
	SITE_SETS
};

#define SITE_SET(set)	  (1u << SITE_##set)
#define SITE_SETS_ALL	  ((1u << SITE_SETS) - 1)
#define SITE_SETS_DEFAULT (SITE_SETS_ALL & ~(SITE_SET(SWEEP) | SITE_SET(CPU) | SITE_SET(FAULT)))

/* A transition that no instruction of this program shows. */
struct site_missing {
	enum gt_probe probe;
	bool needed;	 /* without it the trace would be wrong */
	const char *why; /* what would have been seen */
	char reason[256];
};

struct site_list {
	struct site *site;
	size_t n;
	bool has[GT_PROBE_COUNT];
	struct site_missing *missing;
	size_t nmissing;
	char *texts; /* of a list that comes from the cache: what `why` points to */
};

/*
 * Fails with the reason when a required transition has no site in this program; what was found, and
 * all that is missing, is in *ret then as well.
 */
int site_list__find(struct site_list *ret, const struct elf_image *elf, const struct pclntab *pt,
		    const struct layout *layout, struct error *err);
void site_list__deinit(struct site_list *sites);
const char *site__arguments(enum gt_probe probe, uint64_t cookie); /* "AX=g" */
const char *site__probe_name(enum gt_probe probe);		   /* "execute" */
enum site_set site__set(enum gt_probe probe);			   /* in site_set.c, as the next */
const char *site_set__name(enum site_set set);			   /* "sched" */

#endif

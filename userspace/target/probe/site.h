/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where to probe: for each transition the cheapest correct instruction of the program.
 *
 * Upstream: target/symbols/pclntab.c (functions, inlining), target/arch/. Downstream:
 * capture/probes.c (attaches) and the `probes` command.
 */
#ifndef TARGET_SITE_H
#define TARGET_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/config.h"
#include "lib/error.h"
#include "target/layout/layout.h"
#include "target/symbols/pclntab.h"

enum site_cost {
	SITE_EMULATED, /* the kernel emulates the instruction: about 0.4 us per hit */
	SITE_STEPPED,  /* single-stepped: about twice that, in some virtual machines 20 times */
};

struct site {
	enum gt_probe probe;
	uint64_t cookie; /* defined per probe in gotrace/kinds.h */
	uint64_t addr;	 /* link-time address of the instruction */
	uint64_t offset; /* its offset in the file */
	char func[96];
	uint32_t func_offset; /* from the function's start */
	char text[64];	      /* the instruction, for display */
	enum site_cost cost;
	const char *why; /* one phrase: meaning of a hit */
};

/* Sets of events for `record --events`; each probe belongs to one. */
enum site_set {
	SITE_SCHED, /* always on */
	SITE_SYSCALL,
	SITE_GC,
	SITE_HEAP,
	SITE_USER,
	SITE_KERNEL, /* kernel events: not instructions of the program */
	SITE_SWEEP,
	SITE_CPU,
	SITE_FAULT, /* page faults, likewise */
	SITE_SETS
};

#define SITE_SET(set)	  (1u << SITE_##set)
#define SITE_SETS_ALL	  ((1u << SITE_SETS) - 1)
#define SITE_SETS_DEFAULT (SITE_SETS_ALL & ~(SITE_SET(SWEEP) | SITE_SET(CPU) | SITE_SET(FAULT)))

/* A transition without a site in this program. */
struct site_missing {
	enum gt_probe probe;
	bool needed;	 /* without it the trace would be wrong */
	const char *why; /* what it would have shown */
	char reason[256];
};

#define SITES_MAX 128 /* of a program; profile-guided builds have about 60 */

struct site_list {
	struct site *site;
	size_t n;
	bool has[GT_PROBE_COUNT];
	struct site_missing *missing;
	size_t nmissing;
	char *texts; /* of a list from the cache: the strings of `why` */
};

/*
 * Finds the sites of a program. 0, -ENOTSUP with a reason if a required transition has no site, or
 * another negative errno. *ret is written on failure, too, with all that was found or is missing;
 * the caller releases it with site_list__deinit().
 */
int site_list__find(struct site_list *ret, const struct elf_image *elf, const struct pclntab *pt,
		    const struct layout *layout, struct error *error);
/*
 * As site_list__find(), for a plugin, which has copies of some of the runtime's functions: a transition
 * for which it has no function is not missing. All of its system calls have probes. `controller`: the
 * address of the program's runtime.gcController less the plugin's load bias; 0: unknown.
 */
int site_list__find_in_plugin(struct site_list *ret, const struct elf_image *elf,
			      const struct pclntab *pt, const struct layout *layout,
			      uint64_t controller, struct error *error);
void site_list__deinit(struct site_list *sites);
const char *site__arguments(enum gt_probe probe, uint64_t cookie); /* registers that are read */
const char *site__probe_name(enum gt_probe probe);		   /* "execute" */
enum site_set site__set(enum gt_probe probe);
/*
 * Whether the event is derived (gotrace/slot.h), so that no probe is attached: parks and ends from
 * later hits of their thread, system calls from kernel events, with sets syscall and kernel.
 */
bool site__is_derived(const struct site_list *sites, const struct layout *layout,
		      enum gt_probe probe);
const char *site_set__name(enum site_set set); /* "sched" */
/* Writes the names of sets (bits), "sched,gc"; cut at `size`. 128 bytes are enough for all. */
void site_set__names(unsigned int sets, char *ret, size_t size);

#endif

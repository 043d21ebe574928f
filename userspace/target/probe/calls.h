/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the program whose calls are recorded as regions or tasks: which ones a pattern
 * names, and the instructions at which a call begins and ends.
 *
 * Upstream: target/symbols/pclntab.c, code.c; `record --region`, `record --task` and
 * `probes --functions` give the patterns. Downstream: capture/probes.c attaches the sites, in
 * addition to those of site.c.
 */
#ifndef TARGET_CALLS_H
#define TARGET_CALLS_H

#include "target/probe/site.h"

#define CALLS_MAX 64 /* functions; a cookie has 6 bits for their index */

struct call_func {
	char *name;  /* of its region */
	char *shown; /* its own as stacks show it, if that differs; or NULL */
	enum gt_recorded_as as;
	struct go_func func;
	size_t first, n; /* its sites: the entry, then the exits */
};

struct calls {
	struct call_func func[CALLS_MAX];
	size_t n;
	struct site *site;
	size_t nsites, cap;
	size_t skipped; /* functions that a glob or regular expression names, but cannot be probed */
	struct error why; /* of the first one */
};

struct call_pattern {
	const char *funcs;	/* an exact name, a glob with * ? or [, or a /regular expression/ */
	const char *name;	/* of their regions; NULL: that of the function */
	enum gt_recorded_as as; /* a task is also a region */
};

/*
 * Adds the functions that `pattern` names. A function that an earlier pattern named is not added
 * again; if it was a region and `pattern` is for tasks, it becomes a task with the name that `pattern`
 * gives. On failure a negative errno with the reason: no function, more than CALLS_MAX, or functions
 * that cannot be probed: the one of an exact name, or all of a pattern. The caller releases *calls
 * with calls__deinit() in any case.
 */
int calls__add(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
	       const struct call_pattern *pattern, struct error *error);

/*
 * Bit i of *ret: the name of calls->func[i] matches `funcs`, as struct call_pattern has it. 0, or a
 * negative errno and the reason.
 */
int calls__matching(const struct calls *calls, const char *funcs, uint64_t *ret,
		    struct error *error);

/*
 * Adds the sites at which a panic is recovered, which belong to none of the functions: the calls that
 * the panic has unwound end there. Call it after the last calls__add(). A negative errno with the
 * reason; a program without such a site is no failure: then those calls end with the next call that
 * is recorded.
 */
int calls__add_recovery(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
			struct error *error);
void calls__deinit(struct calls *calls);
void calls__report_skipped(const struct calls *calls); /* one line on stderr, if there are any */

/*
 * One line on stderr if samples of the program's memory profile are to be recorded, which is the call of
 * runtime.mProf_Malloc, but it has no such profile.
 */
void calls__report_no_samples(const struct calls *calls, const struct pclntab *pt);

/*
 * Makes a list of all sites of `sites` and `calls`, which must outlive it. The caller frees
 * ret->site and nothing else. 0 or -ENOMEM.
 */
int calls__join(const struct calls *calls, const struct site_list *sites, struct site_list *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that choose where to probe: site_table.c (the table), site.c (functions that
 * were not inlined), site_inline.c (inlined functions) and site_heap.c (events of the heap).
 */
#ifndef TARGET_SITE_IMPL_H
#define TARGET_SITE_IMPL_H

#include "target/probe/code.h"
#include "target/probe/site.h"

#define REASON_SIZE 256
#define CASGSTATUS  "runtime.casgstatus"

enum how {
	ENTRY, /* the prologue's push, with the arguments in their registers */
	CALL,  /* each call of `callee` */
	CAS,   /* each change of a goroutine's status from `old` to `new`: call or inlined */
	CALL_MARK_DONE, /* the call of casgstatus with old = waiting, new = running */
	AFTER_CALL,	/* after the call of `callee`, for its result */
	TRACE_TEST,	/* the test whether the tracer is on, before its call of `callee` */
	RUNNEXT,	/* before the compare-and-swap of inlined runqput, which stores the g */
	TRACE_GUARD,	/* <= 1.21: the branch around a call of `callee`, which may be inlined */
	ADDED,		/* after the atomic addition to a counter: a register has the sum */
	GOAL,		/* after the call of `callee`, for its second result */
};

/*
 * How to detect the transition where the compiler inlined `func`. There its arguments are in
 * unknown registers, and no instruction is certain to be its first one.
 */
enum how_inlined {
	UNSEEN,	       /* impossible: reject the program */
	BY_CAS,	       /* as CAS */
	BY_CALLER,     /* at the entry of the function it was inlined into: see `caller` */
	BY_P_CLEARED,  /* at the store that clears m.p; g.m.p is still the P */
	BY_P_TAKEN,    /* unnecessary: the P was taken before with a compare-and-swap */
	BY_TRACE_TEST, /* as TRACE_TEST, or TRACE_GUARD if the row is one */
	BY_ADDED,      /* as ADDED */
	BY_STW_REASON, /* as BY_TRACE_TEST; the tracer function's argument is a constant */
};

enum need {
	NEEDED,		    /* without it the trace would be wrong: reject the program */
	IF_LINKED,	    /* the same, but programs without coroutines lack the function */
	OPTIONAL,	    /* independent events: reported as missing */
	OPTIONAL_IF_LINKED, /* the same, in a package that few programs have */
	OR_ELSE,	    /* alternative to the previous row, whose need applies */
};

struct row {
	enum gt_probe probe;
	uint64_t cookie;
	enum how how;
	const char *func, *callee;
	unsigned int since, until; /* minor releases, both inclusive; 0: no limit */
	enum need need;
	const char *why;
	const char *inliner_ok; /* may be inlined there: another row covers that */
	enum how_inlined inlined;
	uint32_t old, new;  /* CAS, BY_CAS: the statuses */
	const char *caller; /* BY_CALLER: prefix of the names of functions it may be in */
	uint64_t caller_cookie;
};

/* site_table.c: alternatives follow the row that they replace. */
#define SITE_ROWS_MAX 128
extern const struct row site_rows[];
extern const size_t site_nrows;
/* Whether the table contains the function, for any release. */
bool row__is_func(const char *name);

/* A function of the table, or a callee of one, that was inlined. */
struct inlined {
	const char *what;
	struct go_func into;
};

struct finder {
	const struct elf_image *elf;
	const struct pclntab *pt;
	const struct layout *layout;
	struct inlined *inlined;
	size_t ninlined, inlined_cap, site_cap, missing_cap;
	bool plugin;	     /* see site_list__find_in_plugin() */
	uint64_t controller; /* with `plugin`: link-time address of gcController; 0: unknown */
	bool out_of_memory;
	bool overflow; /* a site was found but not stored */
	struct site_list list;
};

/* The functions that an instruction belongs to, innermost first. */
#define CHAIN_MAX 64
struct chain {
	const char *name[CHAIN_MAX + 1];
	size_t n;
};

struct chain finder__chain(const struct finder *f, const struct code *code, size_t at);

bool finder__add(struct finder *f, const struct row *row, const struct code *code, size_t at,
		 uint64_t cookie);

/*
 * Whether the instruction belongs to the row's function, which is `code` or was inlined there.
 * False if it is in another function of the table that was inlined into that one.
 */
bool finder__owns(const struct finder *f, const struct row *row, const struct code *code,
		  size_t at);

/* Adds the sites where a goroutine's status changes as in the row. Returns how many. */
size_t finder__add_cas(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_runnext(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_trace_tests(struct finder *f, const struct row *row, const struct code *code,
			       uint64_t callee);

/* The cookie of a site for the return address of the call at `call`. */
uint64_t finder__behind(const struct code *code, size_t call, size_t site);

/* site_heap.c: the same for events of the heap. */
size_t finder__add_trace_guards(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_added(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_goal(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee);

/*
 * site_syscall.c: adds what is needed to derive system calls, if all of it is there. False: nothing was
 * added, although the release permits it.
 */
bool finder__add_syscalls(struct finder *f);

/* Adds the sites in one function with an inlined copy. Returns how many; 0 with a reason. */
size_t finder__add_inlined(struct finder *f, const struct row *row, const struct go_func *into,
			   char *reason);

#endif

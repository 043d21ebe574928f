/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the two files that choose where to probe: site.c (the table, functions that stand for
 * themselves) and site_inline.c (functions that the compiler inlined). Nobody else includes it.
 */
#ifndef TARGET_SITE_IMPL_H
#define TARGET_SITE_IMPL_H

#include "target/site.h"
#include "target/site_insn.h"

#define REASON_SIZE 256

enum how {
	ENTRY, /* the prologue's push, when the arguments are in their registers */
	CALL,  /* each call of `callee` */
	CAS,   /* each change of a goroutine's status from `old` to `new`: call or inlined */
	CALL_MARK_DONE, /* the call of casgstatus with old = waiting, new = running */
	AFTER_CALL,	/* behind the call of `callee`: AX is its result */
	TRACE_TEST,	/* the test whether the tracer is on, before its call of `callee` */
	RUNNEXT,	/* before the compare-and-swap of inlined runqput, which stores the g */
	TRACE_GUARD,	/* <= 1.21: the branch around a call of `callee`, which may be inlined */
	ADDED,		/* behind the atomic addition to a counter: a register has the sum */
	GOAL,		/* behind the call of `callee`: BX is its second result */
};

/*
 * How the transition shows where the compiler inlined `func`. Its arguments are in no known
 * registers there, and no instruction is certainly the first of it.
 */
enum how_inlined {
	UNSEEN,	       /* it does not: refuse */
	BY_CAS,	       /* as CAS */
	BY_CALLER,     /* by the entry of what it was inlined into: see BY_CALLER rows */
	BY_P_CLEARED,  /* it clears m.p: right before, R14.m.p is still the P */
	BY_P_TAKEN,    /* no need: before it someone took the P by a compare-and-swap */
	BY_TRACE_TEST, /* as TRACE_TEST, or TRACE_GUARD if the row is one */
	BY_ADDED,      /* as ADDED */
	BY_STW_REASON, /* the same, and the tracer function's argument is a constant */
};

enum need {
	NEEDED,		    /* without it the trace would be wrong: refuse */
	IF_LINKED,	    /* the same, but programs without coroutines do not have the function */
	OPTIONAL,	    /* events that stand alone: named as missing */
	OPTIONAL_IF_LINKED, /* the same, of a package that few programs have */
	OR_ELSE,	    /* tried when the row before found nothing; need is that row's */
};

struct row {
	enum gt_probe probe;
	uint64_t cookie;
	enum how how;
	const char *func, *callee;
	unsigned int since, until; /* minor releases, both inclusive; 0: no limit */
	enum need need;
	const char *why;
	const char *inliner_ok; /* may be inlined there: another row sees that */
	enum how_inlined inlined;
	uint32_t old, new;  /* CAS, BY_CAS: the statuses */
	const char *caller; /* BY_CALLER: begins so the name of what it may be in */
	uint64_t caller_cookie;
};

/* A function of the table, or a callee of one, was inlined. */
struct inlined {
	const char *what;
	struct go_func into;
};

struct finder {
	const struct elf_image *elf;
	const struct pclntab *pt;
	const struct layout *layout;
	struct inlined *inlined;
	size_t ninlined;
	bool out_of_memory;
	bool overflow; /* a site was found, and could not be kept */
	struct site_list list;
};

/* What an instruction belongs to, the innermost first. */
#define CHAIN_MAX 64
struct chain {
	const char *name[CHAIN_MAX + 1];
	size_t n;
};

struct chain finder__chain(const struct finder *f, const struct code *code, size_t at);

/* The functions of the table, for all releases. */
bool row__is_func(const char *name);

bool finder__add(struct finder *f, const struct row *row, const struct code *code, size_t at,
		 uint64_t cookie);

/*
 * Does the instruction belong to the row's function, which is `code` or was inlined there? Not when
 * it stands in another function of the table that was inlined into that one.
 */
bool finder__owns(const struct finder *f, const struct row *row, const struct code *code,
		  size_t at);

/* The sites where a goroutine's status is changed as the row says. Returns how many. */
size_t finder__add_cas(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_runnext(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_trace_tests(struct finder *f, const struct row *row, const struct code *code,
			       uint64_t callee);

/* A site's cookie that is the place behind the call at `call`. */
uint64_t finder__behind(const struct code *code, size_t call, size_t site);

/* site_heap.c: the same for what the heap's probes stand at. */
size_t finder__add_trace_guards(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_added(struct finder *f, const struct row *row, const struct code *code);
size_t finder__add_goal(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee);

/* The sites for one place of those into which the row's function was inlined. 0 with a reason. */
size_t finder__add_inlined(struct finder *f, const struct row *row, const struct go_func *into,
			   char *reason);

#endif

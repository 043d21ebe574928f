/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of recorded functions that the compiler has inlined into others: their calls cannot be
 * recorded, because they have no entry of their own.
 *
 * Upstream: target/symbols/pclntab_inline.c, calls.h. Downstream: `record --region`, `record --task`
 * and `probes --functions`, which name them.
 */
#ifndef TARGET_CALL_COPIES_H
#define TARGET_CALL_COPIES_H

#include "target/probe/calls.h"

#define CALL_COPIES_INTO 3 /* functions that are named */

struct call_copies {
	size_t n; /* copies */
	const char
		*into[CALL_COPIES_INTO]; /* different functions that contain them; NULL: no more */
	bool more;			 /* in further functions */
};

/*
 * Finds the copies of each function of `calls`, by index. 0, -ENOENT if the program does not have
 * these data, -ENOMEM, or -EBADMSG for tables that need too much work: *ret may be incomplete.
 */
int call_copies__find(const struct calls *calls, const struct pclntab *pt,
		      struct call_copies ret[CALLS_MAX]);
/* Lists the functions that contain copies, for display: "main.a, main.b and others". */
void call_copies__format(const struct call_copies *copies, char *ret, size_t size);
/* One line on stderr per function that has copies, for the first few. */
void call_copies__report(const struct calls *calls, const struct pclntab *pt);

#endif

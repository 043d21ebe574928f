/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the sources of struct offsets say, brought to agreement: for target/layout.c alone.
 */
#ifndef TARGET_LAYOUT_MERGE_H
#define TARGET_LAYOUT_MERGE_H

#include "lib/error.h"
#include "target/buildinfo.h"
#include "target/offsets.h"

struct layout_merged {
	/* Known, or OFFSET_ABSENT where the release has no such member. */
	uint32_t at[OFF_COUNT];
	char source[192];  /* "DWARF, machine code (20 of 29) and the table agree" */
	char warning[384]; /* empty: an exact release of the table */
};

/*
 * By the program's DWARF and its machine code (NULL: there is none, or it says nothing) and by the
 * table of releases, which it asks itself.
 *
 * Where two know a member, they must agree: -EPROTO names it, them and their values. A release that
 * is in the table needs nothing else. One that is not (newer; a patch release between two that
 * differ; one with changes of its own) needs DWARF, or machine code that knows at least half of the
 * members; what it does not know is then taken from the nearest release, if that one agrees with it
 * in all that it does know. -ENODATA and the remedy: too little is known.
 */
int layout_merge(const struct go_version *version, const struct offsets *dwarf,
		 const struct offsets *code, struct layout_merged *ret, struct error *err);

#endif
